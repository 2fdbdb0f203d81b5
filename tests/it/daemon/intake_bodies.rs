//! Webhook bodies that are signed and not what they should be. None may cost more than its answer.

use svc::simulator::Webhook;

use super::ask::Ask;
use super::commit;
use super::process::{Daemon, delivery};
use super::site::Site;

fn signed(id: &str, body: impl AsRef<[u8]>) -> Ask {
    delivery(id, &Webhook { event: "push", body: body.as_ref().to_vec() })
}

fn text(site: &Site, number: usize) -> String {
    let push = site.webhooks.push_tag(&format!("v{number}"), &commit(number));
    String::from_utf8(push.body).unwrap()
}

fn assert_usual(site: &Site, daemon: &mut Daemon, number: usize) {
    assert!(daemon.is_running(), "{}", daemon.log());
    assert!(!daemon.log().contains("panicked"), "{}", daemon.log());
    let answer = daemon.public.ask(&signed(&format!("usual-{number}"), text(site, number)));
    assert_eq!(answer.status, 202, "{answer:?}");
}

#[test]
fn what_is_not_one_json_object_is_refused() {
    let site = Site::new();
    let mut daemon = site.start();
    let whole = text(&site, 1);
    let twice = |field: &str| format!("{{{field},{}", &whole[1..]);
    let bad = |bytes: &[u8]| [b"{\"marked\":\"".as_slice(), bytes, b"\"}"].concat();
    for (what, body) in [
        ("nothing", Vec::new()),
        ("a blank", b" ".to_vec()),
        ("half", whole.as_bytes()[..whole.len() / 2].to_vec()),
        ("an array", format!("[{whole}]").into_bytes()),
        ("null", b"null".to_vec()),
        ("a number", b"1".to_vec()),
        ("a string", b"\"marked\"".to_vec()),
        ("a form", b"payload=%7B%7D".to_vec()),
        ("two objects", format!("{whole}{whole}").into_bytes()),
        ("a word behind", format!("{whole} marked").into_bytes()),
        ("a comma behind", b"{\"a\":1,}".to_vec()),
        ("a comment", b"{/* marked */}".to_vec()),
        ("a byte-order mark", [b"\xef\xbb\xbf".as_slice(), whole.as_bytes()].concat()),
        ("UTF-16", whole.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("invalid UTF-8", bad(b"\xff\xfe")),
        ("an overlong form", bad(b"\xc0\xaf")),
        ("a raw surrogate", bad(b"\xed\xa0\x80")),
        ("a raw line end", bad(b"a\nb")),
        ("a zero byte", bad(b"\0")),
        ("NaN", b"{\"a\":NaN}".to_vec()),
        ("two refs", twice("\"ref\":\"refs/tags/v9\"").into_bytes()),
        ("an escaped second ref", twice("\"r\\u0065f\":\"refs/tags/v9\"").into_bytes()),
        ("two installations", twice("\"installation\":{\"id\":1}").into_bytes()),
        (
            "two ids inside",
            whole.replace("\"installation\":{", "\"installation\":{\"id\":1,").into_bytes(),
        ),
    ] {
        let answer = daemon.public.ask(&signed("the-id", body));
        answer.assert_problem(400, "invalid_request", what);
        assert!(!answer.text().contains("marked"), "{what}: {}", answer.text());
    }
    assert_eq!(daemon.metric(r#"svc_deliveries_total{outcome="unusable"}"#), 24);
    assert_usual(&site, &mut daemon, 1);
}

#[test]
fn depth_and_size_cost_nothing() {
    let site = Site::new();
    let mut daemon = site.start();
    let whole = text(&site, 1);
    for depth in [100, 127, 128, 1_000, 20_000, 1_000_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let core = if open == "[" { "" } else { "1" };
            let deep = format!("{}{core}{}", open.repeat(depth), close.repeat(depth));
            for (number, body) in
                [deep.clone(), format!("{{\"x\":{deep},{}", &whole[1..]), open.repeat(depth)]
                    .into_iter()
                    .enumerate()
            {
                let id = format!("deep-{depth}-{number}-{}", open.len());
                let answer = daemon.public.ask(&signed(&id, body));
                assert!([200, 202, 400].contains(&answer.status), "{id}: {answer:?}");
            }
        }
    }
    let many: Vec<String> = (0..50_000).map(|number| format!("\"k{number}\":1")).collect();
    let wide = format!("{{{},{}", many.join(","), &whole[1..]);
    assert_eq!(daemon.public.ask(&signed("wide", wide)).status, 202);
    let long = format!("{{\"x\":\"{}\",{}", "y".repeat(1 << 20), &whole[1..]);
    assert_eq!(daemon.public.ask(&signed("long", long)).status, 202);
    assert_usual(&site, &mut daemon, 2);
}

#[test]
fn strange_values_count_as_absent() {
    let site = Site::new();
    let mut daemon = site.start();
    let whole = text(&site, 1);
    let sha = commit(1);
    for (number, (from, to)) in [
        ("\"id\":4711", "\"id\":4711.0"),
        ("\"id\":4711", "\"id\":\"4711\""),
        ("\"id\":4711", "\"id\":-4711"),
        ("\"id\":4711", "\"id\":1e999"),
        ("\"id\":4711", "\"id\":99999999999999999999"),
        ("\"id\":4711", "\"id\":null"),
        ("refs/tags/v1", "refs/tags/v1\\u0000"),
        ("refs/tags/v1", "refs/tags/v1\\ud800"),
        ("refs/tags/v1", "refs/tags/v1\\n"),
        ("acme/site", "acme/../site"),
        ("acme/site", "acme/si?te"),
        ("\"head_commit\":", "\"head_commit\":[],\"y\":"),
    ]
    .into_iter()
    .enumerate()
    {
        let body = whole.replace(from, to);
        assert_ne!(body, whole, "{from}");
        let answer = daemon.public.ask(&signed(&format!("strange-{number}"), body));
        assert!([200, 400, 202].contains(&answer.status), "{to}: {answer:?}");
        if !to.starts_with("\"head_commit") {
            assert_ne!(answer.status, 202, "{to}");
        }
    }
    let short = whole.replace(&sha, &sha[..39]);
    assert_ne!(daemon.public.ask(&signed("short-sha", short)).status, 202);
    assert_usual(&site, &mut daemon, 3);
}

#[test]
fn a_body_has_a_limit() {
    let mut site = Site::new();
    site.set("SVC_WEBHOOK_BODY_BYTES", "2048");
    let daemon = site.start();
    let whole = text(&site, 1);
    let padded = |length: usize| format!("{whole}{}", " ".repeat(length - whole.len()));
    assert_eq!(daemon.public.ask(&signed("largest", padded(2_048))).status, 202);
    for ask in [
        signed("larger", padded(2_049)),
        signed("much-larger", padded(1 << 20)),
        signed("declared", padded(2_048)).header("Content-Length", "2049"),
        signed("declared-much", "").header("Content-Length", "99999999999999"),
    ] {
        daemon.public.ask(&ask).assert_problem(413, "payload_too_large", "a large body");
    }
    for (method, status) in [("GET", 405), ("PUT", 405), ("HEAD", 405), ("OPTIONS", 405)] {
        let answer = daemon.public.ask(&Ask::new(method, "/webhooks/forge"));
        assert_eq!((answer.status, answer.header("allow")), (status, "POST"), "{method}");
    }
    for path in [
        "/webhooks/forge/",
        "/webhooks",
        "/Webhooks/forge",
        "/webhooks/%66orge",
        "//webhooks/forge",
    ] {
        let answer = daemon.public.ask(&Ask::post(path));
        answer.assert_problem(404, "not_found", path);
    }
}
