//! The order of frames, by hand and at random.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn hello() -> String {
    let vectors = include_str!("../../../tests/data/relay/vectors.json");
    let vectors: serde_json::Value = serde_json::from_str(vectors).unwrap();
    vectors["hello"]["text"].as_str().unwrap().to_owned()
}

fn proof() -> String {
    json!({"type": "proof", "signature": "A".repeat(86), "journal": []}).to_string()
}

const PONG: &str = r#"{"type":"pong","n":1,"visible":true}"#;

fn ready() -> Conversation {
    let mut conversation = Conversation::new(1 << 20);
    assert!(conversation.receive(&hello()).is_ok());
    assert!(conversation.send(DaemonFrame::Challenge));
    assert!(conversation.receive(&proof()).is_ok());
    assert!(conversation.send(DaemonFrame::Ready));
    conversation
}

#[test]
fn a_known_session_is_ready_after_its_proof() {
    assert_eq!(ready().phase(), Phase::Ready);
}

/// Which frames may come, and where they lead, typed by hand.
#[test]
fn only_these_frames_may_come() {
    use PluginFrame as P;
    let always = |phase| vec![(P::Pong, phase), (P::Bye, Phase::Over)];
    let works = |phase| {
        let frames = [P::Context, P::Shown, P::Decision, P::Allowance, P::Result];
        [frames.map(|frame| (frame, phase)).to_vec(), always(phase)].concat()
    };
    for phase in Phase::ALL.iter().copied() {
        let mut expected = match phase {
            Phase::Opened => vec![(P::Hello, Phase::Greeted)],
            Phase::Challenged => vec![(P::Proof, Phase::Proved)],
            Phase::Greeted | Phase::Over => vec![],
            Phase::Proved | Phase::Offered | Phase::Confirmed => always(phase),
            Phase::Claimed => [vec![(P::Confirm, Phase::Confirmed)], always(phase)].concat(),
            Phase::Ready | Phase::Moved => works(phase),
            Phase::Moving => [vec![(P::Confirm, Phase::Moved)], works(phase)].concat(),
        };
        expected.sort();
        let found: Vec<_> = P::ALL
            .iter()
            .filter_map(|frame| received(phase, *frame).map(|next| (*frame, next)))
            .collect();
        assert_eq!(found, expected, "{phase}");
    }
}

#[test]
fn a_code_is_offered_claimed_and_confirmed_before_anything_is_ready() {
    let mut phase = Phase::Proved;
    for (frame, next) in [
        (DaemonFrame::Pairing, Phase::Offered),
        (DaemonFrame::Ping, Phase::Offered),
        (DaemonFrame::Claimed, Phase::Claimed),
    ] {
        assert_eq!(sent(phase, DaemonFrame::Propose), None);
        assert_eq!(sent(phase, DaemonFrame::Execute), None);
        phase = sent(phase, frame).unwrap();
        assert_eq!(phase, next);
        assert_eq!(sent(phase, DaemonFrame::Ready), None, "{phase}");
    }
    assert_eq!(sent(Phase::Confirmed, DaemonFrame::Ready), Some(Phase::Ready));
}

#[test]
fn what_is_refused_moves_nothing() {
    let mut conversation = Conversation::new(1 << 20);
    for (text, fault) in [
        (proof(), Fault::OutOfOrder),
        (PONG.to_owned(), Fault::OutOfOrder),
        ("{}".to_owned(), Fault::UnknownType),
        ("{".to_owned(), Fault::Malformed),
        ("a".repeat(BEFORE_READY_BYTES_MAX + 1), Fault::TooLarge),
    ] {
        assert_eq!(conversation.receive(&text).err(), Some(fault));
        assert_eq!(conversation.phase(), Phase::Opened);
    }
    assert!(!conversation.send(DaemonFrame::Ready));
    assert_eq!(conversation.phase(), Phase::Opened);
    assert!(conversation.receive(&hello()).is_ok());
    assert_eq!(conversation.receive(&hello()).err(), Some(Fault::OutOfOrder));
}

/// Returns a frame with text so that it has exactly this many bytes.
fn padded(frame: &str, bytes: usize) -> String {
    format!("{frame}{}", " ".repeat(bytes - frame.len()))
}

#[test]
fn sizes_are_exact() {
    let result = json!({
        "type": "result", "grant": uuid::Uuid::nil().to_string(), "outcome": "succeeded", "value": {},
    });
    let result = result.to_string();
    let fault = |conversation: &Conversation, text: &str| {
        let mut conversation = *conversation;
        conversation.receive(text).err()
    };
    let opened = Conversation::new(1 << 20);
    assert_eq!(fault(&opened, &padded(&hello(), BEFORE_READY_BYTES_MAX)), None);
    let large = padded(&hello(), BEFORE_READY_BYTES_MAX + 1);
    assert_eq!(fault(&opened, &large), Some(Fault::TooLarge));
    for (frame, max) in [(PONG, BYTES_MAX), (&result, 1 << 20)] {
        assert_eq!(fault(&ready(), &padded(frame, max)), None);
        assert_eq!(fault(&ready(), &padded(frame, max + 1)), Some(Fault::TooLarge));
    }
    assert_eq!(Conversation::new(1).bytes_max(), BEFORE_READY_BYTES_MAX);
    let small = Conversation { phase: Phase::Ready, result_bytes_max: 1 };
    assert_eq!(small.bytes_max(), BYTES_MAX);
}

proptest! {
    /// Whatever is sent and received in whatever order: nothing is proposed or taken in before `ready`, and `ready`
    /// needs a proof, and a confirmation where a person was asked.
    #[test]
    fn nothing_works_before_ready(
        steps in prop::collection::vec((any::<bool>(), 0_usize..10), 0..60),
    ) {
        let (mut phase, mut proved, mut asked, mut ready) = (Phase::Opened, false, false, false);
        for (from_plugin, which) in steps {
            if from_plugin {
                let frame = PluginFrame::ALL[which];
                let Some(next) = received(phase, frame) else { continue };
                phase = next;
                proved |= frame == PluginFrame::Proof;
                asked &= frame != PluginFrame::Confirm;
                let early = [PluginFrame::Hello, PluginFrame::Proof, PluginFrame::Confirm,
                    PluginFrame::Pong, PluginFrame::Bye];
                prop_assert!(ready || early.contains(&frame));
            } else {
                let frame = DaemonFrame::ALL[which];
                let Some(next) = sent(phase, frame) else { continue };
                phase = next;
                asked |= frame == DaemonFrame::Claimed || frame == DaemonFrame::Pairing;
                if frame == DaemonFrame::Ready {
                    prop_assert!(proved && !asked);
                    ready = true;
                }
                let works = matches!(frame, DaemonFrame::Propose | DaemonFrame::Execute);
                prop_assert!(!works || (ready && !asked));
            }
        }
    }
}
