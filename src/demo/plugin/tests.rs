//! The plugin and a daemon that sends what a test has it send: what the plugin does, and what it refuses.

use serde_json::{Map, json};

use super::document::Document;
use super::double::{Daemon, PATIENCE, answer};
use super::event::{Cut, Event, Point};
use super::socket::OpenError;
use super::{At, Error, Plugin};
use crate::domain::id::{InvocationId, PairingId};
use crate::domain::relay::CardDecision;
use crate::relay::action::DesignAction;
use crate::relay::code::PairingCode;
use crate::relay::digest;
use crate::relay::frame::{
    self, Claimed, FromDaemon, FromPlugin, Line, Nonce, Ping, Ready, Settled,
};
use crate::relay::proof::{self, DaemonKey, DecisionText};
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::thread;

fn set_title(daemon: &mut Daemon, text: &str) -> frame::Step {
    daemon.step(DesignAction::SetText, json!({"node": Document::TITLE, "text": text}))
}

fn title(plugin: &Plugin) -> String {
    plugin.host().open().document.node(Document::TITLE).unwrap().text.clone().unwrap()
}

#[test]
fn pairs_and_answers_pings() {
    let mut daemon = Daemon::new();
    let mut plugin = daemon.plugin();
    daemon.accept(&mut plugin);
    daemon.challenge(&mut plugin);
    let (pairing, now): (PairingId, _) = (daemon.id(), SystemClock::new().now());
    let code: PairingCode = "7K2M-9QXV".parse().unwrap();
    daemon.send(&FromDaemon::Pairing(frame::Pairing { pairing, code, expires_at: now }));
    assert_eq!(plugin.pump(PATIENCE), Event::Code("7K2M-9QXV".to_owned()));
    let (account, client) = (Line::new("Ada"), Line::new("an agent"));
    daemon.send(&FromDaemon::Claimed(Claimed { pairing, account, client }));
    assert!(matches!(plugin.pump(PATIENCE), Event::Claimed { account, .. } if account == "Ada"));
    plugin.confirm(true);
    let FromPlugin::Confirm(confirm) = daemon.frame() else { panic!("no answer") };
    let text = proof::confirm_text(daemon.nonce.as_ref().unwrap(), pairing, true);
    assert!(proof::is_signed(&plugin.device().key(), &text, &confirm.signature));
    let (session, account) = (daemon.session, Line::new("Ada"));
    daemon.send(&FromDaemon::Ready(Ready { session, epoch: 1, account }));
    assert_eq!(plugin.pump(PATIENCE), Event::Ready { session, epoch: 1 });
    assert_eq!(plugin.device().daemon().as_ref(), Some(daemon.key.public()));
    daemon.send(&FromDaemon::Ping(Ping { n: 7 }));
    assert_eq!(plugin.pump(PATIENCE), Event::Ping(7));
    assert!(matches!(daemon.frame(), FromPlugin::Pong(pong) if pong.n == 7));
}

