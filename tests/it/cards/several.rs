//! `svcctl cards explain` and `push` with several files and folders, the real binaries.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::command::FILES;
use super::registry::Stage;

const CARD: &str =
    r#"{"protocolVersion":"1.0","name":"n","description":"d","url":"a:b","version":"1"}"#;

fn explain(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_svcctl"));
    command.current_dir(folder).args(["cards", "explain"]).args(words).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A folder with a card, a file that is none, and a stream of two cards.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("in")).unwrap();
    for (name, text) in [
        ("good.json", CARD),
        ("in/none.json", "[]"),
        ("in/stream.ndjson", &format!("{CARD}\n\n{}\n", CARD.replace("\"1\"", "7"))),
        ("in/readme.md", "not a card"),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[test]
fn several_cards_are_explained_one_after_the_other() {
    let folder = folder();
    let ended = explain(folder.path(), &["."]);
    let said = text(&ended.stdout);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    let heads: Vec<&str> = said.lines().filter(|line| line.contains("json")).collect();
    assert_eq!(
        heads,
        [
            "good.json: a card of the current variant, valid",
            "in/none.json: not an agent card, not valid",
            "in/stream.ndjson, line 1: a card of the current variant, valid",
            "in/stream.ndjson, line 3: a card of the current variant, not valid",
        ],
        "{said}"
    );
    // Places are those of the file.
    assert!(said.contains("\n  3:77 version must be a string"), "{said}");
    let lines = text(&explain(folder.path(), &["-o", "ndjson", "in", "good.json"]).stdout);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let files: Vec<&str> = lines.iter().map(|line| line["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["in/none.json", "in/stream.ndjson", "in/stream.ndjson", "good.json"]);
    assert_eq!(lines[2]["report"]["line"], 3);
    let document: Value =
        serde_json::from_slice(&explain(folder.path(), &["-o", "json", "in", "good.json"]).stdout)
            .unwrap();
    assert_eq!(*document["cards"].as_array().unwrap(), lines);
    // The answer about one file is about nothing else.
    let one: Value =
        serde_json::from_slice(&explain(folder.path(), &["-o", "json", "good.json"]).stdout)
            .unwrap();
    assert_eq!((one["dialect"].as_str(), one.get("file")), (Some("current"), None));
}

#[test]
fn a_file_that_cannot_be_read_does_not_hide_the_others() {
    let folder = folder();
    let ended = explain(folder.path(), &["missing.json", "good.json", "*.yaml"]);
    let (said, errors) = (text(&ended.stdout), text(&ended.stderr));
    assert_eq!(ended.status.code(), Some(74), "{errors}");
    assert!(said.starts_with("good.json: a card of the current variant, valid\n"), "{said}");
    assert!(errors.contains("error: cannot read missing.json: No such file"), "{errors}");
    assert!(errors.contains("error: cannot read *.yaml: no file matches"), "{errors}");
    fs::create_dir(folder.path().join("empty")).unwrap();
    let ended = explain(folder.path(), &["empty"]);
    assert_eq!(ended.status.code(), Some(74));
    assert!(text(&ended.stderr).starts_with("error: no card was found in empty"));
}

#[test]
fn a_folder_is_pushed_and_a_refused_card_does_not_stop_the_others() {
    let stage = Stage::new();
    let folder = folder();
    fs::write(folder.path().join("late.json"), CARD).unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let ended = stage.svcctl(&["push", &at("")]);
    // The stream has no names, which is the highest code.
    assert_eq!(ended.code, Some(64), "{}", ended.stderr);
    assert!(ended.stdout.contains("registered  good, revision 1, from "), "{}", ended.stdout);
    assert!(ended.stdout.contains("registered  late, revision 1, from "), "{}", ended.stdout);
    assert!(ended.stdout.contains("error[card/not-an-object]"), "{}", ended.stdout);
    assert!(ended.stderr.contains("in/none.json: the card is not valid"), "{}", ended.stderr);
    assert!(ended.stderr.contains("in/stream.ndjson has a card on each line"), "{}", ended.stderr);

    let both = [at("good.json"), at("late.json")];
    let json = stage.svcctl(&["push", "-o", "json", &both[0], &both[1]]);
    let document: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((json.code, &document["cards"][1]["name"]), (Some(0), &Value::from("late")));
    let created = stage.svcctl(&["push", "--create", &both[0], &both[1]]);
    assert_eq!((created.code, created.stdout.as_str()), (Some(9), ""), "{}", created.stderr);
    assert_eq!(created.stderr.matches("a card is already registered as").count(), 2);
    let named = stage.svcctl(&["push", "--name", "x", &both[0], &both[1]]);
    assert_eq!(named.code, Some(64));
}

#[test]
fn of_two_files_with_one_name_none_is_registered() {
    let stage = Stage::new();
    let folder = tempfile::tempdir().unwrap();
    for agent in ["a", "b"] {
        let well_known = folder.path().join(agent).join(".well-known");
        fs::create_dir_all(&well_known).unwrap();
        fs::write(well_known.join("agent-card.json"), CARD).unwrap();
    }
    let ended = stage.svcctl(&["push", folder.path().to_str().unwrap()]);
    assert_eq!(ended.code, Some(64), "{}", ended.stdout);
    assert!(ended.stderr.contains("have the same name, agent-card; nothing was registered"));
    let list = stage.svcctl(&["list", "-o", "ndjson"]);
    assert_eq!((list.code, list.stdout.as_str()), (Some(0), ""));
}

#[test]
fn a_service_that_is_not_there_is_asked_once() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_svcctl"));
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    fs::write(&token, "t".repeat(40)).unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    command.env("SVC_URL", "unix:/nowhere/svcd.sock").arg("--token-file").arg(&token);
    let ended = command.args(["cards", "push", FILES]).output().unwrap();
    let errors = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(69), "{errors}");
    assert_eq!(errors.matches("cannot reach").count(), 1, "{errors}");
}
