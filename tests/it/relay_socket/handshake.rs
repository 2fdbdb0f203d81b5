//! Who may open a socket: decided before there is any state.

use svc::demo::plugin::Plugin;
use svc::demo::plugin::device::{BrowserProfile, Host};
use svc::demo::plugin::document::Document;
use svc::demo::plugin::socket::Opening;

use super::world::{World, closed, code, refused};
use crate::daemon::ask::Ask;
use crate::daemon::wait_for;
use crate::mcp::service::Service;

/// Changes how a page opens its socket.
type Change = fn(&mut Opening);

#[test]
fn only_the_daemon_s_own_pages_may_open_a_socket() {
    let cases: [(&str, u16, Change); 11] = [
        ("no origin", 403, |opening| opening.origin = None),
        ("a foreign origin", 403, |opening| opening.origin = Some("https://evil.example".into())),
        ("a page without an origin", 403, |opening| opening.origin = Some("null".into())),
        ("another port", 403, |opening| opening.origin = Some("http://127.0.0.1:1".into())),
        ("a foreign host", 421, |opening| opening.host = "evil.example".into()),
        ("a foreign host and origin", 421, |opening| {
            opening.host = "evil.example".into();
            opening.origin = Some("http://evil.example".into());
        }),
        ("no protocol", 400, |opening| opening.protocol = None),
        ("another protocol", 400, |opening| opening.protocol = Some("svc.other.v1".into())),
        ("no version", 400, |opening| opening.protocol = Some("svc.relay.v".into())),
        ("a version that is no number", 400, |opening| {
            opening.protocol = Some("svc.relay.v1.1".into());
        }),
        ("the protocol in capitals", 400, |opening| opening.protocol = Some("SVC.RELAY.V0".into())),
    ];
    let world = World::local(&[]);
    for (what, status, change) in cases {
        let mut page = world.page();
        change(&mut page.opening);
        assert_eq!(refused(&mut page), status, "{what}");
    }
    assert_eq!(world.service.gauge("svc_relay_connections"), 0);
    let mut page = world.page();
    page.connect().unwrap();
    code(&mut page);
    assert_eq!(world.service.gauge("svc_relay_connections"), 1);
}

#[test]
fn a_plugin_of_another_version_is_told_so() {
    let world = World::local(&[]);
    for protocol in ["svc.relay.v2", "svc.relay.v0", "svc.relay.v10"] {
        let mut page = world.page();
        page.opening.protocol = Some(protocol.to_owned());
        page.connect().unwrap();
        assert_eq!(closed(&mut page), (Vec::new(), Some(4426)), "{protocol}");
        // Who may not connect is not told a version.
        let mut page = world.page();
        page.opening.protocol = Some(protocol.to_owned());
        page.opening.origin = Some("https://evil.example".into());
        assert_eq!(refused(&mut page), 403, "{protocol}");
    }
    assert_eq!(world.service.gauge("svc_relay_connections"), 0);
    assert_eq!(world.service.gauge("svc_relay_refusals_total{reason=\"version\"}"), 3);
}

#[test]
fn a_page_without_an_origin_connects_only_where_that_is_written_out() {
    let null: Change = |opening| opening.origin = Some("null".to_owned());
    let world = World::local(&[("SVC_RELAY_ORIGINS", "null")]);
    let mut page = world.page();
    // What is written out is all there is.
    assert_eq!(refused(&mut page), 403);
    null(&mut page.opening);
    page.connect().unwrap();
    code(&mut page);
}

#[test]
fn with_tokens_the_origin_is_that_of_the_public_url() {
    let world = World::with_tokens(&[]);
    let mut page = world.page();
    page.connect().unwrap();
    code(&mut page);
    for origin in ["http://svc.example", "https://svc.example:444", "https://app.example"] {
        let mut page = world.page();
        page.opening.origin = Some(origin.to_owned());
        assert_eq!(refused(&mut page), 403, "{origin}");
    }
    let mut page = world.page();
    page.opening.host = world.service.address().to_string();
    assert_eq!(refused(&mut page), 421, "the address is not the name");
}

#[test]
fn without_the_relay_there_is_no_such_route() {
    let service = Service::start(&[]);
    let mut page = page_at(&service);
    assert_eq!(refused(&mut page), 404);
}

fn page_at(service: &Service) -> Plugin {
    let opening = Opening::local(service.address());
    Plugin::new(opening, BrowserProfile::new().unwrap(), Host::new(Document::sample()), "a file")
}

#[test]
fn what_asks_for_no_socket_gets_none() {
    let world = World::local(&[]);
    let address = world.service.address().to_string();
    let get = Ask::get("/relay/v1/connect")
        .header("Host", &address)
        .header("Origin", format!("http://{address}"))
        .header("Sec-WebSocket-Protocol", "svc.relay.v1");
    let plain = world.service.daemon.public.ask(&get);
    assert_eq!((plain.status, plain.header("sec-websocket-version")), (426, "13"), "{plain:?}");
    let upgrade = get
        .without("Connection")
        .header("Upgrade", "websocket")
        .header("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
    for (version, status) in [("12", 426), ("8", 426)] {
        let ask = upgrade.clone().header("Sec-WebSocket-Version", version);
        assert_eq!(world.service.daemon.public.ask(&ask).status, status, "version {version}");
    }
    let post = world.service.daemon.public.ask(&Ask::post("/relay/v1/connect"));
    assert_eq!(post.status, 405, "{post:?}");
}

#[test]
fn there_are_only_so_many_sockets() {
    let world = World::local(&[("SVC_RELAY_CONNECTIONS_MAX", "2")]);
    let mut pages = [world.page(), world.page()];
    for page in &mut pages {
        page.connect().unwrap();
        code(page);
    }
    assert_eq!(refused(&mut world.page()), 503);
    pages[0].drop_socket();
    let mut page = world.page();
    wait_for("a place", || page.connect().is_ok().then_some(()));
    code(&mut page);
}

#[test]
fn one_peer_has_only_so_many_sockets_that_prove_nothing_and_so_many_codes() {
    let world = World::local(&[]);
    let silent = |page: &mut Plugin| page.tamper = Some(Box::new(|_| Vec::new()));
    let mut pages: Vec<Plugin> = (0..4).map(|_| world.page()).collect();
    for page in &mut pages {
        silent(page);
        page.connect().unwrap();
    }
    let mut fifth = world.page();
    assert_eq!(refused(&mut fifth), 503);
    drop(pages);
    let mut offered = Vec::new();
    for _ in 0..5 {
        let mut page = world.page();
        wait_for("a place", || page.connect().is_ok().then_some(()));
        let code = code(&mut page);
        assert!(!offered.contains(&code), "{code}");
        offered.push(code);
    }
    wait_for("a place", || fifth.connect().is_ok().then_some(()));
    let (problems, close) = closed(&mut fifth);
    assert_eq!((problems.as_slice(), close), (&["too_many_pairings".to_owned()][..], Some(4429)));
}