#[test]
fn shows_what_will_happen_acts_once_and_undoes() {
    let mut daemon = Daemon::new();
    let mut plugin = daemon.plugin();
    daemon.ready(&mut plugin);
    let session = daemon.session;
    let step = set_title(&mut daemon, "Sign in");
    let proposal = daemon.propose(&mut plugin, vec![step.clone()]);
    let card = plugin.card(proposal).unwrap();
    let row = ("text".to_owned(), Some("Log in".to_owned()), "Sign in".to_owned());
    assert_eq!(card.lines[0].rows, [row]);
    assert_eq!(title(&plugin), "Log in");
    plugin.decide(proposal, CardDecision::Approved);
    let FromPlugin::Decision(decision) = daemon.frame() else { panic!("no decision") };
    let text = DecisionText {
        session,
        epoch: 1,
        proposal,
        arguments: &[step.arguments_sha256],
        preview: decision.preview_sha256,
        decision: decision.decision,
        by: decision.by,
    };
    assert!(proof::is_signed(&plugin.device().key(), &text.text(), &decision.signature));
    let grant = daemon.id();
    let ended = daemon.execute(&mut plugin, grant, &step);
    assert_eq!(ended, Event::Ended(grant, step.invocation, frame::Outcome::Succeeded));
    let value = daemon.result().value.unwrap();
    assert_eq!(value, json!({"node": Document::TITLE, "old": "Log in"}));
    assert_eq!((plugin.host().times(grant), title(&plugin).as_str()), (1, "Sign in"));
    assert!(plugin.device().has_entry(grant));
    daemon.send(&FromDaemon::Settled(Settled { grant }));
    assert_eq!(plugin.pump(PATIENCE), Event::Settled(grant));
    assert!(!plugin.device().has_entry(grant));

    assert_eq!(daemon.execute(&mut plugin, grant, &step), Event::Refused("not_approved"));
    assert_eq!(daemon.close_code(), Some(4403));
    assert_eq!(plugin.host().times(grant), 1);
    assert!(plugin.host().open().document.undo());
    assert_eq!(title(&plugin), "Log in");
}

#[test]
fn runs_nothing_that_was_not_approved_here_as_it_stood_on_the_card() {
    type Lie = fn(&mut Daemon, &mut Plugin, &frame::Step) -> frame::Step;
    let lies: [(&str, Lie); 3] = [
        ("never approved", |_, _, step| step.clone()),
        ("another digest", |daemon, plugin, step| {
            let proposal = plugin.undecided()[0];
            plugin.decide(proposal, CardDecision::Approved);
            assert!(matches!(daemon.frame(), FromPlugin::Decision(_)));
            frame::Step {
                arguments_sha256: digest::arguments("set_text", &Map::new()),
                ..step.clone()
            }
        }),
        ("of an earlier socket", |daemon, plugin, step| {
            let proposal = plugin.undecided()[0];
            plugin.decide(proposal, CardDecision::Approved);
            plugin.reload();
            daemon.ready(plugin);
            step.clone()
        }),
    ];
    for (lie, tell) in lies {
        let mut daemon = Daemon::new();
        let mut plugin = daemon.plugin();
        daemon.ready(&mut plugin);
        let step = set_title(&mut daemon, "Sign in");
        daemon.propose(&mut plugin, vec![step.clone()]);
        let (told, grant) = (tell(&mut daemon, &mut plugin, &step), daemon.id());
        let event = daemon.execute(&mut plugin, grant, &told);
        assert_eq!(event, Event::Refused("not_approved"), "{lie}");
        assert_eq!(title(&plugin), "Log in", "{lie}");
        assert!(!plugin.device().has_entry(grant), "{lie}");
    }
}

#[test]
fn what_was_taken_back_fails_and_what_has_changed_is_stale() {
    let mut daemon = Daemon::new();
    let mut plugin = daemon.plugin();
    daemon.ready(&mut plugin);
    let step = set_title(&mut daemon, "Sign in");
    for (word, outcome) in
        [("stopped", frame::Outcome::Failed), ("target_changed", frame::Outcome::Stale)]
    {
        let step = frame::Step { invocation: daemon.id::<InvocationId>(), ..step.clone() };
        let proposal = daemon.propose(&mut plugin, vec![step.clone()]);
        plugin.decide(proposal, CardDecision::Approved);
        assert!(matches!(daemon.frame(), FromPlugin::Decision(_)));
        if outcome == frame::Outcome::Failed {
            plugin.decide(proposal, CardDecision::Denied);
            assert!(matches!(daemon.frame(), FromPlugin::Decision(_)));
        } else {
            plugin.host().open().document.type_text(Document::TITLE, "by hand");
        }
        let grant = daemon.id();
        daemon.execute(&mut plugin, grant, &step);
        let result = daemon.result();
        assert_eq!((result.outcome, result.error.unwrap().code.as_str()), (outcome, word));
        assert_eq!(plugin.host().times(grant), 0);
    }
    assert_eq!(title(&plugin), "by hand");
}

