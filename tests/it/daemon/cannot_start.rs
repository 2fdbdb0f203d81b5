//! What keeps `svcd` from starting: it says why, in words an operator can act on, and changes nothing.

use std::fs;

use rustix::process::Signal;

use svc::store::NEWEST_STEP;

use super::database;
use super::site::{Ended, Site};

/// Runs it; it must refuse with these words, and leave the file as it is.
fn assert_refused(site: &Site, words: &[&str]) -> Ended {
    let before = site.bytes();
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(78), "{ended:?}");
    let last = ended.stderr.lines().last().unwrap();
    assert!(last.starts_with("svcd: cannot open the store: "), "{last}");
    for word in words {
        assert!(last.contains(word), "{word}: {last}");
    }
    assert!(site.bytes() == before, "the file was changed");
    assert!(!ended.stderr.contains("panicked"), "{ended:?}");
    ended
}

/// Returns a site with a database that was used and closed.
fn used() -> Site {
    let site = Site::new();
    let mut daemon = site.start();
    super::letters::push(&daemon, &site.webhooks, 1);
    assert_eq!(daemon.end(Signal::TERM).code(), Some(0));
    site
}

#[test]
fn a_wrong_configuration_is_told_whole_and_without_secrets() {
    let mut site = Site::new();
    for (name, value) in [
        ("SVC_POLL_MS", "soon"),
        ("SVC_PUBLIC_LISTEN", "nowhere"),
        ("SVC_LOG_FORMAT", "xml"),
        ("SVC_TYPO", "a-value-of-a-typo"),
        ("SVC_OPERATOR_ACTOR_ID", "a b"),
        ("SVC_FORGE_PRIVATE_KEY", "a-second-private-key"),
        ("SVC_RETENTION_DAYS", "1"),
    ] {
        site.set(name, value);
    }
    site.secret("SVC_OPERATOR_API_TOKEN", "a-token-too-short");
    for arguments in [&[][..], &["check-config"]] {
        let ended = site.run(arguments);
        assert_eq!(ended.code, Some(78), "{ended:?}");
        for name in [
            "SVC_POLL_MS",
            "SVC_PUBLIC_LISTEN",
            "SVC_LOG_FORMAT",
            "SVC_TYPO",
            "SVC_OPERATOR_ACTOR_ID",
            "SVC_FORGE_PRIVATE_KEY",
            "SVC_RETENTION_DAYS",
            "SVC_OPERATOR_API_TOKEN",
        ] {
            assert!(ended.stderr.contains(&format!("  {name}: ")), "{name}: {}", ended.stderr);
        }
        assert!(ended.stderr.contains("8 problem(s)"), "{}", ended.stderr);
        for secret in ["too-short", "second-private", "of-a-typo"] {
            assert!(!ended.stderr.contains(secret), "{}", ended.stderr);
        }
        assert!(!site.database().exists());
    }
}

#[test]
fn under_systemd_a_start_says_how_to_find_where_a_setting_is_set() {
    let mut site = Site::new();
    site.set("SVC_TYPO", "1");
    let find = "grep -rns SVC_TYPO /etc/svc/svcd.env /etc/systemd/system";
    assert!(!site.run(&[]).stderr.contains(find), "a shell has set it");
    site.set("JOURNAL_STREAM", "1:2");
    let ended = site.run(&[]);
    assert!(ended.stderr.contains(find), "{ended:?}");
}

#[test]
fn a_check_finds_what_a_start_would_find() {
    let mut site = Site::new();
    let certificate = site.path("root.pem");
    fs::write(&certificate, "a-marked-certificate").unwrap();
    site.secret("SVC_FORGE_PRIVATE_KEY", "a-marked-private-key");
    site.set("SVC_FORGE_ROOT_CERTIFICATE_FILE", certificate.to_str().unwrap());
    for url in [
        "https://someone:a-marked-password@forge.example/api",
        "https://forge.example/api?token=a-marked-token",
        "http://forge.example/marked",
        "marked",
    ] {
        site.set("SVC_FORGE_API_URL", url);
        for arguments in [&[][..], &["check-config"]] {
            let ended = site.run(arguments);
            assert_eq!(ended.code, Some(78), "{ended:?}");
            for name in
                ["SVC_FORGE_API_URL", "SVC_FORGE_PRIVATE_KEY", "SVC_FORGE_ROOT_CERTIFICATE_FILE"]
            {
                assert!(ended.stderr.contains(&format!("  {name}: ")), "{ended:?}");
            }
            assert!(ended.stderr.contains("3 problem(s)"), "{ended:?}");
            assert!(!ended.stderr.contains("marked"), "{ended:?}");
            assert!(!site.database().exists());
        }
    }
}

