//! The gate over real sockets: what it says stands on every answer, wherever it was made.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use super::ask::{Answer, Ask, Endpoint};
use super::site::Site;

const PAGE: &str = "https://page.test";
const KEYS: &str = "the keys for checking tokens are not available; retry after the number of seconds in \
                    Retry-After";

fn call() -> Ask {
    Ask::post("/fixture/gated").header("Host", "fixture.test").header("Origin", PAGE)
}

fn assert_dressed(answer: &Answer) {
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store, no-transform"),
        ("referrer-policy", "no-referrer"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
        ("strict-transport-security", "max-age=31536000"),
        ("access-control-allow-origin", PAGE),
        ("vary", "origin"),
    ] {
        assert_eq!(answer.header(name), value, "{name}: {answer:?}");
    }
}

#[test]
fn every_answer_has_passed_the_gate() {
    let site = Site::new();
    let daemon = site.start();
    let good = || call().header("Authorization", "Bearer good");
    for (ask, status, body) in [
        (good(), 200, "https://issuer.test someone"),
        (good().body("late"), 200, "https://issuer.test someone"),
        (call(), 401, "send one bearer token in the Authorization header"),
        (call().body("x".repeat(5_000)), 413, "The body is too large"),
        (call().header("Authorization", "Bearer later"), 503, KEYS),
    ] {
        let answer = daemon.public.ask(&ask);
        assert_eq!((answer.status, answer.text().as_str()), (status, body), "{ask:?}");
        assert_dressed(&answer);
    }
    assert_eq!(
        daemon.public.ask(&call().header("Authorization", "Bearer later")).header("retry-after"),
        "7"
    );
    let preflight = Ask::new("OPTIONS", "/fixture/gated")
        .header("Host", "fixture.test")
        .header("Origin", PAGE)
        .header("Access-Control-Request-Method", "POST");
    let answer = daemon.public.ask(&preflight);
    assert_eq!(
        (answer.status, answer.header("access-control-allow-methods")),
        (204, "POST, OPTIONS")
    );
    assert_dressed(&answer);
    // A body that does not come in time: the server's own answer.
    let Endpoint::Tcp(address) = daemon.public else { panic!("no TCP") };
    let mut slow = TcpStream::connect(address).unwrap();
    let request = format!(
        "POST /fixture/gated HTTP/1.1\r\nHost: fixture.test\r\nOrigin: {PAGE}\r\n\
         Authorization: Bearer good\r\nContent-Length: 4\r\n\r\nla"
    );
    slow.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 408 ")
            && answer.ends_with("The request did not arrive in time"),
        "{answer}"
    );
    assert!(answer.contains("strict-transport-security: "), "{answer}");
    // Other routes have no gate, and other surfaces not this route.
    assert_eq!(daemon.public.ask(&Ask::get("/health/live")).header("vary"), "");
    for endpoint in daemon.operator_endpoints() {
        assert_eq!(endpoint.ask(&Ask::post("/fixture/gated")).status, 404);
    }
}

#[test]
fn a_peer_or_an_owner_that_asks_too_often_is_told_when_to_come_back_and_webhooks_are_not() {
    let site = Site::new();
    let daemon = site.start();
    let good = call().header("Authorization", "Bearer good");
    let of_owner: Vec<u16> = (0..8).map(|_| daemon.public.ask(&good).status).collect();
    assert_eq!(of_owner[..4], [200; 4]);
    assert!(of_owner.contains(&429), "{of_owner:?}");
    let refused = (0..100).map(|_| daemon.public.ask(&call())).find(|it| it.status == 429);
    let refused = refused.expect("a hundred at once are too many");
    assert!(refused.text().starts_with("too many requests; "), "{refused:?}");
    assert_eq!(refused.header("retry-after"), "1");
    assert_dressed(&refused);
    for number in 0..100 {
        super::letters::push(&daemon, &site.webhooks, number);
    }
}