#[test]
fn the_journal_tells_what_a_cut_connection_or_a_dead_page_did_not() {
    for (point, cut, journal, times) in [
        (Point::Told, Cut::Page, None, 0),
        (Point::Begun, Cut::Page, Some("begun"), 0),
        (Point::Done, Cut::Page, Some("begun"), 1),
        (Point::Noted, Cut::Page, Some("succeeded"), 1),
        (Point::Begun, Cut::Connection, Some("succeeded"), 1),
        (Point::Noted, Cut::Connection, Some("succeeded"), 1),
    ] {
        let mut daemon = Daemon::new();
        let mut plugin = daemon.plugin();
        daemon.ready(&mut plugin);
        let at: At = Box::new(move |now, _| if now == point { cut } else { Cut::Nothing });
        plugin.at = Some(at);
        let step = set_title(&mut daemon, "Sign in");
        let proposal = daemon.propose(&mut plugin, vec![step.clone()]);
        plugin.decide(proposal, CardDecision::Approved);
        assert!(matches!(daemon.frame(), FromPlugin::Decision(_)));
        let grant = daemon.id();
        assert_eq!(daemon.execute(&mut plugin, grant, &step), Event::Cut, "{point:?} {cut:?}");
        assert_eq!(plugin.host().times(grant), times, "{point:?} {cut:?}");
        let entries = plugin.device().journal(Some(daemon.session));
        let entry = entries.first().map(|entry| entry.outcome.as_str());
        assert_eq!(entry, journal, "{point:?} {cut:?}");
        plugin.at = None;
        while plugin.pump(PATIENCE) != Event::Closed(None) {}
        daemon.ready(&mut plugin);
        if cut == Cut::Connection {
            assert_eq!(daemon.result().outcome, frame::Outcome::Succeeded);
        }
    }
}

#[test]
fn each_step_may_name_what_an_earlier_one_made() {
    let mut daemon = Daemon::new();
    let mut plugin = daemon.plugin();
    daemon.ready(&mut plugin);
    let place = json!({"x": 1, "y": 2.5, "width": 30, "height": 40});
    let mut steps = vec![daemon.step(DesignAction::CreateFrame, place.clone())];
    let mut inside = place;
    inside["parent"] = json!({"step": 0});
    steps.push(daemon.step(DesignAction::CreateRectangle, inside));
    steps
        .push(daemon.step(DesignAction::SetFill, json!({"node": {"step": 1}, "color": "#00ff00"})));
    steps.push(daemon.step(DesignAction::DeleteNode, json!({"node": {"step": 0}})));
    let proposal = daemon.propose(&mut plugin, steps.clone());
    plugin.decide(proposal, CardDecision::Approved);
    assert!(matches!(daemon.frame(), FromPlugin::Decision(_)));
    let grant = daemon.id();
    assert_eq!(daemon.execute(&mut plugin, grant, &steps[0]).clone(), {
        Event::Ended(grant, steps[0].invocation, frame::Outcome::Succeeded)
    });
    let frame = daemon.result().value.unwrap()["node"].clone();
    for step in &steps[1..] {
        let grant = daemon.id();
        daemon.execute(&mut plugin, grant, step);
        let result = daemon.result();
        assert_eq!(result.outcome, frame::Outcome::Succeeded);
        let value = result.value.unwrap();
        assert_eq!(step.action.check_result(&value), Ok(()), "{value}");
        if step.action == DesignAction::DeleteNode {
            assert_eq!(value, json!({"node": frame, "deleted": 2}));
        }
    }
    assert_eq!(plugin.host().open().document.len(), 3);
}

