//! Frames for properties: as they should be, and with one thing changed.

use proptest::prelude::*;
use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::domain::digest::Digest;
use crate::domain::relay::ActionEffect;
use crate::domain::relay::invocation::Withdrawal;
use crate::domain::time::Timestamp;
use crate::relay::action::DesignAction;
use crate::relay::code::PairingCode;

fn id() -> impl Strategy<Value = Value> {
    any::<u128>().prop_map(|bits| json!(Uuid::from_u128(bits).to_string()))
}

fn hex() -> impl Strategy<Value = Value> {
    any::<[u8; 32]>().prop_map(|bytes| json!(Digest::from(bytes)))
}

fn of(pattern: &'static str) -> impl Strategy<Value = Value> {
    pattern.prop_map(Value::from)
}

fn line() -> impl Strategy<Value = Value> {
    of(".{0,200}")
}

fn one_of(words: &'static [&'static str]) -> impl Strategy<Value = Value> {
    prop::sample::select(words).prop_map(Value::from)
}

fn file() -> impl Strategy<Value = Value> {
    let key = prop_oneof![Just(Value::Null), line()];
    (key, line(), line())
        .prop_map(|(key, name, page)| json!({"key": key, "name": name, "page": page}))
}

fn signature() -> impl Strategy<Value = Value> {
    of("[A-Za-z0-9_-]{86}")
}

fn hello() -> impl Strategy<Value = Value> {
    let key = (of("[A-Za-z0-9_-]{43}"), of("[A-Za-z0-9_-]{43}"))
        .prop_map(|(x, y)| json!({"kty": "EC", "crv": "P-256", "x": x, "y": y}));
    let session = prop_oneof![Just(Value::Null), id()];
    let actions = prop::collection::btree_set("[a-z][a-z0-9_]{0,20}", 0..10);
    let tool = one_of(&["penpot", "figma", "test"]);
    let named = (of("[A-Za-z0-9_-]{22}"), id(), tool, line(), key, session, file(), actions);
    named.prop_map(|(nonce, instance, tool, plugin, key, session, file, actions)| {
        json!({
            "type": "hello", "nonce": nonce, "instance": instance, "tool": tool,
            "plugin": plugin, "key": key, "session": session, "file": file, "actions": actions,
        })
    })
}

fn decision() -> impl Strategy<Value = Value> {
    let word = one_of(&["approved", "denied"]);
    let by = one_of(&["person", "allowance", "plugin"]);
    let reason = prop::option::of(of("[a-z][a-z0-9_]{0,63}"));
    (id(), hex(), word, by, reason, signature()).prop_map(
        |(proposal, preview, decision, by, reason, signature)| {
            let mut frame = json!({
                "type": "decision", "proposal": proposal, "previewSha256": preview,
                "decision": decision, "by": by, "signature": signature,
            });
            if let Some(reason) = reason {
                frame["reason"] = reason;
            }
            frame
        },
    )
}

fn result() -> impl Strategy<Value = Value> {
    let outcome = one_of(&["succeeded", "failed", "stale"]);
    let value = prop::option::of(prop_oneof![Just(json!({"node": "1:2"})), Just(json!([1, "a"]))]);
    let message = prop::option::of(of(".{0,500}"));
    let error = prop::option::of((of("[a-z][a-z0-9_]{0,63}"), message));
    (id(), outcome, value, error).prop_map(|(grant, outcome, value, error)| {
        let mut frame = json!({"type": "result", "grant": grant, "outcome": outcome});
        if let Some(value) = value {
            frame["value"] = value;
        }
        if let Some((code, message)) = error {
            frame["error"] = json!({ "code": code });
            if let Some(message) = message {
                frame["error"]["message"] = message;
            }
        }
        frame
    })
}

/// Frames of a plugin that are as they should be.
pub(super) fn from_plugin() -> impl Strategy<Value = Value> {
    let entry = (id(), one_of(&["begun", "succeeded", "failed", "stale"]))
        .prop_map(|(grant, outcome)| json!({"grant": grant, "outcome": outcome}));
    let journal = prop::collection::vec(entry, 0..5);
    prop_oneof![
        hello(),
        decision(),
        result(),
        (signature(), journal).prop_map(|(signature, journal)| {
            json!({"type": "proof", "signature": signature, "journal": journal})
        }),
        (id(), any::<bool>(), signature()).prop_map(|(pairing, accept, signature)| {
            json!({"type": "confirm", "pairing": pairing, "accept": accept, "signature": signature})
        }),
        file().prop_map(|file| json!({"type": "context", "file": file})),
        (id(), hex()).prop_map(|(proposal, preview)| {
            json!({"type": "shown", "proposal": proposal, "previewSha256": preview})
        }),
        (prop::sample::select(&[0, 15, 60][..]), signature()).prop_map(|(minutes, signature)| {
            json!({"type": "allowance", "minutes": minutes, "signature": signature})
        }),
        (any::<u64>(), any::<bool>())
            .prop_map(|(n, visible)| json!({"type": "pong", "n": n, "visible": visible})),
        one_of(&["person", "closing", "forget"])
            .prop_map(|reason| json!({"type": "bye", "reason": reason})),
    ]
}

