//! The daemon's manual page and its sample environment file: the command line and the table of
//! settings, and what stands in neither.

use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, italic, roman};
use svc::config::settings::{self, Setting};
use svc::daemon::arguments;

/// Longest line of the sample, in bytes.
const WIDTH: usize = 90;

const ENVIRONMENT: &str = "Every setting is an environment variable. Under systemd, the settings are in \
    /etc/svc/svcd.env. svcd checks all of them when it starts, and reports every problem at once. An \
    unknown variable that begins with SVC_ is an error. The prefix SERVICE_ is accepted instead of \
    SVC_. Only two of the variables that begin with MCP_ are read.";

const SECRETS: &str = "A setting marked secret can also be given as a file, whose path is the \
    value of the variable with _FILE appended to its name, or as a systemd credential of the same name \
    (LoadCredential=NAME:PATH). A file that other users can read or change is refused. One newline at \
    the end of the file is removed. Secrets are never shown.";

const SURFACES: &[(&str, &str)] = &[
    (
        "control",
        "The Unix socket SVC_CONTROL_SOCKET, for operators on this machine: operator API, health, \
         metrics. Each process that may open it can stop the daemon; a restart loses no data. The \
         operator API requires the bearer token here too.",
    ),
    (
        "operator",
        "SVC_OPERATOR_LISTEN, off by default: the same over TCP. The Host header must be a loopback \
         name or one of SVC_OPERATOR_HOSTS.",
    ),
    (
        "public",
        "SVC_PUBLIC_LISTEN, behind a TLS proxy: webhooks at POST /webhooks/forge, each with a \
         valid signature; results of releases at POST \
         /api/v1/release-runs/ID/attempts/ID/result, each with the identity token of its workflow \
         run, or a signature; and health. If the service manager passes a listening socket \
         with this address, svcd uses it, so that webhooks wait while svcd restarts; the example unit \
         svcd.socket shows how.",
    ),
];

const SIGNALS: &[(&str, &str)] = &[
    (
        "SIGTERM, SIGINT",
        "Stop gracefully within SVC_STOP_SECONDS: readiness fails, no new work is accepted, and work in \
         progress is finished. Work that is not finished in time is resumed after the next start.",
    ),
    (
        "SIGXFSZ",
        "Ignored: a write that exceeds the file size limit fails, but does not end the daemon.",
    ),
];

const EXITS: &[(&str, &str)] = &[
    ("0", "svcd was told to stop, and stopped."),
    (
        "1",
        "svcd could not start, because the store, an address or the control socket cannot be used.",
    ),
    ("2", "The command line is wrong."),
    (
        "74",
        "The disk failed while svcd was running. svcd answered only requests whose data is on disk; \
         start it again.",
    ),
    (
        "78",
        "The configuration is wrong, or the service manager passed a socket that no setting names, or the database must not be used (it is damaged, missing, of another program, or of a newer schema). Starting svcd again does not help.",
    ),
];

const FILES: &[(&str, &str)] = &[
    ("/etc/svc/svcd.env", "Settings, one NAME=value per line."),
    (
        "/etc/svc/operator.token",
        "The operator token, in the default location of svcctl(1): mode 0640, group svc-operators.",
    ),
    (
        "/var/lib/svc/svc.db",
        "The database, with svc.db-wal and svc.db-shm beside it. Do not copy it while the daemon \
         runs, except with an SQLite backup tool.",
    ),
    ("/run/svc/svcd.sock", "The control socket. A lock file and a private folder are beside it."),
];

/// Returns svcd(8).
pub(super) fn page(date: &str) -> Vec<u8> {
    let version = env!("CARGO_PKG_VERSION");
    let mut command = arguments::command().disable_help_subcommand(true);
    command.build();
    let source = format!("svcd {version}");
    let man = Man::new(command.clone()).section("8").date(date).source(source).manual("svc");
    let mut page = Vec::new();
    man.render_title(&mut page).unwrap();
    man.render_name_section(&mut page).unwrap();
    man.render_synopsis_section(&mut page).unwrap();
    man.render_description_section(&mut page).unwrap();
    let mut commands = Roff::new();
    commands.control("SH", ["COMMANDS"]);
    for subcommand in command.get_subcommands() {
        let about = subcommand.get_about().unwrap().to_string();
        entry(&mut commands, subcommand.get_name(), "", &about);
    }
    commands.to_writer(&mut page).unwrap();
    man.render_options_section(&mut page).unwrap();
    rest().to_writer(&mut page).unwrap();
    // Every part begins with the same two lines of set-up; a page needs them once.
    let text = String::from_utf8(page).unwrap();
    let setup: String = text.split_inclusive('\n').take(2).collect();
    (setup.clone() + &text.replace(&setup, "")).into_bytes()
}

fn rest() -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["ENVIRONMENT"]).text([roman(ENVIRONMENT)]);
    roff.control("PP", []).text([roman(SECRETS)]);
    for setting in settings::all() {
        let note = match (setting.secret, setting.default) {
            (true, _) => " (secret)".to_owned(),
            (false, "") => String::new(),
            (false, default) => {
                let bounds = setting.bounds.map(|(min, max)| format!(" ({min} to {max})"));
                format!("{} [default: {default}]", bounds.unwrap_or_default())
            }
        };
        entry(&mut roff, setting.name, &note, setting.meaning);
    }
    for (heading, entries) in
        [("SURFACES", SURFACES), ("SIGNALS", SIGNALS), ("EXIT STATUS", EXITS), ("FILES", FILES)]
    {
        roff.control("SH", [heading]);
        for (name, meaning) in entries {
            entry(&mut roff, name, "", meaning);
        }
    }
    roff.control("SH", ["SEE ALSO"]);
    roff.text([
        bold("svcctl"),
        roman("(1), "),
        bold("systemd.exec"),
        roman("(5), section "),
        italic("CREDENTIALS"),
    ]);
    roff
}

fn entry(roff: &mut Roff, name: &str, note: &str, meaning: &str) {
    roff.control("TP", []).text([bold(name), roman(note)]).text([roman(meaning)]);
}

/// Returns the commented sample environment file.
pub(super) fn sample() -> String {
    let mut text = String::new();
    let head = "Settings of svcd, read by its systemd unit. svcd(8) describes them in detail, and `svcd \
                check-config` reports problems. Every line is commented out and shows the default, \
                or an example where there is none.";
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
