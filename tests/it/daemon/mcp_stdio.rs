//! `svcctl mcp stdio` with the real daemon behind it, which comes and goes.

use serde_json::{Value, json};

use super::site::Site;
use crate::cli_client::mcp_stdio::{
    call, exchange_messages, failure, initialize, lines, modern, request,
};

const CARD: &str = include_str!("../../data/cards/files/.well-known/agent-card.json");

/// Calls both tools in an era.
fn calls(site: &Site, is_modern: bool) -> [Value; 2] {
    let mut messages = vec![
        call(2, "validate_agent_card", json!({ "card": CARD })),
        call(3, "service_status", json!({})),
    ];
    if is_modern {
        messages.insert(0, request(1, "server/discover", json!({})));
        messages = messages.into_iter().map(modern).collect();
    } else {
        messages.insert(0, initialize(1));
    }
    let mut command = site.command(env!("CARGO_BIN_EXE_svcctl"));
    command.args(["mcp", "stdio", "--url", &format!("unix:{}", site.socket().display())]);
    command.env("MCP_V2_EXPERIMENTAL", is_modern.to_string());
    let (mut answers, run) = exchange_messages(&mut command, &lines(&messages));
    assert_eq!((run.code, run.stderr.as_str(), answers.len()), (0, "", 3));
    let status = answers.pop().unwrap();
    [answers.pop().unwrap(), status]
}

#[test]
fn both_tools_ask_the_daemon_in_both_eras_while_it_is_there() {
    let site = Site::new();
    for is_modern in [false, true] {
        let [card, status] = calls(&site, is_modern);
        assert!(failure(&card).contains("svcctl cards validate --offline"), "{card}");
        assert!(failure(&status).contains("start svcd"), "{status}");
        let mut daemon = site.start();
        let [card, status] = calls(&site, is_modern);
        let report = &card["result"]["structuredContent"];
        assert!(report["findings"].is_array(), "{card}");
        assert_eq!(status["result"]["structuredContent"]["status"], "ready", "{status}");
        let offline = svc::card::check(CARD.as_bytes());
        let offline = svc::api::CardReport::new(offline, None);
        assert_eq!(*report, serde_json::to_value(offline).unwrap());
        daemon.kill();
        let [_, status] = calls(&site, is_modern);
        assert!(failure(&status).contains("start svcd"), "{status}");
    }
}
