//! Each kind of event, as its device signed it, and with one member changed.

use super::*;
use crate::domain::id::PairingId;
use crate::domain::time::Timestamp;
use crate::relay::proof::DaemonKey;

/// A device, which signs as the daemon's key does.
struct Device(DaemonKey);

impl Device {
    fn new() -> Self {
        Self(DaemonKey::read(&DaemonKey::generate().unwrap()).unwrap())
    }

    fn point(&self) -> KeyPoint {
        self.0.public().point().unwrap()
    }

    /// Signs what an event says.
    fn sign(&self, event: RelayAuditEvent) -> RelayAuditEvent {
        let signature = self.0.sign(&text(&event).unwrap()).unwrap().bytes().unwrap();
        let hex = signature.iter().map(|byte| format!("{byte:02x}")).collect();
        RelayAuditEvent { signature: Some(hex), ..event }
    }
}

fn id<T: From<uuid::Uuid>>(last: u8) -> T {
    uuid::Uuid::from_bytes([last; 16]).into()
}

fn digest(byte: u8) -> Digest {
    [byte; 32].into()
}

/// An event of a kind, with everything that it has.
fn event(kind: RelayEventName) -> RelayAuditEvent {
    let is_confirmed = matches!(kind, RelayEventName::DevicePaired | RelayEventName::SessionOpened);
    let is_allowance =
        matches!(kind, RelayEventName::AllowanceGiven | RelayEventName::AllowanceEnded);
    let is_decision = !is_confirmed && !is_allowance;
    RelayAuditEvent {
        seq: 1,
        event: kind.as_str().to_owned(),
        subject: "ann".to_owned(),
        client: Some("agent".to_owned()),
        device: Some(id(1)),
        session: Some(id(2)),
        pairing: is_confirmed.then(|| id::<PairingId>(3)),
        proposal: is_decision.then(|| id(4)),
        invocation: is_decision.then(|| id(5)),
        action: is_decision.then(|| "set_text".to_owned()),
        arguments_sha256: is_decision.then(|| digest(6)),
        card_sha256: is_decision.then(|| vec![digest(5), digest(6)]),
        preview_sha256: is_decision.then(|| digest(7)),
        decided_by: Some("person".to_owned()),
        reason: None,
        epoch: Some(8),
        minutes: is_allowance.then(|| if kind == RelayEventName::AllowanceGiven { 15 } else { 0 }),
        nonce: (!is_decision).then(|| "AAECAwQFBgcICQoLDA0ODw".to_owned()),
        public_key: (kind == RelayEventName::DevicePaired).then(|| "04".repeat(65)),
        signature: None,
        actor: None,
        created_at: Timestamp::from_micros(9),
        prev_hash: digest(0),
        hash: digest(1),
    }
}

const SIGNED: [RelayEventName; 8] = [
    RelayEventName::DevicePaired,
    RelayEventName::SessionOpened,
    RelayEventName::Approved,
    RelayEventName::Expired,
    RelayEventName::Denied,
    RelayEventName::Cancelled,
    RelayEventName::AllowanceGiven,
    RelayEventName::AllowanceEnded,
];

#[test]
fn what_the_device_signed_is_valid_by_its_key_alone() {
    let (device, other) = (Device::new(), Device::new());
    for kind in SIGNED {
        let event = device.sign(event(kind));
        assert_eq!(check(&event, Some(&device.point())), Some(Found::Valid), "{kind}");
        for key in [Some(&other.point()), Some(&[4; 65]), None] {
            assert_eq!(check(&event, key), Some(Found::Invalid), "{kind}");
        }
        for signature in ["", "0g", &"00".repeat(64), &"0".repeat(127), &"é".repeat(64)] {
            let event = RelayAuditEvent { signature: Some(signature.to_owned()), ..event.clone() };
            assert_eq!(check(&event, Some(&device.point())), Some(Found::Invalid), "{signature}");
        }
    }
}

#[test]
fn what_was_signed_proves_nothing_else() {
    let device = Device::new();
    let changes: [fn(&mut RelayAuditEvent); 10] = [
        |event| event.session = Some(id(12)),
        |event| event.epoch = Some(18),
        |event| event.proposal = Some(id(14)),
        |event| event.arguments_sha256 = Some(digest(16)),
        |event| event.card_sha256.iter_mut().for_each(|card| card.reverse()),
        |event| event.preview_sha256 = Some(digest(17)),
        |event| event.decided_by = Some("operator".to_owned()),
        |event| event.pairing = Some(id(13)),
        |event| event.minutes = event.minutes.map(|minutes| 60 - minutes),
        |event| event.nonce = Some("AQECAwQFBgcICQoLDA0ODw".to_owned()),
    ];
    for kind in SIGNED {
        let signed = device.sign(event(kind));
        let is_bound: Vec<bool> = changes
            .iter()
            .map(|change| {
                let mut event = signed.clone();
                change(&mut event);
                check(&event, Some(&device.point())) == Some(Found::Invalid)
            })
            .collect();
        let expected: &[usize] = match kind {
            RelayEventName::DevicePaired | RelayEventName::SessionOpened => &[7, 9],
            RelayEventName::AllowanceGiven | RelayEventName::AllowanceEnded => &[0, 1, 8, 9],
            _ => &[0, 1, 2, 3, 4, 5, 6],
        };
        let bound: Vec<usize> = (0..changes.len()).filter(|place| is_bound[*place]).collect();
        assert_eq!(bound, expected, "{kind}");
        for other in RelayEventName::ALL.iter().filter(|other| **other != kind) {
            let claim = RelayAuditEvent { event: other.as_str().to_owned(), ..signed.clone() };
            let same = check(&claim, Some(&device.point())) == Some(Found::Valid);
            let confirm = [RelayEventName::DevicePaired, RelayEventName::SessionOpened];
            let approve = [RelayEventName::Approved, RelayEventName::Expired];
            let deny = [RelayEventName::Denied, RelayEventName::Cancelled];
            let alike = [confirm, approve, deny];
            let are_alike = alike.iter().any(|it| it.contains(&kind) && it.contains(other));
            assert_eq!(same, are_alike, "{kind} as {other}");
        }
    }
}

#[test]
fn a_signature_that_is_missing_is_invalid_where_it_was_always_kept() {
    for kind in RelayEventName::ALL {
        let found = check(&event(*kind), None);
        let is_missed = matches!(
            kind,
            RelayEventName::DevicePaired
                | RelayEventName::SessionOpened
                | RelayEventName::Approved
                | RelayEventName::Denied
                | RelayEventName::AllowanceGiven
        );
        assert_eq!(found, is_missed.then_some(Found::Invalid), "{kind}");
    }
    let returned = RelayAuditEvent { decided_by: None, ..event(RelayEventName::SessionOpened) };
    assert_eq!(check(&returned, None), None, "a page that comes back asks no person");
}

#[test]
fn events_of_earlier_versions_cannot_be_checked() {
    let device = Device::new();
    for kind in SIGNED {
        let signed = device.sign(event(kind));
        let is_confirmed =
            matches!(kind, RelayEventName::DevicePaired | RelayEventName::SessionOpened);
        let old = RelayAuditEvent {
            pairing: None,
            card_sha256: None,
            minutes: None,
            nonce: None,
            public_key: None,
            signature: signed.signature.filter(|_| !is_confirmed),
            ..event(kind)
        };
        assert_eq!(check(&old, Some(&device.point())), Some(Found::NotCheckable), "{kind}");
    }
}
