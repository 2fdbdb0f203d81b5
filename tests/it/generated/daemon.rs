//! The daemon's manual page and its sample environment file: the command line and the table of
//! settings, and what stands in neither.

use svc::config::settings::{self, Setting};
use svc::daemon::arguments;

use super::manual::{Page, bold, escaped, synopsis};

/// Longest line of the sample, in bytes.
const WIDTH: usize = 90;

const ENVIRONMENT: &str = "Every setting is an environment variable: svcd.env(5) describes them. Under systemd, they are \
    in /etc/svc/svcd.env. svcd also reads these variables of the service manager: LISTEN_FDS, LISTEN_PID, NOTIFY_SOCKET, WATCHDOG_USEC, \
    CREDENTIALS_DIRECTORY and JOURNAL_STREAM.";

const SETTINGS: &str = "The settings of svcd(8) are environment variables. Under systemd, the unit reads them from this file; \
    without systemd, set them in the environment in which svcd is started.

Each line is NAME=value, an empty line, or a comment that begins with #. The rules are those of EnvironmentFile= in \
    systemd.exec(5).

svcd checks all settings when it starts, and reports every problem at once, as svcd check-config does. An \
    unknown variable that begins with SVC_ is an error. The prefix SERVICE_ is accepted instead of \
    SVC_. Of the variables that begin with MCP_, only MCP_V2_EXPERIMENTAL and MCP_PROTOCOL_VERSION are read.";

const SECRETS: &str = "A setting NAME that is marked secret can also be given in a file, whose path is then \
    the value of NAME_FILE, or as a systemd credential (LoadCredential=NAME:PATH). A file that users \
    outside its group can read or change is refused. One newline at the end of the file is removed. Secrets are never shown. A reload \
    reads the files again; systemd copies a credential only when it starts svcd, so a change of it needs a restart.";

const SURFACES: &[(&str, &str)] = &[
    (
        "control",
        "The Unix socket SVC_CONTROL_SOCKET, for operators on this machine: operator API, health, \
         metrics, reload. Any process that can open this socket can make svcd reload its \
         secrets, even without the token. On this socket too, the operator API \
         requires the bearer token.",
    ),
    (
        "operator",
        "The TCP address SVC_OPERATOR_LISTEN, off by default. It serves the same as the control socket, without \
         reload. The Host header must be a loopback name or one of SVC_OPERATOR_HOSTS.",
    ),
    (
        "public",
        "The TCP address SVC_PUBLIC_LISTEN, behind a TLS proxy. It serves webhooks (POST /webhooks/forge, with a \
         valid signature), results of releases (POST /api/v1/release-runs/ID/attempts/ID/result, with an identity \
         token of the workflow run or a signature), /mcp and the relay if they are on, and health. If the service \
         manager passes a listening socket with this address, svcd uses it, so that webhooks wait while svcd \
         restarts; enable the unit svcd.socket for that.",
    ),
];

const NOT_SERVICE_LEVEL: &str = "This section is about Unix signals. The service-level signals that svcctl slo shows are \
    measured values with thresholds, such as the age of the oldest job, and are not sent to any process.";

const SIGNALS: &[(&str, &str)] = &[
    (
        "SIGTERM, SIGINT",
        "Stop gracefully within SVC_STOP_SECONDS: svcd reports that it is not ready, begins no new work, and \
         finishes the work in progress. If the service manager passed a socket, svcd goes on storing webhooks until \
         its calls to the forge have ended; these webhooks are processed after the next start. Work that is not \
         finished in time is resumed after the next start. These signals also stop svcd while it is still starting.",
    ),
    (
        "SIGHUP",
        "Read the secrets again, as svcctl reload does: all are replaced, or none. The event config.reloaded \
         names the secrets that changed, and config.reload_refused names the settings that are wrong. A change of any other setting needs a restart.",
    ),
    ("SIGXFSZ", "Ignored: a write that exceeds the file size limit fails, but does not end svcd."),
];

const LOG: &[(&str, &str)] = &[
    (
        "standard error",
        "One event per line, as logfmt or JSON, each with ts, level, message and event. If standard error is \
         not read, svcd goes on working: up to 256 KiB of lines wait, and further ones are dropped. The metric \
         svc_log_lines_dropped_total counts them, and where lines are missing, an event log.lines_dropped \
         says how many. Before svcd ends, waiting lines have one second to be written.",
    ),
    (
        "journal",
        "If JOURNAL_STREAM names standard error, as under systemd, each line begins with its priority, \
         which the journal reads and removes. Such a line has no ts, because the journal records the time. journalctl -u svcd -p warning shows warnings and errors.",
    ),
];

