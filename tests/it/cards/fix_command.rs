//! `svcctl cards validate --fix` and `--diff`, the real binary: which files are written, what is kept of them, and
//! what is said.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::fs::{XattrFlags, getxattr, setxattr};
use svc::api::CardReport;
use svc::card;
use tempfile::TempDir;

use super::command::FILES;
use super::{fixing, planted};

pub(super) const FAULTY: &str = "{\n  \"protocolVersion\": \"1.0\", \"Name\": \"n\",\r\n\t\"description\": \"d\",\n  \"url\": \"a:b\",\n\
    \"version\": 1,\n \"transport\": \"HTTP\"\n}\n";

pub(super) fn right() -> String {
    FAULTY.replace("Name", "name").replace(": 1,", ": \"1\",").replace("HTTP", "http")
}

/// A folder with cards.
pub(super) struct Cards {
    folder: TempDir,
}

/// What a run left behind.
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) said: String,
}

impl Cards {
    pub(super) fn new(names: &[&str]) -> Self {
        let cards = Self { folder: tempfile::tempdir().unwrap() };
        for name in names {
            fs::write(cards.at(name), FAULTY).unwrap();
        }
        cards
    }

    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_svcctl"));
        command.current_dir(self.folder.path()).args(["cards", "validate"]).args(words);
        command
    }

    pub(super) fn run(&self, words: &[&str]) -> Ended {
        ended(self.command(&["--offline"]).args(words).output().unwrap())
    }

    pub(super) fn fed(&self, words: &[&str], input: &str) -> Ended {
        let mut command = self.command(&["--offline"]);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Less than a pipe holds; a run that ends early does not read it.
        drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
        ended(child.wait_with_output().unwrap())
    }

    /// Returns what the folder holds besides cards.
    fn left_over(&self) -> Vec<String> {
        let names = fs::read_dir(self.folder.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with('.')).collect()
    }
}

pub(super) fn ended(output: Output) -> Ended {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), out: text(output.stdout), said: text(output.stderr) }
}

#[test]
fn a_fixed_file_keeps_its_links_owner_permissions_and_attributes() {
    let cards = Cards::new(&["card.json"]);
    symlink("card.json", cards.at("link.json")).unwrap();
    fs::hard_link(cards.at("card.json"), cards.at("other.json")).unwrap();
    fs::set_permissions(cards.at("card.json"), fs::Permissions::from_mode(0o640)).unwrap();
    // Only root may give a file away.
    let is_given =
        std::os::unix::fs::chown(cards.at("card.json"), Some(65_534), Some(65_533)).is_ok();
    let set = setxattr(cards.at("card.json"), "user.note", b"kept", XattrFlags::empty());
    let before = fs::metadata(cards.at("card.json")).unwrap();
    assert_eq!((before.uid(), before.gid()) == (65_534, 65_533), is_given);
    let ended = cards.run(&["--fix", "link.json"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), "1 card, valid\n"), "{}", ended.said);
    assert_eq!(
        ended.said,
        "fixed: link.json: 3 edits\nnote: link.json was one of 2 hard links and is now a file of its own; the others were \
        not changed with it\n"
    );
    assert_eq!(fs::read_link(cards.at("link.json")).unwrap(), Path::new("card.json"));
    assert_eq!(cards.read("card.json"), right());
    assert_eq!(cards.read("other.json"), FAULTY);
    let after = fs::metadata(cards.at("card.json")).unwrap();
    assert_eq!(after.mode(), before.mode());
    assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
    let mut value = vec![0; 16];
    let length = getxattr(cards.at("card.json"), "user.note", &mut value);
    // Not every file system has extended attributes.
    assert_eq!(length.map(|length| value[..length].to_vec()), set.map(|()| b"kept".to_vec()));
    assert_eq!(cards.left_over(), [""; 0]);
}