#[test]
fn no_step_runs_before_the_one_in_front_of_it() {
    let mut daemon = Daemon::new();
    let mut plugin = daemon.plugin();
    daemon.ready(&mut plugin);
    let steps = vec![set_title(&mut daemon, "one"), set_title(&mut daemon, "two")];
    let proposal = daemon.propose(&mut plugin, steps.clone());
    plugin.decide(proposal, CardDecision::Approved);
    assert!(matches!(daemon.frame(), FromPlugin::Decision(_)));
    let grant = daemon.id();
    assert_eq!(daemon.execute(&mut plugin, grant, &steps[1]), Event::Refused("not_approved"));
    assert_eq!(title(&plugin), "Log in");
}

#[test]
fn only_the_daemon_it_was_paired_with_is_answered() {
    let mut daemon = Daemon::new();
    let mut plugin = daemon.plugin();
    daemon.ready(&mut plugin);
    daemon.key = DaemonKey::read(&DaemonKey::generate().unwrap()).unwrap();
    daemon.accept(&mut plugin);
    let nonce = Nonce::new(&daemon.ids.bytes());
    let (hello, text) = daemon.hello.as_ref().unwrap();
    let signed = proof::challenge_text(&hello.nonce, &nonce, digest::hello(text).unwrap());
    let (key, signature) = (daemon.key.public().clone(), daemon.key.sign(&signed).unwrap());
    daemon.send(&FromDaemon::Challenge(frame::Challenge { nonce, key, signature }));
    assert_eq!(plugin.pump(PATIENCE), Event::Refused("stranger"));
    assert_eq!(daemon.close_code(), Some(4403));
}

#[test]
fn every_action_gives_what_its_schema_asks_for() {
    for action in DesignAction::ALL {
        let (frame, text) = (Document::FRAME, Document::TITLE);
        let place = json!({"x": 1, "y": 2, "width": 3, "height": 4});
        let arguments = match action {
            DesignAction::ListPages | DesignAction::GetSelection | DesignAction::FindNodes => {
                json!({})
            }
            DesignAction::GetNode => json!({"node": frame, "depth": 2}),
            DesignAction::ExportImage | DesignAction::DeleteNode => json!({"node": frame}),
            DesignAction::CreateRectangle | DesignAction::CreateFrame => place,
            DesignAction::CreateText => json!({"x": 1, "y": 2, "text": "more", "parent": frame}),
            DesignAction::SetText => json!({"node": text, "text": "more"}),
            DesignAction::SetFill => json!({"node": frame, "color": "#123456", "opacity": 0.5}),
            DesignAction::MoveNode => json!({"node": text, "x": 1, "y": 2}),
            DesignAction::ResizeNode => json!({"node": frame, "width": 3, "height": 4}),
            DesignAction::RenameNode => json!({"node": frame, "name": "more"}),
        };
        let serde_json::Value::Object(arguments) = arguments else { panic!() };
        let checked = action.check(&arguments).unwrap_or_else(|refusal| panic!("{refusal}"));
        let mut document = Document::sample();
        let value = document.act(*action, checked.arguments()).unwrap();
        assert_eq!(action.check_result(&value), Ok(()), "{action}: {value}");
        assert_eq!(document.undo(), !action.effect().leaves_the_file(), "{action}");
        let as_before = |id| document.fingerprint(id) == Document::sample().fingerprint(id);
        assert!([frame, text, Document::RECTANGLE].into_iter().all(as_before), "{action}");
    }
}

#[test]
fn another_answer_than_a_socket_is_an_error() {
    for (protocol, expected) in [("svc.relay.v2", "NotOne"), ("svc.relay.v1", "Ok")] {
        let daemon = Daemon::new();
        let mut plugin = daemon.plugin();
        let listener = daemon.listener.try_clone().unwrap();
        let accepting = thread::spawn("accepting", move || {
            let (stream, _) = listener.accept().unwrap();
            answer(&stream, protocol);
            stream
        });
        let connected = plugin.connect();
        accepting.unwrap().join().unwrap();
        match connected {
            Ok(()) => assert_eq!(expected, "Ok"),
            Err(Error::Open(OpenError::NotOne)) => assert_eq!(expected, "NotOne"),
            Err(error) => panic!("{error}"),
        }
    }
}
