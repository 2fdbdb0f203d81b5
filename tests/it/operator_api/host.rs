//! The order of two checks of an operator's request: the token before the host, so that a caller without
//! the token does not learn which names the address answers to.

use http::Method;
use svc::http::message::{Response, Surface};

use super::with_dead_letters;
use crate::support::World;
use crate::support::world::{TOKEN, bytes, outcome};

const FOREIGN: &str = "evil.example";
const UNAUTHENTICATED: (u16, &str) = (401, "unauthenticated");
const WRONG_HOST: (u16, &str) = (400, "invalid_request");

/// Requests that need the token: routes of each kind, another method, and paths without a route.
const REQUESTS: [(&Method, &str); 9] = [
    (&Method::GET, "/api/v1/operator/installations"),
    (&Method::GET, "/api/v1/operator/slo"),
    (&Method::GET, "/api/v1/operator/installations/1/dead-letters"),
    (&Method::POST, "/api/v1/operator/installations/1/dead-letters/job/1/replay"),
    (&Method::DELETE, "/api/v1/operator/installations"),
    (&Method::GET, "/api/v1/operator/nothing/here"),
    (&Method::GET, "/api/v1/operator"),
    (&Method::PUT, "/api/v1/agent-cards/a"),
    (&Method::DELETE, "/api/v1/agent-cards/a"),
];

fn ask(
    world: &World,
    surface: Surface,
    (method, target): (&Method, &str),
    headers: &[(&str, &str)],
) -> Response {
    world.send(surface, method.clone(), target, headers, Vec::new())
}

fn check(answer: &Response, expected: (u16, &str), what: &str) {
    let (status, word) = outcome(answer);
    assert_eq!((status, word.as_str()), expected, "{what}");
}

#[test]
fn without_the_token_a_foreign_host_gets_the_answer_of_an_own_one() {
    let world = with_dead_letters(0);
    for request in REQUESTS {
        let mut answers = Vec::new();
        for authorization in [None, Some("Bearer wrong"), Some("Basic wrong")] {
            for host in [Some("localhost"), Some(FOREIGN), None] {
                let pairs = [("authorization", authorization), ("host", host)];
                let headers: Vec<_> =
                    pairs.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
                let answer = ask(&world, Surface::Operator, request, &headers);
                check(&answer, UNAUTHENTICATED, &format!("{request:?} {headers:?}"));
                answers.push((format!("{:?}", answer.headers), bytes(&answer).to_vec()));
            }
        }
        answers.dedup();
        assert_eq!(answers.len(), 1, "{request:?}");
    }
}

#[test]
fn with_the_token_a_foreign_host_is_refused_whatever_else_is_wrong() {
    let world = with_dead_letters(0);
    let bearer = format!("Bearer {TOKEN}");
    for request in REQUESTS {
        let headers = [("authorization", bearer.as_str()), ("host", FOREIGN)];
        let answer = ask(&world, Surface::Operator, request, &headers);
        check(&answer, WRONG_HOST, &format!("{request:?}"));
    }
}

#[test]
fn where_no_token_is_needed_the_host_is_checked_all_the_same() {
    let world = with_dead_letters(0);
    let bearer = format!("Bearer {TOKEN}");
    for target in ["/health/live", "/metrics", "/api/v1/agent-cards", "/nothing/here"] {
        for authorization in [bearer.as_str(), "Bearer wrong"] {
            let headers = [("authorization", authorization), ("host", FOREIGN)];
            let answer = ask(&world, Surface::Operator, (&Method::GET, target), &headers);
            check(&answer, WRONG_HOST, target);
        }
    }
}

#[test]
fn the_control_socket_accepts_any_host() {
    let world = with_dead_letters(0);
    let request = REQUESTS[0];
    let bearer = format!("Bearer {TOKEN}");
    for (authorization, status) in [(bearer.as_str(), 200), ("Bearer wrong", 401)] {
        let headers = [("authorization", authorization), ("host", FOREIGN)];
        assert_eq!(ask(&world, Surface::Control, request, &headers).status, status);
    }
}