#[test]
fn what_would_still_not_be_valid_is_written_only_if_asked() {
    let cards = Cards::new(&[]);
    let slips = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(FILES).join("slips.json"));
    let slips = String::from_utf8(slips.unwrap()).unwrap();
    fs::write(cards.at("slips.json"), &slips).unwrap();
    let plain = cards.run(&["slips.json"]);
    let ended = cards.run(&["--fix", "slips.json"]);
    let note = "note: slips.json was not fixed, because it would still not be valid after 6 edits; to apply them \
        anyway, add --fix-partly\n";
    assert_eq!((ended.code, &ended.out, ended.said.as_str()), (Some(1), &plain.out, note));
    let ended = cards.run(&["--diff", "slips.json"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""));
    let shown = cards.run(&["--diff", "--fix-partly", "slips.json"]);
    assert!(
        shown.code == Some(1)
            && shown.out.contains("+  \"name\": \"Größe\",\t\"transport\": \"http\",")
    );
    assert_eq!(cards.read("slips.json"), slips);
    let ended = cards.run(&["--fix-partly", "slips.json"]);
    assert_eq!((ended.code, ended.said.as_str()), (Some(1), "fixed: slips.json: 6 edits\n"));
    assert!(
        ended.out.contains("card/not-a-date-time") && !ended.out.contains("card/unknown-value")
    );
    assert_eq!(Some(cards.read("slips.json")), card::fix(slips.as_bytes()).map(|fixed| fixed.text));
    let note = "note: slips.json was not fixed, because none of its findings has an unambiguous suggestion\n";
    let ended = cards.run(&["--fix", "slips.json"]);
    assert_eq!((ended.code, ended.said.as_str()), (Some(1), note));
}

#[test]
fn every_file_is_valid_afterwards_or_untouched() {
    let cards = Cards::new(&[]);
    let mut expected = Vec::new();
    for text in fixing::cards(8).flat_map(|card| planted::faults(&card)).map(|fault| fault.text) {
        let name = format!("{:04}.json", expected.len());
        fs::write(cards.at(&name), &text).unwrap();
        let fixed = card::fix(text.as_bytes()).filter(|fixed| fixed.report.is_valid());
        expected.push((name, fixed.map_or(text, |fixed| fixed.text)));
    }
    let ended = cards.run(&["--fix", "-o", "json", "."]);
    let valid = expected.iter().filter(|(_, text)| card::check(text.as_bytes()).is_valid()).count();
    let summary = format!("\"invalid\":{},", expected.len() - valid);
    assert!(ended.code == Some(1) && ended.out.contains(&summary), "{}", ended.out);
    assert!((100..expected.len() - 100).contains(&valid), "{valid} of {}", expected.len());
    for (name, text) in expected {
        assert_eq!(cards.read(&name), text, "{name}");
    }
    assert_eq!(ended.said.matches("\"fixed\"").count(), valid);
}

#[test]
fn a_diff_is_all_that_standard_output_has() {
    let cards = Cards::new(&["a.json", "b.json"]);
    let preview = cards.run(&["--diff", "."]);
    assert_eq!(preview.code, Some(1));
    assert!(
        preview.out.starts_with("--- a.json\n+++ a.json\n@@ -1,7 +1,7 @@\n {\n"),
        "{}",
        preview.out
    );
    assert!(preview.out.contains("\n--- b.json\n+++ b.json\n"), "{}", preview.out);
    assert!(
        preview.said.ends_with("; 6 findings, 6 of which --fix can correct\n"),
        "{}",
        preview.said
    );
    assert_eq!((cards.read("a.json").as_str(), cards.read("b.json").as_str()), (FAULTY, FAULTY));
    let done = cards.run(&["--fix", "--diff", "."]);
    assert_eq!((done.code, &done.out), (Some(0), &preview.out));
    assert_eq!((cards.read("a.json"), cards.read("b.json")), (right(), right()));
    let again = cards.run(&["--fix", "--diff", "."]);
    assert_eq!(
        (again.code, again.out.as_str(), again.said.as_str()),
        (Some(0), "", "2 cards, valid\n")
    );
}

