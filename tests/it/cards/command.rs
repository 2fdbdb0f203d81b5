//! `svcctl cards`, the real binary: what it prints for the files in `tests/data/cards/files` stands in
//! `tests/data/cards/said` (`UPDATE=1 cargo test --test it cards`), and how it ends.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use svc::api::CardReport;
use svc::card;

pub(super) const FILES: &str = "tests/data/cards/files";

fn svcctl(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_svcctl"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(words).output().unwrap()
}

fn fed(words: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_svcctl"))
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input));
        child.wait_with_output().unwrap()
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn what_is_said_is_what_was_written_down() {
    let official = format!("{FILES}/.well-known/agent-card.json");
    let legacy = format!("{FILES}/legacy.json");
    let maps = format!("{FILES}/maps.json");
    for (name, code, words) in [
        ("validate.txt", 1, vec!["validate", "--offline", FILES]),
        ("validate.json", 1, vec!["validate", "--offline", FILES, "-o", "json"]),
        ("validate.ndjson", 1, vec!["validate", "--offline", FILES, "-o", "ndjson"]),
        ("validate.sarif", 1, vec!["validate", "--offline", FILES, "-o", "sarif"]),
        ("validate.junit.xml", 1, vec!["validate", "--offline", FILES, "-o", "junit"]),
        ("validate.github", 1, vec!["validate", "--offline", FILES, "-o", "github"]),
        ("explain-official.txt", 1, vec!["explain", &official]),
        ("explain-legacy.txt", 0, vec!["explain", &legacy]),
        ("explain-official.json", 1, vec!["explain", &official, "-o", "json"]),
        ("convert-refused.txt", 1, vec!["convert", "--to", "current", &official]),
        ("convert-official.json", 0, vec!["convert", "--to", "current", "--lossy", &official]),
        ("convert-legacy.json", 0, vec!["convert", "--to", "current", &legacy]),
        ("convert-current.txt", 1, vec!["convert", "--to", "legacy", &maps]),
        ("codes.txt", 0, vec!["codes"]),
        ("code.txt", 0, vec!["codes", "card/other-variant"]),
    ] {
        let ended = svcctl(&[vec!["cards"], words].concat());
        let said = text(&ended.stderr) + &text(&ended.stdout);
        assert_eq!(ended.status.code(), Some(code), "{name}: {said}");
        let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
        let said = said.replace(&version, "\"version\":\"[version]\"");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cards/said").join(name);
        if crate::generated::is_update() {
            std::fs::write(&file, &said).unwrap();
        }
        let written = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(written == said, "{name} says now:\n{said}");
    }
}

#[test]
fn machine_formats_are_what_they_say() {
    let document: Value = serde_json::from_slice(
        &svcctl(&["cards", "validate", "--offline", FILES, "-o", "json"]).stdout,
    )
    .unwrap();
    let cards = document["cards"].as_array().unwrap();
    let lines = text(&svcctl(&["cards", "validate", "--offline", FILES, "-o", "ndjson"]).stdout);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(*cards, lines);
    assert_eq!(document["summary"]["cards"], lines.len());
    let sarif: Value = serde_json::from_slice(
        &svcctl(&["cards", "validate", "--offline", FILES, "-o", "sarif"]).stdout,
    )
    .unwrap();
    let findings = cards.iter().map(|card| card["findings"].as_array().unwrap().len());
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), findings.sum::<usize>());
}

#[test]
fn the_findings_are_those_of_the_library() {
    for case in super::hand_written::cases().iter().step_by(7) {
        let ended = fed(&["cards", "validate", "--offline", "-o", "ndjson"], &case.text);
        let report = CardReport::new(card::check(&case.text), None);
        let line = serde_json::to_string(&report).unwrap();
        let expected = format!("{{\"file\":\"-\",{}\n", line.strip_prefix('{').unwrap());
        assert_eq!(text(&ended.stdout), expected, "{}", case.name);
        assert_eq!(ended.status.code(), Some(i32::from(!report.valid)));
    }
}

#[test]
fn a_file_that_cannot_be_read_does_not_hide_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    std::fs::write(at("large.json"), vec![b' '; 5_000]).unwrap();
    std::fs::write(at("empty.json"), "").unwrap();
    std::os::unix::fs::symlink(folder.path(), at("loop")).unwrap();
    let maps = format!("{FILES}/maps.json");
    let missing = at("missing.json");
    let folder = at("");
    let ended = svcctl(&[
        "cards",
        "validate",
        "--offline",
        "--max-bytes",
        "4000",
        &missing,
        &folder,
        &at("*.yaml"),
        &maps,
    ]);
    let (said, out) = (text(&ended.stderr), text(&ended.stdout));
    assert_eq!(ended.status.code(), Some(74), "{said}{out}");
    assert!(said.contains("missing.json: No such file or directory"), "{said}");
    assert!(said.contains("no file matches"), "{said}");
    assert!(said.contains("has already been searched"), "{said}");
    assert!(out.contains("error[card/too-large]") && out.contains("error[card/empty]"), "{out}");
    assert!(out.ends_with("3 cards: 1 valid, 2 not valid; 2 findings\n"), "{out}");
}