const EXITS: &[(&str, &str)] = &[
    ("0", "svcd stopped on request."),
    (
        "1",
        "svcd could not start, for a reason that may be gone at the next start: for instance, another process is using an \
         address, the control socket or the database. With check-forge: problems were found.",
    ),
    ("2", "The command line is wrong."),
    ("69", "With check-forge: the forge does not answer, so nothing could be checked."),
    (
        "74",
        "There are four causes. First, the database could not be read or written while svcd was running: all data that svcd had \
         confirmed is on disk; start svcd again. Second, another program changed the database file or the files beside \
         it; the log says what it did. If VACUUM made the database file shorter, start svcd again; if it was truncated \
         in another way, restore it from a backup. If a file was replaced or removed, put the original back before you \
         start svcd or, if it no longer exists, restore the database from a backup. Third, svcd \
         could not start because there is no space or disk quota left, or because the file system is read-only; the \
         message says which. Fourth, the output of --help, --version, check-config or check-forge could not be written.",
    ),
    (
        "78",
        "The configuration is wrong, or the service manager passed a socket that matches no \
        setting, or the database cannot be used (it is damaged; it is empty or missing although files of an \
        earlier database are beside it; it was replaced, but the write-ahead log of the previous file is still beside it; it \
        belongs to another program; or it has a newer schema). Restarting svcd does not help.",
    ),
];

const DISKS: &[(&str, &str)] = &[
    (
        "Full disk, used-up disk quota, read-only file system",
        "Requests that need a write are answered with 503, and /health/ready names the reason: disk_full, \
         quota_exceeded or read_only. svcd recovers without a restart as soon as writes succeed again.",
    ),
    (
        "Any other failed write or sync",
        "svcd ends with 74 without answering, because it is not known what is on the disk.",
    ),
    (
        "A start after a crash",
        "If the last stop was not a clean one, svcd reads the database file once and checks its pages before it is ready. It logs \
         store.check_began, then store.check_progress every few seconds, and store.check_ended at the end. While the check goes \
         on, svcd also shows the progress in the status of the unit.",
    ),
    (
        "A start after an upgrade",
        "A new version may have to rewrite tables before it is ready. svcd logs store.migration_began and store.migration_ended.",
    ),
    (
        "A start that takes a long time",
        "While a start makes progress, svcd extends the timeout of its unit. If a start makes no progress for two minutes, for \
         instance because the disk hangs, systemd stops it and starts svcd again.",
    ),
    (
        "btrfs, ZFS, bcachefs",
        "These file systems write changed data to a new place. When they are full, they can refuse a change to a \
         file that is mapped into memory; svcd then ends with 74, without a log line, instead of answering with 503. \
         svcd warns at the start if its database is on such a file system (store.copy_on_write). Keep the database on ext4 or XFS, or keep space \
         free, with a quota on the other users of the file system or a reservation for the database. On btrfs, you can instead run chattr \
         +C on the folder of the database before the first start.",
    ),
    (
        "Other programs that read the database",
        "A program that leaves a read transaction open keeps the write-ahead log from being copied into the \
         database, so svc.db-wal grows. svcd warns when 64 MiB of the log have not been copied (store.log_grows). \
         When that reaches 1 GiB, it refuses writes with 503 (busy) until the transaction ends.",
    ),
    (
        "VACUUM",
        "Do not run VACUUM, and do not replace, remove or truncate the database file, while svcd is running: svcd ends \
         with 74, and its log says what happened to the file. No data is lost by VACUUM.",
    ),
];

const FILES: &[(&str, &str)] = &[
    ("/etc/svc/svcd.env", "Settings, one NAME=value per line."),
    (
        "/etc/svc/operator.token",
        "The operator token, where svcctl(1) looks for it by default. Mode 0640, group svc-operators.",
    ),
    (
        "/var/lib/svc/svc.db",
        "The database, with svc.db-wal and svc.db-shm beside it. Do not copy it while svcd \
         runs, except with an SQLite backup tool.",
    ),
    ("/run/svc/svcd.sock", "The control socket. A lock file and a private folder are beside it."),
];

const EXAMPLES: &str = "\
svcd check-config                   # is the configuration of the unit valid?
systemctl stop svcd; systemctl enable --now svcd.socket  # webhooks wait while svcd restarts
systemctl enable --now svcd
systemctl reload svcd               # read the secret files again
journalctl -u svcd -p warning";

const SETTINGS_EXAMPLES: &str = "\
SVC_OPERATOR_ACTOR_ID=ops:team
SVC_OPERATOR_API_TOKEN_FILE=/etc/svc/operator.token
SVC_WEBHOOK_SECRET_FILE=/etc/svc/webhook.secret
SVC_FORGE_APP_ID=12345
SVC_FORGE_PRIVATE_KEY_FILE=/etc/svc/forge.pem";

