//! Sessions at bad moments: a stop, two processes, a store that fails for a while, pages that freeze just then.

use std::sync::Barrier;
use std::sync::mpsc::channel;
use std::thread::scope;
use std::time::Duration;

use serde_json::json;

use super::hub::{Hub, set_text, state, who};
use super::peer::Peer;
use crate::support::world::open_raw;

#[test]
fn on_the_way_to_a_stop_what_runs_is_settled_and_nothing_is_claimed() {
    let hub = Hub::new();
    let mut peer = hub.paired(1, "ada");
    hub.relay.propose(who("ada"), peer.session, &set_text(&["one", "two"])).unwrap();
    let card = peer.next("propose");
    peer.approve(&card);
    let execute = peer.next("execute");
    hub.relay.stop();
    peer.succeed(&execute, &json!({"node": "1:2", "old": "x"})).unwrap();
    assert_eq!(peer.kinds(), ["settled"]);
    // Neither when a page that was frozen wakes up, nor at a look that has begun.
    hub.clock.advance(Duration::from_secs(1));
    hub.relay.tick();
    peer.pong();
    assert!(!peer.kinds().contains(&"execute".to_owned()));
    let states = [0, 1].map(|step| state(&hub.relay, "ada", &card["steps"][step]));
    assert_eq!(states, ["succeeded", "approved"]);
    // With its socket the right to carry it out ends: nothing of it happens after a restart.
    drop(peer.connection.take());
    assert_eq!(state(&hub.relay, "ada", &card["steps"][1]), "expired");
}

#[test]
fn a_socket_that_was_replaced_in_another_process_is_told_that_and_not_that_it_was_revoked() {
    let hub = Hub::new();
    let mut page = hub.paired(1, "ada");
    let other = hub.beside();
    // Another tab with the same file, at the other process; it is closed again at once.
    let old = page.other_tab();
    page.connect(&other).unwrap();
    assert_eq!(old.closed(), None);
    drop(page.connection.take());
    hub.tick();
    assert_eq!(old.closed(), Some(4409));
}

#[test]
fn what_was_ended_elsewhere_is_told_whether_that_was_the_session_or_the_device() {
    let hub = Hub::new();
    let [one, other] = [hub.paired(1, "ada"), hub.paired(2, "ben")];
    hub.store.relay_end_session(one.session.unwrap(), "ops:test").unwrap().unwrap();
    let ben = hub.store.relay_device(&other.point()).unwrap().unwrap();
    hub.store.relay_revoke_device(ben.id, "ops:test").unwrap().unwrap();
    hub.tick();
    assert_eq!([one.closed(), other.closed()], [Some(4404), Some(4401)]);
}

#[test]
fn sessions_of_a_process_that_was_killed_are_away_and_those_of_one_that_lives_are_not() {
    let hub = Hub::new();
    let other = hub.beside();
    let mut lives = hub.paired(1, "ada");
    let mut killed = Peer::new(2);
    killed.connect(&other).unwrap();
    killed.pair(&other, "ada");
    let proposal = hub.relay.propose(who("ada"), killed.session, &set_text(&["one"])).unwrap();
    let ids = [lives.session, killed.session];
    let states = || {
        let sessions = hub.relay.sessions(who("ada")).unwrap();
        let of = |id| sessions.iter().find(|it| Some(it.session) == id).unwrap();
        ids.map(|id| of(id).state.clone().into_owned())
    };
    // Both live: one holds no socket for a while, and the clock on the wall jumps.
    for second in 0..90 {
        match second {
            20 => drop(killed.connection.take()),
            50 => killed.connect(&other).unwrap(),
            70 => hub.clock.step_back(Duration::from_hours(1)),
            _ => {}
        }
        hub.tick();
        other.tick();
        lives.pong_if_asked();
        killed.pong_if_asked();
    }
    assert_eq!(states(), ["connected", "connected"]);
    // From here on the other process does nothing more: it is not told that its sockets have closed.
    for _ in 0..14 {
        hub.tick();
        lives.pong_if_asked();
    }
    assert_eq!(states(), ["connected", "connected"]);
    for _ in 0..10 {
        hub.tick();
        lives.pong_if_asked();
    }
    assert_eq!(states(), ["connected", "away"]);
    let refused = hub.relay.propose(who("ada"), killed.session, &set_text(&["two"]));
    assert_eq!(refused.unwrap_err().code, "session_away");
    assert_eq!(hub.relay.steps(who("ada"), proposal).unwrap()[0].state, "proposed");
    // Its page comes back to the process that is left.
    killed.connect(&hub.relay).unwrap();
    killed.next("propose");
}

#[test]
fn a_page_that_froze_while_the_store_was_unavailable_is_suspended_later() {
    let hub = Hub::new();
    let peer = hub.paired(1, "ada");
    let pings = |count| {
        for _ in 0..count {
            hub.clock.advance(Duration::from_secs(10));
            hub.relay.tick();
        }
    };
    pings(2);
    let raw = open_raw(&hub.database());
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    pings(1);
    let session = || hub.relay.sessions(who("ada")).unwrap().remove(0).state.into_owned();
    assert_eq!(session(), "connected");
    raw.execute_batch("COMMIT").unwrap();
    pings(1);
    assert_eq!(session(), "suspended");
    assert_eq!(peer.closed(), None);
}

#[test]
fn a_page_that_answers_just_when_it_is_given_up_is_connected() {
    for round in 0..40 {
        let hub = Hub::new();
        let mut peer = hub.paired(1, "ada");
        for _ in 0..2 {
            hub.clock.advance(Duration::from_secs(10));
            hub.relay.tick();
        }
        hub.clock.advance(Duration::from_secs(10));
        let (pinged, is_pinged) = channel();
        peer.tell_pings(pinged);
        scope(|threads| {
            let page = &mut peer;
            threads.spawn(move || {
                is_pinged.recv().unwrap();
                page.pong();
            });
            hub.relay.tick();
        });
        // It goes on answering.
        peer.pong();
        let session = hub.relay.sessions(who("ada")).unwrap().remove(0);
        assert_eq!(session.state, "connected", "round {round}");
    }
}

#[test]
fn codes_are_guessed_five_times_however_many_guess_at_once() {
    const GUESSERS: usize = 32;
    let hub = Hub::new();
    let both = Barrier::new(GUESSERS);
    let looked_at = scope(|threads| {
        let guesses: Vec<_> = (0..GUESSERS)
            .map(|number| {
                let (both, hub) = (&both, &hub);
                threads.spawn(move || {
                    let code = format!("0000-00{number:02}");
                    both.wait();
                    let refusal = hub.relay.claim_pairing(who("eve"), None, &code).unwrap_err();
                    refusal.code == "not_found"
                })
            })
            .collect();
        guesses.into_iter().map(|guess| guess.join().unwrap()).filter(|it| *it).count()
    });
    assert_eq!(looked_at, 5);
}
