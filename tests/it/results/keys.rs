//! Results that are signed with a key the service does not know yet, while others send unknown keys.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use http::header::RETRY_AFTER;
use svc::simulator::Issuer;

use super::{Attempt, body, everything, outcome, post, started};
use crate::support::World;
use crate::support::world::KEY_ID;

const STRANGER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const RUNNER: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 7));

/// Sends the run's result, signed under a key id; returns status, outcome and `Retry-After`.
fn send(world: &mut World, peer: IpAddr, attempt: &Attempt, key_id: &str) -> (u16, String, u64) {
    world.peer = Some(peer);
    let body = body("accepted");
    let mut header = Issuer::header();
    header["kid"] = key_id.into();
    let token = Issuer::sign(&header, &attempt.claims(world, &body, "t1"));
    let answer = post(world, &attempt.target(), &token, &body);
    let (status, outcome) = outcome(&answer);
    let after = answer.headers.get(RETRY_AFTER).map_or("0", |it| it.to_str().unwrap());
    (status, outcome, after.parse().unwrap())
}

fn rotate(world: &World) {
    *world.key_ids.lock().unwrap() = vec![KEY_ID, "rotated"];
}

#[test]
fn a_key_the_issuer_does_not_have_is_refused_whatever_its_id() {
    let (mut world, attempt) = started();
    let before = everything(&world);
    for id in [
        "other",
        "../simulated-key",
        "simulated-key\u{0}",
        "/dev/null",
        "simulated-key ",
        "' OR 1=1 --",
        "Simulated-key",
    ] {
        let told = send(&mut world, RUNNER, &attempt, id);
        assert_eq!(told, (401, "unauthenticated".to_owned(), 0), "{id:?}");
        world.clock.advance(Duration::from_mins(1));
    }
    assert_eq!(everything(&world), before);
}

#[test]
fn a_key_that_may_not_be_asked_for_yet_is_no_refusal() {
    let (mut world, attempt) = started();
    for number in 0..2 {
        let told = send(&mut world, RUNNER, &attempt, &format!("unknown-{number}"));
        assert_eq!((told.0, told.1.as_str()), (401, "unauthenticated"), "it was asked for");
    }
    rotate(&world);
    let (status, outcome, after) = send(&mut world, RUNNER, &attempt, "rotated");
    assert_eq!((status, outcome.as_str(), after), (503, "unavailable", 60));
    world.clock.advance(Duration::from_secs(after - 1));
    assert_eq!(send(&mut world, RUNNER, &attempt, "rotated").2, 1);
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(send(&mut world, RUNNER, &attempt, "rotated").1, "recorded");
}

#[test]
fn a_stranger_with_unknown_keys_keeps_a_rotated_key_from_no_other() {
    let (mut world, attempt) = started();
    for number in 0..100 {
        send(&mut world, STRANGER, &attempt, &format!("unknown-{number}"));
    }
    rotate(&world);
    assert_eq!(send(&mut world, RUNNER, &attempt, "rotated").1, "recorded");
}

#[test]
fn strangers_of_many_addresses_keep_a_rotated_key_out_for_seconds() {
    let (mut world, attempt) = started();
    for number in 0..100 {
        let stranger = Ipv4Addr::new(192, 0, 2, number).into();
        send(&mut world, stranger, &attempt, "unknown");
    }
    rotate(&world);
    let (status, _, after) = send(&mut world, RUNNER, &attempt, "rotated");
    assert_eq!((status, after), (503, 10));
    world.clock.advance(Duration::from_secs(after));
    let another = Ipv4Addr::new(203, 0, 113, 9).into();
    assert_eq!(send(&mut world, another, &attempt, "unknown").0, 401, "whichever was first");
    assert_eq!(send(&mut world, RUNNER, &attempt, "rotated").1, "recorded", "brought it for all");
}
