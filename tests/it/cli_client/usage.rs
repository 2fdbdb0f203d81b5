//! A command line that is wrong: text for people, and a problem like every other failure where JSON is asked for.

use serde_json::Value;

use super::Desk;

#[test]
fn where_json_is_asked_for_a_wrong_command_line_is_a_problem() {
    let desk = Desk::new(Vec::new());
    for (line, detail, hint) in [
        (
            "releases list --limit x -o json",
            "invalid value 'x' for '--limit <N>': not a whole number from 1 to 100",
            "For more information, try '--help'.",
        ),
        (
            "-o ndjson releases list --limt 3",
            "unexpected argument '--limt' found",
            "tip: a similar argument exists: '--limit'",
        ),
        (
            "dead-letters close job 0199f3a0 --output=json",
            "the following required arguments were not provided: --reason <TEXT>",
            "Usage: svcctl dead-letters close",
        ),
        (
            "dead-letters list -Ao json --type effect",
            "invalid value 'effect' for '--type <TYPE>' [possible values: job, outbox]",
            "For more information",
        ),
        ("relase list -ojson", "unrecognized subcommand 'relase'", "Usage: svcctl"),
        (
            "-o json releases",
            "'svcctl releases' requires a subcommand but one was not provided",
            "Usage: svcctl releases",
        ),
    ] {
        let run = desk.run(line);
        assert_eq!((run.code, run.stdout.as_str()), (64, ""), "{run:?}");
        let problem: Value = serde_json::from_str(&run.stderr).unwrap();
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
        assert_eq!(problem["type"], "urn:svc:problem:usage");
        assert_eq!(problem["title"], "The command line is wrong");
        assert_eq!(problem["outcome"], "usage");
        assert!(problem["detail"].as_str().unwrap().starts_with(detail), "{problem}");
        assert!(problem["hint"].as_str().unwrap().contains(hint), "{problem}");
    }
}

#[test]
fn otherwise_it_is_text() {
    let desk = Desk::new(Vec::new());
    for line in ["releases list --limit x", "releases list --limit x -o table", "releases"] {
        let run = desk.run(line);
        assert_eq!((run.code, run.stdout.as_str()), (64, ""), "{run:?}");
        assert!(!run.stderr.starts_with('{') && run.stderr.lines().count() > 2, "{run:?}");
    }
    // Help that was asked for is no failure.
    let run = desk.run("releases list --help -o json");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}