/// Returns svcd(8).
pub(super) fn page(date: &str) -> Vec<u8> {
    let mut command = arguments::command().disable_help_subcommand(true);
    command.build();
    let mut page = Page::new("svcd", 8, date);
    page.heading("NAME");
    page.paragraphs(&format!("svcd - {}", command.get_about().unwrap()));
    page.heading("SYNOPSIS");
    page.fill(&synopsis(&command));
    for subcommand in command.get_subcommands() {
        page.line_break();
        page.fill(&synopsis(subcommand));
    }
    page.heading("DESCRIPTION");
    page.paragraphs(&command.get_long_about().unwrap().to_string());
    page.heading("COMMANDS");
    for subcommand in command.get_subcommands() {
        let about = subcommand.get_long_about().or_else(|| subcommand.get_about()).unwrap();
        page.entry(&bold(subcommand.get_name()), &about.to_string());
        let options: Vec<_> = subcommand.get_opts().collect();
        page.nested(|page| page.arguments(&options));
    }
    page.heading("OPTIONS");
    page.arguments(&command.get_arguments().collect::<Vec<_>>());
    for (heading, entries) in [
        ("SURFACES", SURFACES),
        ("SIGNALS", SIGNALS),
        ("LOG", LOG),
        ("DISKS", DISKS),
        ("EXIT STATUS", EXITS),
    ] {
        page.heading(heading);
        if heading == "SIGNALS" {
            page.paragraphs(NOT_SERVICE_LEVEL);
        }
        entries.iter().for_each(|(name, meaning)| page.entry(&bold(name), meaning));
    }
    page.heading("ENVIRONMENT");
    page.paragraphs(ENVIRONMENT);
    page.heading("FILES");
    FILES.iter().for_each(|(name, meaning)| page.entry(&bold(name), meaning));
    page.heading("EXAMPLES");
    page.lines(EXAMPLES);
    page.see_also(&[("svcctl", 1), ("svcd.env", 5), ("systemd.exec", 5), ("systemctl", 1)]);
    page.into_bytes()
}

/// Returns svcd.env(5).
pub(super) fn settings_page(date: &str) -> Vec<u8> {
    let mut page = Page::new("svcd.env", 5, date);
    page.heading("NAME");
    page.paragraphs("svcd.env - settings of svcd");
    page.heading("SYNOPSIS");
    page.paragraphs("/etc/svc/svcd.env");
    page.heading("DESCRIPTION");
    page.paragraphs(SETTINGS);
    page.heading("SECRETS");
    page.paragraphs(SECRETS);
    page.heading("SETTINGS");
    for setting in settings::all() {
        let note = match (setting.secret, setting.default) {
            (true, _) => " (secret)".to_owned(),
            (false, "") => String::new(),
            (false, default) => {
                let bounds = setting.bounds.map(|(min, max)| format!(" ({min} to {max})"));
                format!("{} [default: {default}]", bounds.unwrap_or_default())
            }
        };
        page.entry(&format!("{}{}", bold(setting.name), escaped(&note)), setting.meaning);
    }
    page.heading("FILES");
    page.entry(
        &bold("/etc/svc/svcd.env"),
        "The packages install it with every setting commented out.",
    );
    page.heading("EXAMPLES");
    page.lines(SETTINGS_EXAMPLES);
    page.see_also(&[("svcd", 8), ("svcctl", 1), ("systemd.exec", 5)]);
    page.into_bytes()
}

/// Returns the commented sample environment file.
pub(super) fn sample() -> String {
    let mut text = String::new();
    let head = "Settings of svcd, read by its systemd unit. svcd.env(5) describes them in detail, and `svcd \
                check-config` reports problems. Every setting is commented out, and shows its \
                default or, if it has no default, an example.";
    paragraph(&mut text, head);
    text.push('\n');
    paragraph(&mut text, SECRETS);
    for Setting { name, default, bounds, secret, meaning } in settings::all() {
        text.push('\n');
        let bounds = bounds.map_or_else(String::new, |(min, max)| format!(" From {min} to {max}."));
        paragraph(&mut text, &format!("{meaning}{bounds}"));
        let line = match (secret, *default) {
            (true, _) => format!("#{name}_FILE={}\n", secret_file(name)),
            (false, default) => format!("#{name}={default}\n"),
        };
        text.push_str(&line);
    }
    text
}

/// Returns where packages and the manual suppose a secret.
fn secret_file(name: &str) -> &'static str {
    match name {
        "SVC_OPERATOR_API_TOKEN" => "/etc/svc/operator.token",
        "SVC_WEBHOOK_SECRET" => "/etc/svc/webhook.secret",
        "SVC_WEBHOOK_SECRET_PREVIOUS" => "/etc/svc/webhook.secret.previous",
        "SVC_FORGE_PRIVATE_KEY" => "/etc/svc/forge.pem",
        "SVC_RESULT_SECRET" => "/etc/svc/result.secret",
        "SVC_RESULT_SECRET_PREVIOUS" => "/etc/svc/result.secret.previous",
        other => panic!("say where the file of {other} stands"),
    }
}

/// Appends a comment, broken between words.
fn paragraph(text: &mut String, words: &str) {
    let mut line = String::from("#");
    for word in words.split_whitespace() {
        if line.len() + 1 + word.len() > WIDTH {
            text.push_str(&line);
            text.push('\n');
            line = String::from("#");
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}
