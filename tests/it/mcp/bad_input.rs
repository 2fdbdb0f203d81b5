//! Bad input and what it gets: the status, the code, the id where there is one, and neither a session nor a word of a
//! library. Each is counted once.

use serde_json::{Value, json};

use super::service::{Service, assert_refused};
use super::{META, enveloped, initialize, request};
use crate::daemon::ask::Ask;
use svc::mcp::revision::MODERN;

const PARSE: i32 = -32_700;
const REQUEST: i32 = -32_600;
const PARAMS: i32 = -32_602;
const HEADER: i32 = -32_020;
/// A limit on bodies that is quickly reached.
const BODY_BYTES_MAX: &str = "65536";

/// A request, and the status, the code and the id of its answer.
type Row = (Ask, u16, i32, Option<Value>);

/// Sends requests in the presence of the only session there may be: another one would end it.
fn assert_rows(service: &Service, session: &str, rows: Vec<Row>) {
    for (ask, status, code, id) in rows {
        let before = service.counted();
        let answer = service.ask(&ask);
        let sent: String = format!("{ask:?}").chars().take(2_000).collect();
        assert_refused(&answer, status, code, id.as_ref(), &sent);
        assert_eq!(service.counted(), before + 1, "{sent}");
        assert!(service.has(session), "{sent}");
    }
}

fn start(settings: &[(&str, &str)]) -> (Service, String) {
    let bounds = [("SVC_MCP_SESSIONS_PER_SUBJECT", "1"), ("SVC_MCP_BODY_BYTES", BODY_BYTES_MAX)];
    let service = Service::start(&[&bounds, settings].concat());
    let session = service.begin("2025-11-25");
    (service, session)
}

fn ping(id: impl Into<Value>) -> Value {
    request(id, "ping", &json!({}))
}

#[test]
fn what_is_no_json_of_a_known_encoding() {
    let (service, session) = start(&[]);
    // An `initialize`, so that whatever is taken in by mistake makes a session.
    let id = Some(json!("begin"));
    let good = service.post(&initialize("2025-11-25"));
    let typed =
        |media_type: &[u8]| good.clone().without("Content-Type").header("Content-Type", media_type);
    let mut rows: Vec<Row> = vec![(good.clone().without("Content-Type"), 415, REQUEST, id.clone())];
    for media_type in [
        &b""[..],
        b"text/plain",
        b"application/xml",
        b"application/json-rpc",
        b"application/x-www-form-urlencoded",
        b"application/json; charset=latin1",
        b"application/json; charset=utf-16",
        b"application/json; charset=utf-8; charset=latin1",
        b"application/json\xff",
    ] {
        rows.push((typed(media_type), 415, REQUEST, id.clone()));
    }
    let twice = good.clone().header("Content-Type", "application/json");
    rows.push((twice, 415, REQUEST, id.clone()));
    for encoding in ["gzip", "br", "x"] {
        rows.push((good.clone().header("Content-Encoding", encoding), 415, REQUEST, None));
    }
    for body in [
        &b""[..],
        b" ",
        b"{",
        b"[",
        b"[1",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} x",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}{}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",}",
        b"{'jsonrpc':'2.0'}",
        b"{\"jsonrpc\":\"2.0\",\"id\":NaN}",
        b"{\"jsonrpc\":\"2.0\",\"id\":01,\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\n\"}",
        b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
        b"\xff\xfe{\0}\0",
    ] {
        rows.push((good.clone().body(body), 400, PARSE, None));
    }
    assert_rows(&service, &session, rows);
    for media_type in ["application/json;charset=UTF-8", "Application/JSON; charset=\"utf-8\"; x=y"]
    {
        let ask = service.within(&session, &ping(1)).without("Content-Type");
        assert_eq!(service.ask(&ask.header("Content-Type", media_type)).status, 200);
    }
}