#[test]
fn a_card_from_standard_input_goes_to_standard_output() {
    let cards = Cards::new(&["b.json"]);
    for input in [FAULTY.to_owned(), right()] {
        let ended = cards.fed(&["--fix"], &input);
        assert_eq!((ended.code, ended.out), (Some(0), right()));
        assert!(ended.said.ends_with("1 card, valid\n"), "{}", ended.said);
    }
    let ended = cards.fed(&["--fix", "-", "b.json"], FAULTY);
    assert_eq!((ended.code, ended.out, cards.read("b.json")), (Some(0), right(), right()));
    for input in ["[", "{\"Name\":\"n\"}", ""] {
        let ended = cards.fed(&["--fix", "-o", "ndjson"], input);
        assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""));
        assert!(ended.said.starts_with("{\"file\":\"-\",\"valid\":false,"), "{}", ended.said);
    }
    let ended = cards.fed(&["--fix", "--diff"], FAULTY);
    assert_eq!((ended.code, ended.out.as_str()), (Some(64), ""), "{}", ended.said);
    let ended = cards.fed(&["--diff"], FAULTY);
    assert!(ended.code == Some(1) && ended.out.starts_with("--- -\n+++ -\n"), "{}", ended.out);
}

#[test]
fn a_card_with_signatures_is_told_to_have_them() {
    let cards = Cards::new(&[]);
    let signed =
        r#""signatures": [{"alg": "ES256", "keyId": "k", "jws": "j"}], "transport": "HTTP""#;
    fs::write(cards.at("a.json"), FAULTY.replace("\"transport\": \"HTTP\"", signed)).unwrap();
    let ended = cards.run(&["--fix", "a.json"]);
    let said =
        "fixed: a.json: 4 edits\nnote: a.json has signatures, which may not match the fixed card\n";
    assert_eq!((ended.code, ended.said.as_str()), (Some(0), said));
}

#[test]
fn what_is_no_card_is_not_written_to() {
    let cards = Cards::new(&[]);
    let map = r#"{"version":3,"sources":["a.js"],"names":[],"mappings":"AA"}"#;
    fs::write(cards.at("a.js.map.json"), map).unwrap();
    let ended = cards.run(&["--fix-partly", "."]);
    assert_eq!((ended.code, cards.read("a.js.map.json").as_str()), (Some(1), map));
    let note = "note: a.js.map.json was not fixed, because it does not look like a card\n";
    assert!(ended.said.contains(note), "{}", ended.said);
}

#[test]
fn what_has_no_edits_is_printed_as_it_is_if_a_part_is_enough() {
    let card = r#"{"protocolVersion":"1.0","unheardOf":1}"#;
    let ended = Cards::new(&[]).fed(&["--fix-partly"], card);
    assert_eq!((ended.code, ended.out.as_str()), (Some(1), card));
}

#[test]
fn cards_on_lines_are_only_checked() {
    let cards = Cards::new(&["a.json"]);
    let line = FAULTY.replace(['\n', '\r'], "");
    fs::write(cards.at("b.ndjson"), &line).unwrap();
    let ended = cards.run(&["--fix", "."]);
    assert_eq!(
        (ended.code, cards.read("a.json"), cards.read("b.ndjson")),
        (Some(1), right(), line)
    );
    let note = "note: b.ndjson is only checked: files with a card on each line are not fixed\n";
    assert!(ended.said.contains(note), "{}", ended.said);
    assert_eq!(cards.run(&["--fix", "--ndjson", "b.ndjson"]).code, Some(64));
}

#[test]
fn a_file_under_several_names_is_fixed_once() {
    let cards = Cards::new(&["a.json"]);
    symlink("a.json", cards.at("b.json")).unwrap();
    let ended = cards.run(&["--fix", "a.json", ".", "./a.json"]);
    assert_eq!((ended.code, cards.read("a.json")), (Some(0), right()), "{}", ended.said);
}

