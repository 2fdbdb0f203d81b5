//! What a person is told about a refused token and an installation that is not known, and how a run ends whose output
//! cannot be written.

use std::fs::OpenOptions;
use std::process::{Command, Stdio};

use super::canned_server::{CannedServer, Reply};
use super::{Desk, ID, TOKEN, finish, page, problem, unread};

/// What the service answers when it is asked for installation 42 alone.
pub(crate) fn known(installation: u64) -> Reply {
    let item = format!(r#"{{"installationId":"{installation}","account":"a","state":"active"}}"#);
    Reply::json(200, &format!(r#"{{"items":[{item}],"nextAfter":null}}"#))
}

fn full() -> Stdio {
    OpenOptions::new().write(true).open("/dev/full").unwrap().into()
}

#[test]
fn a_refused_token_is_named_by_where_it_came_from() {
    let refused = || problem(401, "unauthenticated", ",\"detail\":\"no\"");
    let hint = |origin: &str| {
        format!(
            "error: no (unauthenticated, HTTP 401)\n\
             hint: the token came from {origin}; compare it with the SVC_OPERATOR_API_TOKEN of svcd\n"
        )
    };
    let desk = Desk::new(vec![refused(), refused(), refused(), refused()]);
    let file = desk.token_file().display().to_string();
    let run = desk.run(&format!("slo --token-file {file}"));
    assert_eq!((run.code, run.stderr), (4, hint(&format!("{file} (--token-file)"))));
    let run = desk.run("slo");
    let origin = format!("{file} (SVC_OPERATOR_API_TOKEN_FILE)");
    assert_eq!((run.code, run.stderr), (4, hint(&origin)));
    let mut command = desk.command("slo");
    command.env_remove("SVC_OPERATOR_API_TOKEN_FILE").env("SVC_OPERATOR_API_TOKEN", TOKEN);
    let run = finish(&mut command);
    assert_eq!(
        (run.code, run.stderr),
        (4, hint("the environment variable SVC_OPERATOR_API_TOKEN"))
    );
    let run = desk.run("status");
    let expected = "\
error: no (unauthenticated, HTTP 401)
hint: this command sends no token; check what the proxy in front of svcd requires
";
    assert_eq!((run.code, run.stderr.as_str()), (4, expected));
}

#[test]
fn over_http_a_proxy_may_have_taken_the_token_or_refused_it() {
    let own = problem(401, "unauthenticated", "");
    let server = CannedServer::tcp(vec![own, Reply::json(401, "<html>")]);
    let desk = Desk::new(Vec::new());
    let run = || finish(desk.command("slo").env("SVC_URL", &server.url));
    let stripped = run();
    let hint = "\nhint: a proxy in between must pass on the header Authorization\n";
    assert!(stripped.stderr.ends_with(hint), "{stripped:?}");
    let other = run();
    let expected = "\
error: HTTP 401 from a proxy in front of svcd (unauthenticated, HTTP 401)
hint: the response is not from svcd; check what the proxy in front of svcd requires
";
    assert_eq!((other.code, other.stderr.as_str()), (4, expected));
}

#[test]
fn a_list_of_an_unknown_installation_says_that_it_is_unknown() {
    for list in ["dead-letters", "releases", "reconcile", "audit"] {
        let command = format!("{list} list --installation 999");
        let desk = Desk::new(vec![page(&[], None), known(1_000)]);
        let run = desk.run(&command);
        let expected = "\
error: svcd does not know installation 999
hint: list the installations it knows: svcctl installations list
";
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (6, "", expected));
        let asked = "GET /api/v1/operator/installations?limit=1&after=998 HTTP/1.1";
        assert_eq!(desk.server.requests()[1].line(), asked);

        let desk = Desk::new(vec![page(&[], None), known(999)]);
        let run = desk.run(&command);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stderr.starts_with("note: no"), "{run:?}");
    }
    let first = Desk::new(vec![page(&[], None), known(1)]);
    assert_eq!(first.run("audit list --installation 1").code, 0);
    let asked = "GET /api/v1/operator/installations?limit=1 HTTP/1.1";
    assert_eq!(first.server.requests()[1].line(), asked);
}

#[test]
fn an_item_of_an_unknown_installation_says_that_the_installation_is_unknown() {
    for command in ["dead-letters show job", "releases show", "replay job", "replay --dry-run job"]
    {
        let absent = || problem(404, "not_found", ",\"detail\":\"not there\"");
        let run = |reply: Vec<Reply>| Desk::new(reply).run(&format!("{command} {ID}"));
        let unknown = run(vec![absent(), known(43)]);
        assert_eq!(unknown.code, 6, "{unknown:?}");
        let error = "error: svcd does not know installation 42\n";
        assert!(unknown.stderr.contains(error), "{unknown:?}");
        // Where it is known, or cannot be asked for, the item is what is not there.
        for replies in [vec![absent(), known(42)], vec![absent()]] {
            let missing = run(replies);
            assert_eq!(missing.code, 6, "{missing:?}");
            assert!(missing.stderr.contains("error: not there (not_found"), "{missing:?}");
        }
    }
}

#[test]
fn what_cannot_be_printed_is_74_for_help_and_version_too() {
    let desk = Desk::new(Vec::new());
    for args in ["--help", "--version", "help replay", "replay --help", "completions bash"] {
        let run = finish(desk.command(args).stdout(full()));
        assert_eq!(run.code, 74, "{args}: {run:?}");
        assert!(run.stderr.starts_with("error: cannot write the output: "), "{args}: {run:?}");
        // One who reads no further wants no more.
        let status = desk.command(args).stdout(unread()).status().unwrap();
        assert_eq!(status.code(), Some(0), "{args}");
    }
    let status = desk.command("--no-such-option").stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(64), "the command line is still wrong");
}

#[test]
fn what_svcd_cannot_print_is_74() {
    let svcd = |args: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_svcd"));
        command.env_clear().args(args.split_whitespace()).stdin(Stdio::null());
        command
    };
    for args in ["--help", "--version", "help check-config"] {
        let run = finish(svcd(args).stdout(full()));
        assert_eq!(run.code, 74, "{args}: {run:?}");
        assert!(run.stderr.starts_with("svcd: cannot write the output: "), "{args}: {run:?}");
        assert_eq!(svcd(args).stdout(unread()).status().unwrap().code(), Some(0), "{args}");
        assert_eq!(finish(&mut svcd(args)).code, 0, "{args}");
    }
    let wrong = finish(&mut svcd("--no-such-option"));
    assert_eq!((wrong.code, wrong.stdout.as_str()), (2, ""));
}
