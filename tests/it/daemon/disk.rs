//! A disk that is really full, or may not be written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use svc::runtime::notify::Notify;

use super::ask::Ask;
use super::database;
use super::letters::{self, replay};
use super::process::{Daemon, delivery};
use super::site::{Site, svcd};
use super::{INSTALLATION, commit, say, wait_for};

/// Returns a shell that runs `script` in a mount namespace of its own and becomes `svcd` there;
/// nothing, with a word about it, where the machine allows no mounts.
fn mounted(site: &Site, script: &str) -> Option<Command> {
    let probe = Command::new("unshare")
        .args(["-m", "mount", "-t", "tmpfs", "none", "/mnt"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !probe.is_ok_and(|status| status.success()) {
        say("skipped: this machine does not let us mount anything");
        return None;
    }
    let mut command = site.command("/usr/bin/unshare");
    command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").args([
        "-m",
        "sh",
        "-ec",
        &format!("{script}; exec {}", svcd()),
    ]);
    Some(command)
}

/// Returns a command that runs `svcd` where the site's folder cannot be written.
pub(super) fn read_only(site: &Site) -> Option<Command> {
    let folder = site.path("");
    let folder = folder.display();
    mounted(site, &format!("mount --bind {folder} {folder}; mount -o remount,bind,ro {folder}"))
}

/// A daemon whose database stands on a small disk.
struct Small {
    daemon: Daemon,
    /// The disk, as this process reaches it.
    disk: PathBuf,
}

impl Small {
    /// Starts it on what `mount` mounts at the folder that is appended.
    fn start(site: &mut Site, mount: &str) -> Option<Self> {
        let disk = site.path("disk");
        fs::create_dir(&disk).unwrap();
        site.set("SVC_DATABASE", disk.join("svc.db").to_str().unwrap());
        let mount = format!("{mount} {}", disk.display());
        let daemon = Daemon::start(&mut mounted(site, &mount)?, site.socket()).unwrap();
        let root = format!("/proc/{}/root", daemon.pid().as_raw_nonzero());
        let disk = Path::new(&root).join(disk.strip_prefix("/").unwrap());
        Some(Self { daemon, disk })
    }

    /// Takes every byte that is left.
    fn fill(&self) {
        for (number, size) in [(0, 65_536), (1, 4_096), (2, 1)] {
            let mut path = 0;
            while fs::write(self.disk.join(format!("fill-{number}-{path}")), vec![1; size]).is_ok()
            {
                path += 1;
                assert!(path < 10_000);
                if size == 1 && path > 20 {
                    break;
                }
            }
        }
    }

    fn empty(&self) {
        for entry in fs::read_dir(&self.disk).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap().to_str().unwrap().starts_with("fill") {
                fs::remove_file(path).unwrap();
            }
        }
    }
}