#[test]
fn a_file_that_may_not_be_written_does_not_keep_the_others_from_it() {
    let cards = Cards::new(&["a.json", "b.json"]);
    fs::create_dir(cards.at("closed")).unwrap();
    fs::write(cards.at("closed/c.json"), FAULTY).unwrap();
    let mode = |name: &str, mode| {
        fs::set_permissions(cards.at(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    for (name, bits) in [
        ("", 0o777),
        ("a.json", 0o444),
        ("b.json", 0o666),
        ("closed/c.json", 0o666),
        ("closed", 0o555),
    ] {
        mode(name, bits);
    }
    // Root may write everywhere, so another user runs a copy of the program where they may.
    let program = cards.at("svcctl");
    fs::copy(env!("CARGO_BIN_EXE_svcctl"), &program).unwrap();
    let is_root = fs::File::options().write(true).open(cards.at("a.json")).is_ok();
    if is_root {
        std::os::unix::fs::chown(cards.at("b.json"), Some(65_534), Some(65_534)).unwrap();
    }
    let mut command = Command::new(&program);
    command
        .current_dir("/")
        .args(["cards", "validate", "--offline", "--fix"])
        .arg(cards.folder.path());
    if is_root {
        command.uid(65_534).gid(65_534);
    }
    let ended = ended(command.output().unwrap());
    assert_eq!(ended.code, Some(74), "{}", ended.said);
    for name in ["a.json", "closed/c.json"] {
        assert_eq!(cards.read(name), FAULTY, "{name}");
        let refused = format!("cannot write: {}: Permission denied", cards.at(name).display());
        assert!(ended.said.contains(&refused), "{}", ended.said);
    }
    assert_eq!(cards.read("b.json"), right());
    assert!(ended.out.contains("3 cards: 1 valid, 2 not valid; 6 findings"), "{}", ended.out);
    mode("closed", 0o755);
}

/// Answers every request as the service would, and lets something happen when it is about a valid card.
pub(super) fn serve(listener: &UnixListener, requests: usize, mut on_valid: impl FnMut()) {
    for _ in 0..requests {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
        let body = loop {
            let read = stream.read(&mut buffer).unwrap();
            request.extend_from_slice(&buffer[..read]);
            let text = String::from_utf8(request.clone()).unwrap();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let head = head.to_ascii_lowercase();
            let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
            if body.len() == length.unwrap().parse::<usize>().unwrap() {
                break body.to_owned();
            }
        };
        let report = card::check(body.as_bytes());
        if report.is_valid() {
            on_valid();
        }
        let answer = serde_json::to_string(&CardReport::new(report, None)).unwrap();
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length";
        write!(stream, "{head}: {}\r\n\r\n{answer}", answer.len()).unwrap();
    }
}

#[test]
fn a_file_that_was_changed_meanwhile_is_refused_and_the_others_are_fixed() {
    let cards = Cards::new(&["a.json", "b.json", "c.json"]);
    let listener = UnixListener::bind(cards.at("svcd.sock")).unwrap();
    let url = format!("unix:{}", cards.at("svcd.sock").display());
    let mut changes = 0;
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| {
            serve(&listener, 6, || {
                changes += 1;
                match changes {
                    1 => fs::write(cards.at("a.json"), "changed").unwrap(),
                    // The same text, but not the same file: as editors save it.
                    2 => {
                        fs::write(cards.at("new"), FAULTY).unwrap();
                        fs::rename(cards.at("new"), cards.at("b.json")).unwrap();
                    }
                    _ => {}
                }
            });
        });
        let words = ["--fix", "--url", &url, "a.json", "b.json", "c.json"];
        ended(cards.command(&words).output().unwrap())
    });
    assert_eq!(ended.code, Some(74), "{}", ended.said);
    assert_eq!(cards.read("a.json"), "changed");
    // It was replaced before it was opened for writing, and has the text that was checked.
    assert_eq!((cards.read("b.json"), cards.read("c.json")), (right(), right()));
    let refused = "cannot write: a.json: it was changed by another program meanwhile\n";
    assert!(ended.said.contains(refused), "{}", ended.said);
    assert_eq!(cards.left_over(), [""; 0]);
}

#[test]
fn a_kill_leaves_every_file_whole() {
    const FILES: usize = 40;
    let names: Vec<String> = (0..FILES).map(|number| format!("{number:02}.json")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let count = |cards: &Cards| {
        let fixed = names.iter().filter(|name| {
            let text = cards.read(name);
            assert!(text == FAULTY || text == right(), "{name}: {text}");
            text == right()
        });
        fixed.count()
    };
    let mut between = 0;
    for run in 0..20 {
        let cards = Cards::new(&names);
        let mut command = cards.command(&["--offline", "--fix", "."]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while count(&cards) < run * 2 && child.try_wait().unwrap().is_none() {}
        child.kill().unwrap();
        child.wait().unwrap();
        between += usize::from((1..FILES).contains(&count(&cards)));
        let ended = cards.run(&["--fix", "."]);
        assert_eq!((ended.code, count(&cards)), (Some(0), FILES), "{}", ended.said);
        assert_eq!(ended.out, format!("{FILES} cards, valid\n"));
    }
    assert!(between > 0, "no kill came between two files");
}