#[test]
fn a_check_ends_well_only_when_the_daemon_may_become_ready() {
    let mut site = Site::new();
    let valid = site.run(&["check-config"]);
    assert_eq!(valid.code, Some(0), "{valid:?}");
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let unprinted = site.command(super::site::svcd()).arg("check-config").stdout(full).status();
    assert_eq!(unprinted.unwrap().code(), Some(74), "the answer cannot be written");
    let place = site.database().display().to_string();
    let absent = site.path("absent/svc.db");
    site.set("SVC_DATABASE", absent.to_str().unwrap());
    let without = site.run(&["check-config"]);
    let note = format!(
        "note: SVC_DATABASE: the folder {} does not exist; svcd.service creates",
        absent.parent().unwrap().display()
    );
    assert!(without.code == Some(0) && without.stdout.contains(&note), "{without:?}");
    site.set("SVC_DATABASE", &place);
    site.set("SVC_RECONCILIATION_NEXT_CHECK_SECONDS", "soon");
    let never_ready = site.run(&["check-config"]);
    assert_eq!(never_ready.code, Some(78), "{never_ready:?}");
    for part in ["never become ready", "SVC_RECONCILIATION_NEXT_CHECK_SECONDS: \"soon\""] {
        assert!(never_ready.stdout.contains(part), "{never_ready:?}");
    }
}

#[test]
fn a_check_judges_the_file_of_a_unit_and_not_the_shell_of_the_caller() {
    let site = Site::new();
    let file = site.path("svcd.env");
    let written = "# the unit\nSVC_POLL_MS='so'on\nexport SVC_LOG_LEVEL=debug\n\nSVC_TYPO=1\n";
    fs::write(&file, written).unwrap();
    let check = || site.run(&["check-config", "--env-file", file.to_str().unwrap()]);
    let wrong = check();
    assert_eq!(wrong.code, Some(78), "{wrong:?}");
    for part in [
        file.to_str().unwrap(),
        "  SVC_POLL_MS: line 2: \"soon\"",
        "line 3: systemd ignores it",
        "  SVC_TYPO: line 5: there is no such setting",
    ] {
        assert!(wrong.stderr.contains(part), "{part}: {wrong:?}");
    }
    // The caller's settings have the operator API on.
    fs::write(&file, "SVC_POLL_MS=\"20\"\n").unwrap();
    let valid = check();
    assert_eq!(valid.code, Some(0), "{valid:?}");
    for part in [file.to_str().unwrap(), "valid", "the operator API is off"] {
        assert!(valid.stdout.contains(part), "{part}: {valid:?}");
    }
    let own = site.run(&["check-config"]);
    assert!(own.stdout.contains("the environment"), "{own:?}");
    assert!(!own.stdout.contains("the operator API is off"), "{own:?}");
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_the_next_step() {
    let mut site = Site::new();
    let missing = site.path("missing");
    let missing = missing.to_str().unwrap();
    let unit = site.run(&["check-config", "--env-file", missing]);
    assert_eq!(unit.code, Some(78), "{unit:?}");
    assert!(unit.stderr.contains(&format!("  {missing}: ")), "{unit:?}");
    assert!(unit.stderr.contains("name another"), "{unit:?}");
    for name in ["SVC_WEBHOOK_SECRET_FILE", "SVC_FORGE_ROOT_CERTIFICATE_FILE"] {
        site.set(name, missing);
    }
    let ended = site.run(&["check-config"]);
    assert_eq!(ended.code, Some(78), "{ended:?}");
    for name in ["SVC_WEBHOOK_SECRET_FILE", "SVC_FORGE_ROOT_CERTIFICATE_FILE"] {
        let line = ended.stderr.lines().find(|line| line.contains(name)).unwrap_or_default();
        assert!(line.contains(missing) && line.contains("create it"), "{name}: {ended:?}");
    }
}

#[test]
fn a_port_in_use_is_named() {
    let mut site = Site::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    site.set("SVC_PUBLIC_LISTEN", &address);
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains(&format!("cannot listen on {address}")), "{}", ended.stderr);
    assert!(!site.socket().exists());
}

