//! How the service is reached, and where the token may and may not go.

use std::os::unix::net::UnixListener;

use super::canned_server::{CannedServer, Reply};
use super::refusals::known;
use super::{Desk, ID, TOKEN, finish, page};

#[test]
fn a_request_shows_the_token_in_its_header_only() {
    let desk = Desk::new(vec![page(&[], None), known(42)]);
    assert_eq!(desk.run("dead-letters list").code, 0);
    let request = desk.server.request();
    let target = "GET /api/v1/operator/installations/42/dead-letters?limit=50 HTTP/1.1";
    assert_eq!(request.line(), target);
    assert_eq!(request.header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
    assert_eq!(request.header("connection"), Some("close"));
    assert_eq!(request.header("host"), Some("localhost"));
}

#[test]
fn tcp_works_like_the_socket() {
    let desk = Desk::new(Vec::new());
    let server = CannedServer::tcp(vec![page(&[], None), known(42)]);
    let run = finish(desk.command("dead-letters list").env("SVC_URL", &server.url));
    assert_eq!((run.code, run.stderr.as_str()), (0, "note: no dead letters\n"));
    assert_eq!(server.request().header("authorization"), Some(&*format!("Bearer {TOKEN}")));
}

#[test]
fn a_redirect_does_not_get_the_token() {
    let other = CannedServer::tcp(vec![page(&[], None)]);
    let moved = Reply::json(307, "{}").header("Location", &format!("{}/x", other.url));
    let desk = Desk::new(vec![moved]);
    assert_eq!(desk.run("dead-letters list").code, 65);
    assert!(other.requests().is_empty());
}

#[test]
fn a_service_that_hangs_is_given_up_in_time() {
    let desk = Desk::new(Vec::new());
    let path = desk.directory.path().join("hung.sock");
    let _never_accepts = UnixListener::bind(&path).unwrap();
    let run = desk.run(&format!("status --timeout 1 --url unix:{}", path.display()));
    assert_eq!(run.code, 75, "{run:?}");
    assert!(run.stderr.starts_with("error: lost the connection to unix:"), "{}", run.stderr);
}

#[test]
fn a_token_others_can_read_is_refused_before_anything_is_sent() {
    let desk = Desk::new(vec![page(&[], None)]);
    desk.write_token(0o644);
    let run = desk.run("dead-letters list");
    assert_eq!(run.code, 74);
    assert!(run.stderr.contains("run: chmod o-rwx on it\n"), "{}", run.stderr);
    assert!(run.stderr.contains("hint: replace the token too"), "{}", run.stderr);
    assert!(!run.stderr.contains(TOKEN));
    assert!(desk.server.requests().is_empty());
}

#[test]
fn the_token_is_never_taken_from_the_command_line_or_the_address() {
    let desk = Desk::new(Vec::new());
    for args in [
        format!("dead-letters list --token {TOKEN}"),
        format!("dead-letters list --url http://me:{TOKEN}@localhost"),
        format!("dead-letters list --url http://localhost?token={TOKEN}"),
        "dead-letters list --url http://ops.example".to_owned(),
    ] {
        let run = desk.run(&args);
        assert_eq!(run.code, 64, "{run:?}");
        assert!(!run.stderr.contains(TOKEN), "{run:?}");
    }
}

#[test]
fn the_token_may_come_from_the_environment_and_help_does_not_show_it() {
    let desk = Desk::new(vec![page(&[], None), known(42)]);
    let with_variable = |args| {
        let mut command = desk.command(args);
        command.env_remove("SVC_OPERATOR_API_TOKEN_FILE").env("SVC_OPERATOR_API_TOKEN", TOKEN);
        finish(&mut command)
    };
    assert_eq!(with_variable("dead-letters list").code, 0);
    assert_eq!(desk.server.request().header("authorization"), Some(&*format!("Bearer {TOKEN}")));
    let help = with_variable("--help");
    assert_eq!(help.code, 0);
    assert!(help.stdout.contains("Exit codes:") && !help.stdout.contains(TOKEN));
}

#[test]
fn without_a_token_nothing_is_sent() {
    let desk = Desk::new(vec![page(&[], None)]);
    let mut command = desk.command("dead-letters list");
    let run = finish(command.env_remove("SVC_OPERATOR_API_TOKEN_FILE"));
    assert_eq!(run.code, 4, "{run:?}");
    assert!(run.stderr.contains("--token-file"), "{}", run.stderr);
    assert!(desk.server.requests().is_empty());
}

#[test]
fn a_service_that_is_not_there_is_unreachable() {
    let desk = Desk::new(Vec::new());
    let run = desk.run("status --url unix:/nonexistent/svcd.sock");
    let expected = "\
error: cannot reach unix:/nonexistent/svcd.sock: No such file or directory (os error 2)
hint: check that svcd is running: systemctl status svcd
";
    assert_eq!((run.code, run.stderr.as_str()), (69, expected));
    assert_eq!(desk.run(&format!("replay job {ID} --url unix:/nonexistent")).code, 69);
}