/// What a frame of the daemon is made from: its kind, ids, digests, a nonce, a text, an instant, and two numbers.
pub(super) type Parts = (usize, (u128, [u8; 32], [u8; 16], String, i64), usize, u32);

pub(super) fn parts() -> impl Strategy<Value = Parts> {
    let any = (any::<u128>(), any::<[u8; 32]>(), any::<[u8; 16]>(), any::<String>(), any::<i64>());
    (0..DaemonFrame::ALL.len(), any, 1_usize..=20, 1_u32..=120)
}

/// Builds a frame of the daemon. Frames have no `Debug`, so that a property cannot make them itself.
pub(super) fn built(
    (kind, (bits, bytes, nonce, text, micros), count, number): Parts,
) -> FromDaemon {
    let uuid = Uuid::from_u128(bits);
    let line = || Line::new(&text);
    let key = PublicJwk::of_point(&[&[4][..], &bytes, &bytes].concat()).unwrap();
    let expires_at = Timestamp::from_micros(micros.rem_euclid(4_000_000_000_000_000));
    let action = DesignAction::ALL[count % DesignAction::ALL.len()];
    let step = Step {
        invocation: uuid.into(),
        action,
        effect: ActionEffect::ALL[count % ActionEffect::ALL.len()],
        arguments: [(text.clone(), json!(number))].into_iter().collect(),
        arguments_sha256: bytes.into(),
    };
    let reason = Withdrawal::ALL[count % Withdrawal::ALL.len()];
    match DaemonFrame::ALL[kind] {
        DaemonFrame::Challenge => FromDaemon::Challenge(Challenge {
            nonce: Nonce::new(&nonce),
            key,
            signature: Signature::new(&[bytes, bytes].concat()),
        }),
        DaemonFrame::Pairing => FromDaemon::Pairing(Pairing {
            pairing: uuid.into(),
            code: PairingCode::new([nonce[0], nonce[1], nonce[2], nonce[3], nonce[4]]),
            expires_at,
        }),
        DaemonFrame::Claimed => {
            FromDaemon::Claimed(Claimed { pairing: uuid.into(), account: line(), client: line() })
        }
        DaemonFrame::Ready => FromDaemon::Ready(Ready {
            session: uuid.into(),
            epoch: u64::from(number),
            account: line(),
        }),
        DaemonFrame::Propose => FromDaemon::Propose(Propose {
            proposal: uuid.into(),
            client: line(),
            expires_at,
            steps: vec![step; count],
        }),
        DaemonFrame::Withdraw => FromDaemon::Withdraw(Withdraw { proposal: uuid.into(), reason }),
        DaemonFrame::Execute => FromDaemon::Execute(Execute {
            grant: uuid.into(),
            invocation: uuid.into(),
            arguments_sha256: bytes.into(),
            deadline_ms: number * 1_000,
        }),
        DaemonFrame::Settled => FromDaemon::Settled(Settled { grant: uuid.into() }),
        DaemonFrame::Ping => FromDaemon::Ping(Ping { n: u64::from(number) }),
        DaemonFrame::Problem => FromDaemon::Problem(CloseNotice::new("too_large", &text)),
    }
}

/// Changes one thing at a random place; what it is may be allowed there, or not.
pub(super) fn mutate(frame: &mut Value, mut path: Vec<u8>, change: u8, other: Value) {
    let Some(which) = path.pop() else {
        *frame = other;
        return;
    };
    match frame {
        Value::Object(members) if !members.is_empty() => {
            let place = usize::from(which) % members.len();
            let name = members.keys().nth(place).unwrap().clone();
            match change {
                0 => drop(members.remove(&name)),
                1 => drop(members.insert("unknown".to_owned(), other)),
                2 => {
                    let value = members.remove(&name).unwrap();
                    members.insert(name.to_uppercase(), value);
                }
                _ => mutate(&mut members[&name], path, change, other),
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let place = usize::from(which) % items.len();
            match change {
                0 => items.extend(vec![items[place].clone(); 64]),
                1 => items.push(other),
                _ => mutate(&mut items[place], path, change, other),
            }
        }
        Value::String(text) => match change {
            0 => text.push('!'),
            1 => drop(text.pop()),
            2 => *text = text.to_uppercase(),
            3 => text.push_str(&"a".repeat(200)),
            _ => *frame = other,
        },
        _ => *frame = other,
    }
}

pub(super) fn other() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        prop::sample::select(&[0.0, -0.0, 1.0, 15.0, 60.0, 1.5, -1.0, 1e300][..])
            .prop_map(Value::from),
        prop::sample::select(&[0_i64, 15, 60, 1, -1, i64::MAX][..]).prop_map(Value::from),
        of("[a-z0-9]{0,3}"),
        one_of(&["hello", "pong", "person", "begun", "penpot", "ping", "ready"]),
        Just(json!([])),
        Just(json!({})),
        id(),
    ]
}