#[test]
fn garbage_and_truncated_files_are_left_alone() {
    let garbage = Site::new();
    fs::write(garbage.database(), b"these are not the pages you are looking for".repeat(99))
        .unwrap();
    assert_refused(&garbage, &["is damaged", "restore a backup"]);

    let short = Site::new();
    fs::write(short.database(), b"SQLite format 3\0").unwrap();
    assert_refused(&short, &["is damaged"]);

    for part in [2, 3] {
        let truncated = used();
        let bytes = truncated.bytes();
        fs::write(truncated.database(), &bytes[..bytes.len() / part]).unwrap();
        assert_refused(&truncated, &["is damaged"]);
    }
}

#[test]
fn an_overwritten_page_is_found_when_a_log_was_left() {
    let site = used();
    let mut bytes = site.bytes();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 4096].fill(0x5a);
    fs::write(site.database(), &bytes).unwrap();
    fs::write(site.path("svc.db-wal"), b"not a log").unwrap();
    assert_refused(&site, &["is damaged"]);
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    for version in [0, 7] {
        let site = Site::new();
        let database = database::open(&site.database());
        database
            .execute_batch(&format!("CREATE TABLE theirs (a); PRAGMA user_version = {version}"))
            .unwrap();
        drop(database);
        assert_refused(&site, &["database of another program"]);
    }
}

#[test]
fn a_newer_schema_is_refused_unless_it_admits_this_binary() {
    let site = used();
    let newer = NEWEST_STEP + 1;
    let database = database::open(&site.database());
    database
        .execute_batch(&format!(
            "PRAGMA user_version = {newer}; \
             UPDATE schema_compatibility SET oldest_reader_step = {newer}, \
                oldest_writer_step = {newer}; \
             PRAGMA wal_checkpoint(TRUNCATE)",
        ))
        .unwrap();
    drop(database);
    let has = format!("has schema {newer}");
    let (knows, restore) = (
        format!("supports schemas up to {NEWEST_STEP}"),
        format!("restore a backup of schema {NEWEST_STEP}"),
    );
    assert_refused(&site, &[&has, &knows, &restore]);

    let database = database::open(&site.database());
    database.execute_batch("UPDATE schema_compatibility SET oldest_reader_step = 20").unwrap();
    drop(database);
    assert_refused(&site, &[&has]);

    let database = database::open(&site.database());
    database::admit_writers_from(&database, NEWEST_STEP);
    drop(database);
    let mut daemon = site.start();
    super::letters::push(&daemon, &site.webhooks, 2);
    assert_eq!(daemon.end(Signal::TERM).code(), Some(0));
    let database = database::open(&site.database());
    assert_eq!(database::number(&database, "PRAGMA user_version", &[]), newer);
}

#[test]
fn something_else_than_a_file_is_refused() {
    let folder = Site::new();
    fs::create_dir(folder.database()).unwrap();
    let ended = folder.run(&[]);
    assert_eq!(ended.code, Some(78), "{ended:?}");
    assert!(ended.stderr.contains("is not a regular file"), "{}", ended.stderr);
    assert!(folder.database().is_dir());

    let link = used();
    fs::rename(link.database(), link.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(link.path("elsewhere"), link.database()).unwrap();
    assert_refused(&link, &["is not a regular file"]);

    let mut nowhere = Site::new();
    let path = nowhere.path("no/such/folder/svc.db");
    nowhere.set("SVC_DATABASE", path.to_str().unwrap());
    let ended = nowhere.run(&[]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("No such file or directory"), "{}", ended.stderr);
}

#[test]
fn a_database_that_cannot_be_written_is_refused() {
    // Permissions do not stop the superuser, so the whole folder is made read-only by a mount.
    let site = used();
    let Some(mut command) = super::disk::read_only(&site) else { return };
    let output = command.output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(74), "{errors}");
    let last = errors.lines().last().unwrap();
    assert!(
        last.starts_with("svcd: cannot open the store: the file system is read-only"),
        "{errors}"
    );
    assert!(last.contains("Read-only file system"), "{errors}");
}
