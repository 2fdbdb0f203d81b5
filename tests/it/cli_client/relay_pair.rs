//! `svcctl relay pair`: whose token goes where, and what each answer means to the person who typed the code.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use super::canned_server::{CannedServer, Reply};
use super::{Desk, Run, TOKEN, finish};

const MINE: &str = "my.own.access-token";
const CLAIM: &str = r#"{"pairing":"0199f3a0-0000-7000-8000-00000000000a","tool":"penpot","file":"Login","expiresAt":"2026-11-21T09:30:00.000000Z"}"#;

/// What a daemon says of `/mcp`.
fn status(endpoint: &Value) -> Reply {
    let body = json!({
        "enabled": !endpoint.is_null(),
        "transports": ["stdio"],
        "defaultEra": "legacy",
        "defaultRevision": "2025-11-25",
        "modernRouting": false,
        "supportedRevisions": {"legacy": ["2025-11-25"], "modern": []},
        "endpoint": endpoint,
        "publicUrl": null,
        "authorization": null,
        "forwardingHeaders": null,
    });
    Reply::json(200, &body.to_string())
}

/// Pairs with a service that answers so, by a token in a file.
fn pair(reply: Reply, more: &str) -> (Run, CannedServer) {
    let server = CannedServer::tcp(vec![reply]);
    let desk = Desk::new(Vec::new());
    std::fs::write(desk.token_file().with_file_name("my.token"), format!("{MINE}\n")).unwrap();
    let file = desk.token_file().with_file_name("my.token");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&file, mode).unwrap();
    let args = format!("relay pair 7k2m9qxv --url {}{more}", server.url);
    let args = args.replace("FILE", file.to_str().unwrap());
    (desk.run(&args), server)
}

#[test]
fn the_token_of_the_person_goes_to_the_public_address_with_the_code() {
    let (run, server) = pair(Reply::json(200, CLAIM), " --token-file FILE -o json");
    assert_eq!(run.code, 0, "{run:?}");
    let (claim, wanted): (Value, Value) =
        (serde_json::from_str(&run.stdout).unwrap(), serde_json::from_str(CLAIM).unwrap());
    assert_eq!(claim, wanted);
    let request = server.request();
    assert_eq!(request.line(), "POST /relay/v1/pairings/claim HTTP/1.1");
    assert_eq!(request.header("authorization"), Some(&*format!("Bearer {MINE}")));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("content-length"), Some("19"));
    assert!(!format!("{run:?}").contains(MINE));
}

#[test]
fn a_token_from_standard_input_is_taken_whole() {
    let server = CannedServer::tcp(vec![Reply::json(200, CLAIM)]);
    let desk = Desk::new(Vec::new());
    let args = format!("relay pair 7K2M-9QXV --token-file - --url {}", server.url);
    let mut command = desk.command(&args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{MINE}\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8(output.stderr).unwrap().contains("confirm in the plugin"));
    assert_eq!(server.request().header("authorization"), Some(&*format!("Bearer {MINE}")));
    let empty = desk.run(&args);
    assert_eq!(empty.code, 4, "{empty:?}");
    assert!(empty.stderr.contains("standard input contains no token"), "{empty:?}");
    assert!(server.requests().is_empty());
}

#[test]
fn the_operator_s_token_is_never_sent() {
    let server = CannedServer::tcp((0..2).map(|_| Reply::json(200, CLAIM)).collect());
    let desk = Desk::new(Vec::new());
    let args = format!("relay pair 7K2M-9QXV --url {}", server.url);
    // By the file that the environment names, and by the variable.
    assert_eq!(desk.run(&args).code, 0);
    let mut command = desk.command(&args);
    command.env_remove("SVC_OPERATOR_API_TOKEN_FILE").env("SVC_OPERATOR_API_TOKEN", TOKEN);
    assert_eq!(finish(&mut command).code, 0);
    for request in [server.request(), server.request()] {
        assert_eq!(request.header("authorization"), None, "{request:?}");
    }
}

#[test]
fn over_the_control_socket_the_daemon_says_where_its_public_address_is() {
    let public = CannedServer::tcp(vec![Reply::json(200, CLAIM)]);
    let endpoint = Value::from(format!("{}/mcp", public.url));
    let desk = Desk::new(vec![status(&endpoint), status(&Value::Null)]);
    assert_eq!(desk.run("relay pair 7K2M-9QXV").code, 0);
    let request = desk.server.request();
    assert_eq!(request.line(), "GET /api/v1/mcp HTTP/1.1");
    assert_eq!(request.header("authorization"), None);
    assert_eq!(public.request().line(), "POST /relay/v1/pairings/claim HTTP/1.1");
    let off = desk.run("relay pair 7K2M-9QXV");
    assert_eq!(off.code, 1, "{off:?}");
    assert!(off.stderr.contains("SVC_RELAY") && off.stderr.contains("--url"), "{off:?}");
}

#[test]
fn a_token_is_not_sent_in_the_clear() {
    let desk = Desk::new(Vec::new());
    let run = desk.run("relay pair 7K2M-9QXV --url http://svc.example --token-file -");
    assert_eq!(run.code, 64, "{run:?}");
    assert!(run.stderr.contains("plain http would expose the token"), "{run:?}");
}

#[test]
fn each_refusal_has_an_exit_code_and_a_next_step() {
    let problem = |status: u16, outcome: &str| super::problem(status, outcome, "");
    let rpc = |status: u16| {
        Reply::json(status, r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}"#)
    };
    for (reply, token, code, said) in [
        (rpc(401), "", 4, "--token-file FILE"),
        (rpc(401), " --token-file FILE", 4, "get another one"),
        (rpc(403), " --token-file FILE", 4, "mcp:pair"),
        (problem(403, "forbidden"), " --token-file FILE", 4, "mcp:pair"),
        (problem(404, "not_found"), "", 6, "read the code from the plugin again"),
        (rpc(421), "", 1, "SVC_PUBLIC_URL"),
        (problem(429, "too_many_requests").header("retry-after", "600"), "", 75, "600 s"),
        (problem(503, "unavailable"), "", 75, "svcctl status"),
        (problem(400, "invalid_request"), "", 1, "invalid_request"),
    ] {
        let (run, _server) = pair(reply, token);
        assert_eq!(run.code, code, "{run:?}");
        assert!(run.stderr.contains(said), "{said}: {run:?}");
        assert_eq!(run.stdout, "");
    }
}
