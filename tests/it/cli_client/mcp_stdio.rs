//! `svcctl mcp stdio` as a client meets it that starts it: lines in, lines out, and a service that answers from a list,
//! or not at all.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::canned_server::Reply;
use super::{Desk, Run, problem, unread};

const MODERN: &str = "2026-07-28";

pub(crate) fn request(id: u32, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

pub(crate) fn initialize(id: u32) -> Value {
    let client = json!({ "name": "test", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    request(id, "initialize", params)
}

pub(crate) fn call(id: u32, tool: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

/// Returns a request as one of the modern era.
pub(crate) fn modern(mut request: Value) -> Value {
    request["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request
}

pub(crate) fn lines(messages: &[Value]) -> Vec<u8> {
    messages.iter().map(|message| format!("{message}\n")).collect::<String>().into_bytes()
}

/// Runs a server to the end of its input; returns what it wrote, a message a line.
pub(crate) fn exchange_messages(command: &mut Command, input: &[u8]) -> (Vec<Value>, Run) {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // Written beside the reading: neither pipe takes everything.
    let writer = svc::runtime::thread::spawn("test-client", move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.unwrap().join().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let run = Run {
        code: output.status.code().unwrap(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    };
    let messages = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (messages, run)
}

/// Returns the text of a failed call.
pub(crate) fn failure(answer: &Value) -> &str {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

/// Returns the names of the tools that are listed.
pub(crate) fn tools(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// Calls both tools of a service that gives these replies; returns the answers to the calls.
fn calls(replies: Vec<Reply>) -> (Vec<Value>, Desk) {
    let desk = Desk::new(replies);
    let input = lines(&[
        initialize(1),
        call(2, "validate_agent_card", json!({ "card": "{}" })),
        call(3, "service_status", json!({})),
    ]);
    let (mut answers, run) = exchange_messages(&mut desk.command("mcp stdio"), &input);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(answers.remove(0)["result"]["protocolVersion"], "2025-11-25");
    (answers, desk)
}

#[test]
fn without_the_service_tools_are_listed_and_a_call_says_what_to_do() {
    for is_modern in [false, true] {
        let desk = Desk::new(Vec::new());
        let socket = desk.directory.path().join("unused.sock");
        let mut messages = vec![
            request(2, "tools/list", json!({})),
            call(3, "validate_agent_card", json!({ "card": "{}" })),
            call(4, "service_status", json!({})),
        ];
        let begin =
            if is_modern { request(1, "server/discover", json!({})) } else { initialize(1) };
        messages.insert(0, begin);
        if is_modern {
            messages = messages.into_iter().map(modern).collect();
        }
        let mut command = desk.command("mcp stdio");
        command.env("SVC_URL", format!("unix:{}", socket.display()));
        command.env("MCP_V2_EXPERIMENTAL", is_modern.to_string());
        let (answers, run) = exchange_messages(&mut command, &lines(&messages));
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        assert!(answers[0]["result"]["capabilities"]["tools"].is_object(), "{}", answers[0]);
        let listed = tools(&answers[1]);
        assert!(listed.contains(&"validate_agent_card") && listed.contains(&"service_status"));
        assert!(!listed.contains(&"list_design_sessions"), "the relay needs a person's account");
        let away = format!(
            "cannot reach unix:{}: No such file or directory (os error 2); check that svcd is running: \
             systemctl status svcd; start svcd if it is not running",
            socket.display()
        );
        let offline = "; or check the file without svcd: svcctl cards validate --offline FILE";
        assert_eq!(failure(&answers[2]), format!("{away}{offline}"));
        assert_eq!(failure(&answers[3]), away);
        assert_eq!(desk.server.requests().len(), 0);
    }
}

#[test]
fn what_the_service_says_is_passed_on() {
    let card = r#"{"valid":true,"variant":"current","findings":[],"truncated":false}"#;
    let readiness = json!({
        "status": "not_ready", "reconciliationConfigurationValid": false,
        "lastWorkflowReconciliationPollAt": null, "lastSuccessfulWorkflowReconciliationAt": null,
        "lastCheckRunReconciliationPollAt": null, "lastSuccessfulCheckRunReconciliationAt": null,
        "lastLifecycleReconciliationPollAt": null, "lastSuccessfulLifecycleReconciliationAt": null,
        "store": "ok", "schemaVersion": 40, "draining": false,
        "sloHealth": "degraded", "sloActiveSignals": ["dead_letters_added"],
    });
    let replies = vec![Reply::json(200, card), Reply::json(503, &readiness.to_string())];
    let (answers, desk) = calls(replies);
    let card: Value = serde_json::from_str(card).unwrap();
    assert_eq!(answers[0]["result"]["structuredContent"], card);
    assert_eq!(answers[1]["result"]["structuredContent"], readiness, "not ready is an answer");
    let asked: Vec<String> =
        desk.server.requests().iter().map(|request| request.line().to_owned()).collect();
    assert_eq!(asked, ["POST /api/v1/agent-cards/validate HTTP/1.1", "GET /health/ready HTTP/1.1"]);
}

#[test]
fn what_the_service_refuses_is_a_failure_with_the_next_step() {
    let busy = || problem(503, "unavailable", "").header("retry-after", "1");
    let (answers, desk) = calls(vec![busy(), busy()]);
    for answer in &answers {
        let text = failure(answer);
        let said = "a title (unavailable, HTTP 503); retry after 1 s";
        assert!(text.starts_with(said), "{text}");
    }
    assert_eq!(desk.server.requests().len(), 2, "each is asked once");
    let (answers, _desk) = calls(vec![Reply::json(200, "<html>"), Reply::json(404, "<html>")]);
    assert!(failure(&answers[0]).starts_with("cannot understand the response from svcd"));
    assert!(failure(&answers[1]).starts_with("HTTP 404, which is not a response from svcd"));
    // The connection is cut.
    let (answers, _desk) = calls(Vec::new());
    for answer in &answers {
        assert!(failure(answer).contains("try again"), "{answer}");
    }
}

#[test]
fn settings_that_are_wrong_end_it_and_slips_are_told() {
    let desk = Desk::new(Vec::new());
    for (name, value) in [
        ("MCP_V2_EXPERIMENTAL", "yes"),
        ("MCP_PROTOCOL_VERSION", MODERN),
        ("MCP_PROTOCOL_VERSION", "2024-10-07"),
        ("SVC_URL", "unix:relative"),
    ] {
        let (answers, run) =
            exchange_messages(desk.command("mcp stdio").env(name, value), &lines(&[initialize(1)]));
        assert_eq!((run.code, answers.len()), (64, 0), "{run:?}");
        assert!(run.stderr.contains(name), "{run:?}");
    }
    let mut command = desk.command("mcp stdio");
    let (answers, run) =
        exchange_messages(command.env("MCP_V2_EXPERIMENTL", "true"), &lines(&[initialize(1)]));
    assert_eq!((run.code, answers.len()), (0, 1));
    let warning =
        "warning: MCP_V2_EXPERIMENTL: it has no effect; did you mean MCP_V2_EXPERIMENTAL?\n";
    assert_eq!(run.stderr, warning);
}

#[test]
fn an_unknown_revision_is_offered_the_configured_one() {
    let desk = Desk::new(Vec::new());
    let mut unknown = initialize(1);
    unknown["params"]["protocolVersion"] = json!("2031-01-01");
    let mut command = desk.command("mcp stdio");
    let (answers, _) =
        exchange_messages(command.env("MCP_PROTOCOL_VERSION", "2025-03-26"), &lines(&[unknown]));
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-03-26");
}

#[test]
fn bad_lines_end_nothing_and_everything_has_an_answer() {
    let desk = Desk::new(Vec::new());
    let mut input = b"\n{\n[]\n\xff\n".to_vec();
    input.extend(vec![b' '; 5 << 20]);
    input.push(b'\n');
    input.extend(lines(&[request(1, "tools/list", json!({})), initialize(2)]));
    let (answers, run) = exchange_messages(&mut desk.command("mcp stdio"), &input);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let codes: Vec<&Value> = answers.iter().map(|answer| &answer["error"]["code"]).collect();
    assert_eq!(codes[..5], [-32_700, -32_600, -32_700, -32_600, -32_600]);
    assert_eq!(answers[4]["id"], 1);
    assert_eq!(answers[5]["result"]["protocolVersion"], "2025-11-25");
    let (answers, run) = exchange_messages(&mut desk.command("mcp stdio"), b"");
    assert_eq!((answers.len(), run.code), (0, 0), "an input that ends at once");
}

#[test]
fn the_first_message_decides_for_good() {
    let desk = Desk::new(Vec::new());
    let discover = |id| modern(request(id, "server/discover", json!({})));
    let list = |id| modern(request(id, "tools/list", json!({})));
    let run = |messages: &[Value]| {
        let mut command = desk.command("mcp stdio");
        exchange_messages(command.env("MCP_V2_EXPERIMENTAL", "true"), &lines(messages)).0
    };
    let answers = run(&[discover(1), discover(2), initialize(3), list(4)]);
    assert_eq!(answers[1]["result"]["supportedVersions"], json!([MODERN]));
    assert_eq!(answers[2]["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(answers[3]["error"]["code"], -32_602);
    let answers = run(&[list(1), initialize(2), list(3)]);
    assert_eq!(answers[1]["error"]["code"], -32_022);
    assert_eq!(answers[1]["error"]["data"]["supported"], json!([MODERN]));
    assert_eq!(tools(&answers[2]), tools(&answers[0]));
}

#[test]
fn an_output_that_is_not_read_is_a_quiet_end() {
    let desk = Desk::new(Vec::new());
    let mut command = desk.command("mcp stdio");
    command.stdin(Stdio::piped()).stdout(unread()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    drop(stdin.write_all(&lines(&[initialize(1)])));
    // Its input stays open.
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}