#[test]
fn what_is_json_and_no_message() {
    let (service, session) = start(&[]);
    let within = |body: &str| service.within(&session, &Value::Null).body(body);
    let three = Some(json!(3));
    let mut rows = Vec::new();
    for (body, code, id) in [
        ("null", REQUEST, None),
        ("1", REQUEST, None),
        ("\"ping\"", REQUEST, None),
        ("{}", REQUEST, None),
        (r#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#, REQUEST, three.clone()),
        (r#"{"jsonrpc":2.0,"id":3,"method":"ping"}"#, REQUEST, three.clone()),
        (r#"{"id":3,"method":"ping"}"#, REQUEST, three.clone()),
        (r#"{"jsonrpc":"2.0","id":3}"#, REQUEST, three.clone()),
        (r#"{"jsonrpc":"2.0","id":3,"method":5}"#, REQUEST, three.clone()),
        (r#"{"jsonrpc":"2.0","id":3,"method":null}"#, REQUEST, three.clone()),
        (r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":[]}"#, PARAMS, three.clone()),
        (r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":"x"}"#, PARAMS, three.clone()),
        (r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":null}"#, PARAMS, three.clone()),
        (r#"{"jsonrpc":"2.0","id":3,"method":"ping","method":"ping"}"#, REQUEST, three.clone()),
        (r#"{"jsonrpc":"2.0","id":3,"method":"ping","result":{}}"#, REQUEST, three.clone()),
        (r#"{"jsonrpc":"2.0","id":3,"result":{},"error":{}}"#, REQUEST, three.clone()),
        (r#"{"jsonrpc":"2.0","result":{}}"#, REQUEST, None),
        (r#"{"jsonrpc":"2.0","id":3,"id":3,"method":"ping"}"#, REQUEST, None),
        (r#"{"jsonrpc":"2.0","id":3,"\u0069d":4,"method":"ping"}"#, REQUEST, None),
    ] {
        rows.push((within(body), 400, code, id));
    }
    let long = "x".repeat(129);
    rows.push((within(&ping(3).to_string().replace("ping", &long)), 400, REQUEST, three.clone()));
    let members: String = (0..200).map(|number| format!("\"m{number}\":0,")).collect();
    let wide = ping(3).to_string().replacen('{', &format!("{{{members}"), 1);
    rows.push((within(&wide), 400, REQUEST, three.clone()));
    for depth in [33, 1_000, 30_000] {
        let nested = format!("{}{}", "[".repeat(depth - 2), "]".repeat(depth - 2));
        let body = ping(3).to_string().replace("{}", &format!("{{\"x\":{nested}}}"));
        rows.push((within(&body), 400, REQUEST, three.clone()));
        rows.push((within(&"[".repeat(depth)), 400, REQUEST, None));
    }
    assert_rows(&service, &session, rows);
    let nested = format!("{}{}", "[".repeat(30), "]".repeat(30));
    let deep = ping(3).to_string().replace("{}", &format!("{{\"x\":{nested}}}"));
    assert_eq!(
        service.ask(&within(&deep)).json(),
        json!({"jsonrpc": "2.0", "id": 3, "result": {}})
    );
}

#[test]
fn ids_that_are_none_and_ids_that_come_back_as_they_were_written() {
    let (service, session) = start(&[]);
    let with_id = |id: &str| {
        let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}");
        service.within(&session, &Value::Null).body(body)
    };
    let long = |length: usize| format!("\"{}\"", "x".repeat(length));
    let mut rows = Vec::new();
    for id in [
        "null",
        "1.5",
        "1.0",
        "1e3",
        "-0",
        "true",
        "[]",
        "[1]",
        "{}",
        "9223372036854775808",
        "-9223372036854775809",
        "\"\\ud800\"",
    ] {
        rows.push((with_id(id), 400, REQUEST, None));
    }
    rows.push((with_id(&long(1_023)), 400, REQUEST, None));
    rows.push((with_id(&long(60_000)), 400, REQUEST, None));
    assert_rows(&service, &session, rows);
    for id in [
        "0",
        "-1",
        "1152921504606846976",
        "1152921504606846977",
        "\"\"",
        "\"\\u00e4\\n\"",
        "\"\u{1f600}\"",
    ] {
        let wanted = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}");
        assert_eq!(service.ask(&with_id(id)).text(), wanted);
    }
    assert_eq!(service.ask(&with_id(&long(1_022))).status, 200);
}

#[test]
fn batches_where_there_are_none() {
    let (service, session) = start(&[]);
    let batch = json!([ping(1), ping(2)]);
    let rows = vec![
        (service.within(&session, &batch), 400, REQUEST, None),
        (service.within(&session, &json!([])), 400, REQUEST, None),
        (service.within(&session, &json!([1])), 400, REQUEST, None),
        (service.post(&batch), 400, REQUEST, None),
        (service.post(&json!([initialize("2025-03-26")])), 400, REQUEST, None),
    ];
    assert_rows(&service, &session, rows);
}

#[test]
fn headers_that_cannot_be_read_and_bodies_that_are_not_taken() {
    let (service, session) = start(&[]);
    let (begin, one) = (service.post(&initialize("2025-11-25")), Some(json!(1)));
    let id = Some(json!("begin"));
    let mut rows = Vec::new();
    for value in [&b""[..], b"\xc3\xa4", b"2025-11-25\x80"] {
        rows.push((begin.clone().header("MCP-Protocol-Version", value), 400, PARAMS, id.clone()));
        rows.push((begin.clone().header("Mcp-Session-Id", value), 400, REQUEST, id.clone()));
        let within = service.post(&ping(1)).header("Mcp-Session-Id", value);
        rows.push((within, 400, REQUEST, one.clone()));
    }
    let version = begin.clone().header("MCP-Protocol-Version", "2025-11-25");
    let twice = version.header("MCP-Protocol-Version", "2025-11-25");
    rows.push((twice, 400, PARAMS, id.clone()));
    let twice = service.within(&session, &ping(1)).header("Mcp-Session-Id", &session);
    rows.push((twice, 400, REQUEST, one.clone()));
    // A chunked body has no length that the gate could look at.
    rows.push((begin.clone().chunked(), 411, REQUEST, None));
    rows.push((begin.clone().chunked().header("Content-Length", "1"), 411, REQUEST, None));
    let get = service.to_mcp("GET").header("Mcp-Session-Id", &session);
    rows.push((get.clone().chunked(), 411, REQUEST, None));
    rows.push((get.body("{}"), 413, REQUEST, None));
    let elsewhere = begin.clone().without("Host").header("Host", "evil.example");
    rows.push((elsewhere, 421, REQUEST, None));
    let page = begin.clone().header("Origin", "https://evil.example");
    rows.push((page, 403, REQUEST, None));
    let large = format!("{}{}", initialize("2025-11-25"), " ".repeat(65_536));
    rows.push((begin.clone().body(large), 413, REQUEST, None));
    for accept in ["text/html", "application/xml, image/*", "*/*;q=0", "application/json;q=0.0"] {
        let ask = begin.clone().without("Accept").header("Accept", accept);
        rows.push((ask, 406, REQUEST, id.clone()));
    }
    let get = service.to_mcp("GET").header("Mcp-Session-Id", &session).without("Accept");
    rows.push((get.header("Accept", "application/json"), 406, REQUEST, None));
    rows.push((service.to_mcp("PUT"), 405, REQUEST, None));
    rows.push((service.to_mcp("PATCH"), 405, REQUEST, None));
    assert_rows(&service, &session, rows);
}

#[test]
fn headers_of_the_modern_era_that_do_not_say_what_the_message_says() {
    let (service, session) = start(&[("MCP_V2_EXPERIMENTAL", "true")]);
    let call = |headers: &[(&str, &str)]| {
        let params =
            enveloped(json!({"name": "test_header", "arguments": {"region": "eu"}}), &json!({}));
        let ask = service.post(&request(1, "tools/call", &params));
        headers.iter().fold(ask, |ask, (name, value)| ask.header(name, value))
    };
    let version = ("MCP-Protocol-Version", MODERN);
    let (method, name) = (("Mcp-Method", "tools/call"), ("Mcp-Name", "test_header"));
    let region = ("Mcp-Param-Region", "eu");
    let id = Some(json!(1));
    let mut rows = Vec::new();
    for headers in [
        &[][..],
        &[version],
        &[version, method],
        &[version, method, name],
        &[method, name, region],
        &[("MCP-Protocol-Version", "2025-11-25"), method, name, region],
        &[("MCP-Protocol-Version", "2027-01-01"), method, name, region],
        &[version, version, method, name, region],
        &[version, ("Mcp-Method", "Tools/Call"), name, region],
        &[version, ("Mcp-Method", ""), name, region],
        &[version, method, method, name, region],
        &[version, method, ("Mcp-Name", "test_headers"), region],
        &[version, method, ("Mcp-Name", "=?base64?dGVzdF9oZWFkZXI?="), region],
        &[version, method, ("Mcp-Name", "=?base64?/w==?="), region],
        &[version, method, ("Mcp-Name", "=?base64?dGVzdA==?="), region],
        &[version, method, name, ("Mcp-Param-Region", "us")],
        &[version, method, name, ("Mcp-Param-Region", "=?base64?*?=")],
        &[version, method, name, region, region],
        &[version, method, name, ("Mcp-Param-Region", "\u{e4}")],
    ] {
        rows.push((call(headers), 400, HEADER, id.clone()));
    }
    assert_rows(&service, &session, rows);
    for (name, region) in [
        ("test_header", "eu"),
        ("=?base64?dGVzdF9oZWFkZXI=?=", "=?base64?ZXU=?="),
        ("  test_header ", "eu"),
    ] {
        let ask = call(&[version, method, ("Mcp-Name", name), ("Mcp-Param-Region", region)]);
        let answer = service.ask(&ask);
        assert_eq!(answer.status, 200, "{answer:?} {}", answer.text());
        assert_eq!(answer.json()["result"]["content"][0]["text"], "agreed");
    }
}

#[test]
fn an_envelope_that_is_repeated_or_damaged_is_never_taken_for_the_legacy_era() {
    for (modern, code) in [("false", PARAMS), ("true", HEADER)] {
        let (service, session) = start(&[("MCP_V2_EXPERIMENTAL", modern)]);
        let (one, begin) = (Some(json!(1)), Some(json!("begin")));
        let within = |meta: &str| {
            let params = format!("{{{meta}}}");
            service.within(&session, &Value::Null).body(ping(1).to_string().replace("{}", &params))
        };
        let version = format!("\"{META}protocolVersion\":\"{MODERN}\"");
        let capabilities = format!("\"{META}clientCapabilities\":{{}}");
        let many: String = (0..200).map(|number| format!("\"m{number}\":0,")).collect();
        let mut rows = Vec::new();
        for meta in [
            format!("\"_meta\":{{{version},{capabilities}}}"),
            format!("\"_meta\":{{{version}}}"),
            format!("\"_meta\":{{{capabilities}}}"),
            format!("\"_meta\":{{{version},{version},{capabilities}}}"),
            format!("\"_meta\":{{{version},{capabilities}}},\"_meta\":{{}}"),
            format!("\"_meta\":{{}},\"_meta\":{{{version},{capabilities}}}"),
            format!("\"_meta\":{{{many}{version},{capabilities}}}"),
        ] {
            rows.push((within(&meta), 400, code, one.clone()));
        }
        let doubled = initialize("2025-11-25").to_string().replace(
            "\"capabilities\"",
            &format!("\"_meta\":{{{version},{version}}},\"capabilities\""),
        );
        rows.push((service.post(&Value::Null).body(doubled), 400, code, begin));
        assert_rows(&service, &session, rows);
        // Other members of `_meta` claim nothing.
        let other = within("\"_meta\":{\"progressToken\":1,\"example.org/x\":{}}");
        assert_eq!(service.ask(&other).status, 200);
    }
}