#[test]
fn a_full_disk_is_an_answer_and_passes() {
    let mut site = Site::new();
    site.set("SVC_RETRY_ATTEMPTS", "50");
    let Some(mut small) = Small::start(&mut site, "mount -t tmpfs -o size=4m tmpfs") else {
        return;
    };
    let deliver = |daemon: &Daemon, number: usize| {
        let push = site.webhooks.push_tag(&format!("v{number}"), &commit(number));
        daemon.deliver(&format!("push-{number}"), &push)
    };
    assert_eq!(deliver(&small.daemon, 0).status, 202);
    wait_for("the first dispatch", || site.forge.workflow_runs().pop());
    let letter = letters::refused(&site, &small.daemon, 900);
    let replay = replay(INSTALLATION, "outbox", &letter, "the-key");
    small.fill();
    let (mut accepted, mut number) = (vec![0], 0);
    // As long as the log fits into pages that the database has already, it begins anew and takes some more.
    let refused = wait_for("a disk on which nothing fits", || {
        loop {
            number += 1;
            let answer = deliver(&small.daemon, number);
            if answer.status != 202 {
                let nothing_fits = small.daemon.log().contains("store.log_grows");
                return nothing_fits.then_some((number, answer));
            }
            accepted.push(number);
        }
    });
    refused.1.assert_problem(503, "unavailable", "a webhook on a full disk");
    assert_eq!(refused.1.header("retry-after"), "5");
    let later = small.daemon.control.ask(&replay);
    later.assert_problem(503, "unavailable", "a replay on a full disk");
    assert_eq!(later.header("retry-after"), "5");
    assert_eq!(letters::letters(&small.daemon, INSTALLATION).len(), 1, "reading goes on");
    for _ in 0..8 {
        // Idle workers look for work all the time; that they find none says nothing about the disk.
        let ready = small.daemon.control.ask(&Ask::get("/health/ready"));
        assert_eq!(ready.status, 503, "{}\n{}", ready.text(), small.daemon.log());
        assert_eq!(ready.member("store"), "disk_full");
        assert!(Notify::new().pause(Duration::from_millis(25)));
    }
    assert_eq!(small.daemon.control.ask(&Ask::get("/health/live")).status, 200);
    assert!(small.daemon.is_running());

    small.empty();
    wait_for("readiness", || {
        let ready = small.daemon.control.ask(&Ask::get("/health/ready"));
        (ready.status == 200).then_some(())
    });
    assert_eq!(deliver(&small.daemon, refused.0).status, 202, "the same delivery again");
    accepted.push(refused.0);
    let replayed = small.daemon.control.ask(&replay);
    assert_eq!((replayed.status, replayed.member("outcome")), (200, "replayed".to_owned()));
    accepted.push(900);
    // What was claimed when the disk became full was given back: nothing waits for its lease.
    let ran = |number: usize| {
        let tag = format!("v{number}");
        site.forge.workflow_runs().iter().filter(|run| run.git_ref == tag).count()
    };
    for number in accepted.clone() {
        wait_for("every dispatch", || (ran(number) > 0).then_some(()));
    }
    let copy = site.path("copy.db");
    drop(fs::remove_file(&copy));
    // The namespace, and the disk with it, goes away with the process: look at a copy of the pages.
    rustix::process::kill_process(small.daemon.pid(), rustix::process::Signal::STOP).unwrap();
    fs::copy(small.disk.join("svc.db"), &copy).unwrap();
    fs::copy(small.disk.join("svc.db-wal"), site.path("copy.db-wal")).unwrap();
    let database = database::open(&copy);
    database::assert_sound(&database);
    let rows = database::number(&database, "SELECT count(*) FROM webhook_inbox", &[]);
    assert_eq!(rows, i64::try_from(accepted.len()).unwrap());
    assert!(accepted.iter().all(|number| ran(*number) <= 1), "{:?}", site.forge.workflow_runs());
}

#[test]
fn a_full_copy_on_write_file_system_is_an_answer_or_an_end_with_74() {
    let mut site = Site::new();
    let image = site.path("btrfs.img");
    fs::File::create(&image).unwrap().set_len(128 << 20).unwrap();
    let made = Command::new("/usr/sbin/mkfs.btrfs").arg("-q").arg(&image).status();
    if !made.is_ok_and(|status| status.success()) {
        return say("skipped: this machine has no mkfs.btrfs");
    }
    let mount = format!("mount -o loop {}", image.display());
    let Some(mut small) = Small::start(&mut site, &mount) else { return };
    let log = small.daemon.log();
    assert!(log.contains("store.copy_on_write") && log.contains("btrfs"), "{log}");
    small.fill();
    for number in 1..400 {
        let push = site.webhooks.push_tag(&format!("v{number}"), &commit(number));
        match small.daemon.public.try_ask(&delivery(&format!("push-{number}"), &push)) {
            Ok(answer) if answer.status == 202 => {}
            Ok(answer) => return answer.assert_problem(503, "unavailable", "a full btrfs"),
            Err(_) => return assert_eq!(small.daemon.ended().code(), Some(74)),
        }
    }
    panic!("the disk never became full: {}", small.daemon.log());
}

#[test]
fn a_limit_on_files_ends_the_process_without_a_false_word() {
    let mut site = Site::new();
    site.set("SVC_LOG_LEVEL", "info");
    // SQLite calls this an I/O error, after which it is not known what was written.
    let mut command = site.command("/usr/bin/prlimit");
    command.args(["--fsize=1500000", svcd()]);
    let mut daemon = Daemon::start(&mut command, site.socket()).unwrap();
    let mut acknowledged = Vec::new();
    let padding = "p".repeat(100);
    for number in 0..5_000 {
        let push = site.webhooks.push_tag(&format!("v{number}-{padding}"), &commit(number));
        let Ok(answer) = daemon.public.try_ask(&delivery(&format!("push-{number}"), &push)) else {
            break;
        };
        if answer.status == 202 {
            acknowledged.push(number);
        }
    }
    assert_eq!(daemon.ended().code(), Some(74), "{}", daemon.log());
    assert!(daemon.log().contains("store.disk_failed"));
    drop(daemon);
    let daemon = site.start();
    for number in &acknowledged {
        let push = site.webhooks.push_tag(&format!("v{number}-{padding}"), &commit(*number));
        let answer = daemon.deliver(&format!("push-{number}"), &push);
        assert_eq!((answer.status, answer.member("outcome")), (200, "duplicate".to_owned()));
    }
}