#[test]
fn a_long_stream_keeps_its_order_and_its_numbers() {
    let good =
        r#"{"protocolVersion":"1.0","name":"n","description":"d","url":"a:b","version":"1"}"#;
    let bad = r#"{"protocolVersion":"1.0","name":1,"description":"d","url":"a:b","version":"1"}"#;
    let is_bad = |line: usize| line.is_multiple_of(97);
    let stream: Vec<&str> =
        (1..=20_000).map(|line| if is_bad(line) { bad } else { good }).collect();
    let ended = fed(
        &["cards", "validate", "--offline", "--ndjson", "-o", "github"],
        stream.join("\n").as_bytes(),
    );
    let lines: Vec<String> = (1..=20_000)
        .filter(|line| is_bad(*line))
        .map(|line| format!("line={line},col=33,title=card/wrong-type"))
        .collect();
    let said = text(&ended.stdout);
    assert_eq!(said.lines().count(), lines.len());
    assert!(said.lines().zip(&lines).all(|(said, line)| said.contains(line.as_str())));
}

#[test]
fn an_endless_stream_is_left_when_its_report_is_not_read() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_svcctl"))
        .args(["cards", "validate", "--offline", "--ndjson", "-o", "ndjson"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    drop(child.stdout.take());
    let lines = "[]\n".repeat(10_000);
    // Writing ends with an error when the other end is gone, and only then.
    while stdin.write_all(lines.as_bytes()).is_ok() {}
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_huge_file_is_a_finding_in_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let huge = folder.path().join("huge.json");
    std::fs::File::create(&huge).unwrap().set_len(100 << 20).unwrap();
    let one_line = folder.path().join("huge.ndjson");
    std::fs::hard_link(&huge, &one_line).unwrap();
    // Stacks of threads count too, however many cores there are; arenas of the allocator need not.
    let ended = Command::new("sh")
        .env("MALLOC_ARENA_MAX", "1")
        .args(["-c", "ulimit -v 655360; exec \"$0\" cards validate --offline \"$1\""])
        .args([Path::new(env!("CARGO_BIN_EXE_svcctl")), folder.path()])
        .output()
        .unwrap();
    let (said, out) = (text(&ended.stderr), text(&ended.stdout));
    assert_eq!(ended.status.code(), Some(1), "{said}{out}");
    assert_eq!(out.matches("error[card/too-large]").count(), 2, "{out}");
    assert!(out.ends_with("2 cards: 0 valid, 2 not valid; 2 findings\n"), "{out}");
}

#[test]
fn a_file_that_may_not_be_read_does_not_hide_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("a.json"), "[]").unwrap();
    std::fs::write(at("b.json"), "[]").unwrap();
    let mode = |path: &Path, mode| {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(path, permissions).unwrap();
    };
    mode(folder.path(), 0o755);
    mode(&at("a.json"), 0o000);
    // Root may read everything, so another user runs a copy of the program where they may.
    let program = at("svcctl");
    std::fs::copy(env!("CARGO_BIN_EXE_svcctl"), &program).unwrap();
    let mut command = Command::new(&program);
    if std::fs::File::open(at("a.json")).is_ok() {
        std::os::unix::process::CommandExt::uid(&mut command, 65_534);
    }
    let ended =
        command.current_dir("/").args(["cards", "validate", "--offline"]).arg(folder.path());
    let ended = ended.output().unwrap();
    let (said, out) = (text(&ended.stderr), text(&ended.stdout));
    assert_eq!(ended.status.code(), Some(74), "{said}{out}");
    assert!(said.contains("a.json: Permission denied"), "{said}");
    assert!(out.ends_with("1 card: 0 valid, 1 not valid; 1 finding\n"), "{out}");
}

#[test]
fn a_file_is_named_in_the_next_command_as_a_shell_must_see_it() {
    let folder = tempfile::tempdir().unwrap();
    let official = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILES);
    let official = official.join(".well-known/agent-card.json");
    for (name, shown) in [
        ("card.json", "card.json"),
        ("my card; reboot.json", "'my card; reboot.json'"),
        ("it's.json", r"'it'\''s.json'"),
        ("-o.json", "./-o.json"),
        ("\u{1b}[2J.json", r"'\u{1b}[2J.json'"),
    ] {
        std::fs::copy(&official, folder.path().join(name)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_svcctl"));
        command.current_dir(folder.path()).args(["cards", "explain", "--", name]);
        let said = text(&command.output().unwrap().stdout);
        let next =
            "\nto convert it, which omits 2 parts: svcctl cards convert --to current --lossy";
        let next = format!("{next} {shown}\n");
        assert!(said.ends_with(&next), "{name:?}: {said}");
    }
}

