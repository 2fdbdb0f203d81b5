//! The forms of log lines that other programs read: logfmt, JSON, and what the journal takes.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use rustix::fs::fstat;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::ask::Ask;
use super::site::{Site, svcd};
use super::wait_for;

/// Returns a site that logs in a format, with a warning at the start.
fn site(format: &str) -> Site {
    let mut site = Site::new();
    site.set("SVC_LOG_FORMAT", format);
    site.unset("SVC_OPERATOR_ACTOR_ID");
    site.unset("SVC_OPERATOR_API_TOKEN_FILE");
    site
}

/// Returns the log of a daemon that starts and stops, with what `journal` makes of the device and the inode of
/// its standard error in `JOURNAL_STREAM`.
fn log_of(site: &Site, journal: Option<fn(u64, u64) -> String>) -> Vec<String> {
    let (reader, writer) = io::pipe().unwrap();
    let mut command = site.command(svcd());
    if let Some(journal) = journal {
        let stat = fstat(&writer).unwrap();
        command.env("JOURNAL_STREAM", journal(stat.st_dev, stat.st_ino));
    }
    let mut child = command.stderr(writer).spawn().unwrap();
    // It holds the other end of the pipe.
    drop(command);
    let mut log = Vec::new();
    for line in BufReader::new(reader).lines() {
        let line = line.unwrap();
        // Not sooner: a daemon that answers may have this line still to say.
        if line.contains("daemon.ready") {
            kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        }
        log.push(line);
    }
    assert_eq!(child.wait().unwrap().code(), Some(0), "{log:?}");
    log
}

/// Reads a line as readers of logfmt do that refuse what is not `name=value`.
fn logfmt(line: &str) -> Vec<(String, String)> {
    let (mut fields, mut rest) = (Vec::new(), line);
    while !rest.is_empty() {
        let (name, value) = rest.split_once('=').unwrap_or_else(|| panic!("no value: {line}"));
        assert!(!name.is_empty() && !name.contains([' ', '"']), "{name}: {line}");
        let end = if value.starts_with('"') {
            let mut values = serde_json::Deserializer::from_str(value).into_iter::<String>();
            fields.push((name.to_owned(), values.next().unwrap().unwrap()));
            values.byte_offset()
        } else {
            let end = value.find(' ').unwrap_or(value.len());
            assert!(!value[..end].contains(['"', '=']), "{line}");
            fields.push((name.to_owned(), value[..end].to_owned()));
            end
        };
        rest = &value[end..];
        assert!(rest.is_empty() || rest.starts_with(' '), "{line}");
        rest = rest.strip_prefix(' ').unwrap_or_default();
    }
    fields
}

#[test]
fn text_is_logfmt() {
    let log = log_of(&site("text"), None);
    for line in &log {
        let names: Vec<String> = logfmt(line).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names[..4], ["ts", "level", "message", "event"], "{line}");
    }
    let ready = log.iter().map(|line| logfmt(line)).find(|fields| fields[3].1 == "daemon.ready");
    let ready = ready.unwrap();
    assert_eq!((ready[1].1.as_str(), ready[2].1.as_str()), ("info", "svcd has started"));
}

#[test]
fn the_journal_is_told_priorities_and_no_second_time() {
    for format in ["text", "json"] {
        let log = log_of(&site(format), Some(|device, inode| format!("{device}:{inode}")));
        let priorities: Vec<&str> = log.iter().map(|line| &line[..3]).collect();
        assert!(priorities.contains(&"<4>") && priorities.contains(&"<6>"), "{log:?}");
        for line in &log {
            let (priority, line) = line.split_at(3);
            let level = match format {
                "json" => {
                    let line: Value = serde_json::from_str(line).unwrap();
                    assert_eq!(line.get("ts"), None, "{line}");
                    line["level"].as_str().unwrap().to_owned()
                }
                _ => {
                    let fields = logfmt(line);
                    assert_eq!(fields[0].0, "level", "{line}");
                    fields[0].1.clone()
                }
            };
            let wanted = match level.as_str() {
                "error" => "<3>",
                "warn" => "<4>",
                "info" => "<6>",
                _ => "<7>",
            };
            assert_eq!(priority, wanted, "{line}");
        }
    }
}

#[test]
fn another_journal_stream_changes_nothing() {
    for other in [|device, inode| format!("{device}:{}", inode + 1), |_, _| "unclear".to_owned()] {
        for line in log_of(&site("text"), Some(other)) {
            assert!(line.starts_with("ts="), "{line}");
        }
    }
}

#[test]
fn what_is_said_about_a_failed_start_has_a_priority_too() {
    let (mut reader, writer) = io::pipe().unwrap();
    let stat = fstat(&writer).unwrap();
    let mut site = Site::new();
    std::fs::write(site.database(), "no database").unwrap();
    for (setting, said) in [("1", "<3>svcd: cannot open the store: "), ("x", "<3>  SVC_POLL_MS: ")]
    {
        if setting == "x" {
            site.set("SVC_POLL_MS", setting);
        }
        let mut command = site.command(svcd());
        command.env("JOURNAL_STREAM", format!("{}:{}", stat.st_dev, stat.st_ino));
        command.stderr(writer.try_clone().unwrap()).stdout(Stdio::null());
        assert_eq!(command.status().unwrap().code(), Some(78));
        let mut bytes = [0; 4_096];
        let count = reader.read(&mut bytes).unwrap();
        let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
        assert!(text.lines().any(|line| line.starts_with(said)), "{text}");
        assert!(text.lines().all(|line| line.starts_with('<')), "{text}");
    }
}

#[test]
fn json_has_numbers_and_truth_values_as_such() {
    let site = Site::new();
    let daemon = site.start();
    let forged = Ask::post("/webhooks/forge").header("X-Hub-Signature-256", "sha256=00").body("{}");
    assert_eq!(daemon.public.ask(&forged).status, 401);
    let line = wait_for("the line", || {
        let log = daemon.log();
        let line = log.lines().find(|line| line.contains("webhook.bad_signature"))?;
        serde_json::from_str::<Value>(line).ok()
    });
    assert_eq!(line["suppressed"], 0, "{line}");
    let log = daemon.log();
    let listening = log.lines().find(|line| line.contains("daemon.listening")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(listening).unwrap()["handed_over"], false);
}
