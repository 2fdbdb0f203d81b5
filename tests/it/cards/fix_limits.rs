//! What `svcctl cards validate --fix` leaves alone or cannot do, and that its reports say so, the real binary.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use serde_json::{Value, json};

use super::fix_command::{Cards, FAULTY, ended, right, serve};

#[test]
fn a_link_that_leads_out_of_a_folder_is_only_checked() {
    let cards = Cards::new(&[]);
    for folder in ["in/below", "out"] {
        fs::create_dir_all(cards.at(folder)).unwrap();
    }
    for name in ["in/below/a.json", "out/b.json", "out/c.json"] {
        fs::write(cards.at(name), FAULTY).unwrap();
    }
    symlink("below/a.json", cards.at("in/inside.json")).unwrap();
    symlink("../out/b.json", cards.at("in/outside.json")).unwrap();
    symlink("../out", cards.at("in/zoo")).unwrap();
    let said = |name: &str| {
        format!(
            "note: {name} was not fixed, because it is a link to a file outside in; to fix that file, name it\n"
        )
    };
    let preview = cards.run(&["--diff", "in"]);
    assert_eq!(preview.code, Some(1));
    assert!(preview.out.contains("+++ in/inside.json\n"), "{}", preview.out);
    assert!(!preview.out.contains("outside") && !preview.out.contains("zoo"), "{}", preview.out);
    let ended = cards.run(&["--fix", "in"]);
    assert_eq!(ended.code, Some(1), "{}", ended.said);
    assert_eq!(cards.read("in/below/a.json"), right());
    for name in ["in/outside.json", "in/zoo/b.json", "in/zoo/c.json"] {
        assert!(ended.said.contains(&said(name)), "{name}: {}", ended.said);
        assert_eq!(cards.read(name), FAULTY, "{name}");
    }
    // One that is named is followed, and so is a folder that is a link itself.
    let ended = cards.run(&["--fix", "in/outside.json", "in/zoo"]);
    assert_eq!((ended.code, cards.read("out/b.json")), (Some(0), right()), "{}", ended.said);
    assert_eq!(cards.read("out/c.json"), right());
}

#[test]
fn more_edits_than_one_run_applies_are_said_to_be_that() {
    let skill = json!({ "ID": "1", "name": "n", "description": "d" });
    let card = json!({
        "protocolVersion": "1.0", "name": "n", "description": "d", "url": "a:b", "version": "1",
        "skills": vec![skill; 2_500],
    });
    let cards = Cards::new(&[]);
    fs::write(cards.at("a.json"), card.to_string()).unwrap();
    let ended = cards.run(&["--fix", "-o", "ndjson", "a.json"]);
    assert_eq!(
        (ended.code, ended.said.as_str()),
        (
            Some(1),
            "{\"note\":\"a.json was not fixed, because 2000 edits, the most for one run, are not enough; to apply \
            them in several runs, add --fix-partly\"}\n"
        )
    );
    let ended = cards.run(&["--fix-partly", "-o", "ndjson", "a.json"]);
    assert_eq!(
        (ended.code, ended.said.as_str()),
        (
            Some(1),
            "{\"fixed\":\"a.json: 2000 edits\"}\n{\"note\":\"a.json needs more edits than one run applies; run the \
            command again\"}\n"
        )
    );
    let ended = cards.run(&["--fix", "-o", "ndjson", "a.json"]);
    assert_eq!((ended.code, ended.said.as_str()), (Some(0), "{\"fixed\":\"a.json: 500 edits\"}\n"));
}

#[test]
fn a_report_counts_the_files_that_could_not_be_written() {
    let cards = Cards::new(&["b.json"]);
    // Named, it is read like a file, but nothing can take its place.
    let pipe = |format: &str| {
        let script = "\"$0\" cards validate --offline --fix -o \"$1\" <(cat \"$2\") b.json";
        let mut command = std::process::Command::new("bash");
        command.current_dir(cards.at("")).args([
            "-c",
            script,
            env!("CARGO_BIN_EXE_svcctl"),
            format,
        ]);
        fs::write(cards.at("a.txt"), FAULTY).unwrap();
        ended(command.arg("a.txt").output().unwrap())
    };
    let ended = pipe("json");
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(
        (ended.code, &document["summary"]["unwritten"]),
        (Some(74), &json!(1)),
        "{}",
        ended.said
    );
    let ended = pipe("sarif");
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    let invocation = &document["runs"][0]["invocations"][0];
    assert_eq!((ended.code, &invocation["executionSuccessful"]), (Some(74), &json!(false)));
    let notification = &invocation["toolExecutionNotifications"][0];
    let message = notification["message"]["text"].as_str().unwrap();
    assert!(message.starts_with("cannot be written: "), "{message}");
}

#[test]
fn what_was_written_is_told_although_the_service_fails() {
    // More than one piece of work, so that another thread has files in hand, too.
    let names: Vec<String> = (10..60).map(|number| format!("{number}.json")).collect();
    let cards = Cards::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let url = format!("unix:{}", cards.at("svcd.sock").display());
    let listener = UnixListener::bind(cards.at("svcd.sock")).unwrap();
    let ended = std::thread::scope(|scope| {
        scope.spawn(move || {
            serve(&listener, 30, || {});
            drop(listener);
        });
        ended(cards.command(&["--fix", "--url", &url, "."]).output().unwrap())
    });
    // A connection that waited when the service ended is lost; the next one is refused.
    assert!(
        matches!(ended.code, Some(69 | 75)) && ended.said.contains("error: "),
        "{}",
        ended.said
    );
    let is_written = |name: &&String| cards.read(name) == right();
    let written: Vec<&String> = names.iter().filter(is_written).collect();
    assert!(written.len() > 8, "{written:?}");
    let told = |name: &&String| ended.said.contains(&format!("fixed: {name}: 3 edits\n"));
    let told: Vec<&String> = names.iter().filter(told).collect();
    assert_eq!(told, written, "{}", ended.said);
}