#[test]
fn a_card_that_looks_official_is_told_the_next_commands() {
    let official = format!("{FILES}/.well-known/agent-card.json");
    let notes = |name: &str| {
        let ended = svcctl(&["cards", "validate", "--offline", name]);
        let said = text(&ended.stderr);
        said.lines()
            .filter(|line| line.starts_with("note: "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let expected = format!(
        "note: {official} looks like an official A2A card; to see the differences: svcctl cards explain \
         {official}; to try to convert it: svcctl cards convert --to current {official}"
    );
    assert_eq!(notes(&official), [expected]);
    for ours in ["legacy.json", "maps.json", "slips.json", "mark.json"] {
        assert_eq!(notes(&format!("{FILES}/{ours}")), [""; 0], "{ours}");
    }
}

#[test]
fn no_card_commands_a_terminal_or_reorders_a_line_in_any_report_for_people() {
    let card = "{\"protocolVersion\":\"1.0\",\"na\u{202e}me\":1,\"\u{9b}31m\":2}";
    for format in ["text", "github"] {
        let ended = fed(&["cards", "validate", "--offline", "-o", format], card.as_bytes());
        let said = text(&ended.stdout);
        assert!(!said.contains(['\u{202e}', '\u{9b}']), "{said}");
        assert!(said.contains(r"na\u{202e}me") && said.contains(r"\u{9b}31m"), "{said}");
    }
}

#[test]
fn schemas_are_printed_as_they_are() {
    for variant in card::Variant::ALL.iter().copied() {
        let ended = svcctl(&["cards", "schema", "--variant", variant.as_str()]);
        assert_eq!(text(&ended.stdout), card::schema(variant));
    }
}

#[test]
fn what_is_converted_is_valid_and_comes_back() {
    let convert = |bytes: &[u8], to: card::Variant| card::convert(bytes, to).unwrap();
    let legacy =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(FILES).join("legacy.json"));
    let current = convert(&legacy.unwrap(), card::Variant::Current);
    assert!(current.report.is_valid() && current.losses.is_empty(), "{current:?}");
    let back = convert(current.text.as_bytes(), card::Variant::Legacy);
    assert!(back.report.is_valid() && back.losses.is_empty(), "{back:?}");
    let again = convert(back.text.as_bytes(), card::Variant::Legacy);
    assert_eq!(again.text, back.text);
}

#[test]
fn a_named_folder_without_a_card_is_told_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["build/deep", "empty", "own", "notes"] {
        std::fs::create_dir_all(at(name)).unwrap();
    }
    let card =
        r#"{"protocolVersion":"1.0","name":"n","description":"d","url":"a:b","version":"1"}"#;
    for (name, text) in [
        ("build/.ignore", "*\n"),
        ("build/deep/a.json", card),
        ("own/b.json", card),
        ("notes/readme.md", ""),
    ] {
        std::fs::write(at(name), text).unwrap();
    }
    std::os::unix::fs::symlink("../own", at("notes/own")).unwrap();
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_svcctl"));
        command.current_dir(folder.path()).args(["cards"]).args(words);
        let ended = command.output().unwrap();
        (ended.status.code(), text(&ended.stderr), text(&ended.stdout))
    };
    let hint = "no card was found in it; to read ignored files too, add --no-ignore";
    for named in [&["build"][..], &["build", "own"], &["own", "build"], &[".", "build"]] {
        let words = [&["validate", "--offline"], named].concat();
        let (code, said, _) = run(&words);
        assert!(said.ends_with(&format!("not checked: build: {hint}\n")), "{words:?}: {said}");
        assert!(code == Some(74) && !said.contains("build has already"), "{words:?}: {said}");
    }
    let all = ["validate", "--offline", "--no-ignore", "build", "own"];
    assert_eq!(run(&all), (Some(0), String::new(), "2 cards, valid\n".to_owned()));
    let (code, said, _) = run(&["validate", "--offline", "--no-ignore", "own", "empty"]);
    assert_eq!((code, said.as_str()), (Some(74), "not checked: empty: no card was found in it\n"));
    // It has one that was read already.
    assert_eq!(run(&["validate", "--offline", "own", "notes"]).0, Some(0));
    let (code, said, out) = run(&["explain", "own", "build"]);
    let expected =
        "error: no card was found in build; to read an ignored file, name it on the command line\n";
    assert_eq!((code, said.as_str()), (Some(74), expected), "{out}");
}

#[test]
fn only_a_hyphen_alone_is_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("-"), "[]").unwrap();
    for name in ["./-", ".//-", "././-", "?"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_svcctl"));
        command.current_dir(folder.path()).args([
            "cards",
            "validate",
            "--offline",
            "-o",
            "ndjson",
            name,
        ]);
        let ended = command.stdin(Stdio::null()).output().unwrap();
        let said = text(&ended.stdout);
        assert!(
            said.starts_with("{\"file\":\"./-\"") && said.contains("card/not-an-object"),
            "{said}"
        );
    }
}
