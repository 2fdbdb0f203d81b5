//! Verification of the relay's audit log: the chain of its hashes, and the signatures of devices. What a device signed is
//! put together from an event alone, so an approval can still be proved when its proposal, its session or the row of its
//! device is gone (`docs/decisions/87-relay-audit-signatures.md`).

#[cfg(test)]
mod tests;

use crate::api::relay::{RelayAuditCheck, RelayAuditEvent, RelaySignatureCheck};
use crate::app::{App, Error};
use crate::auth::operator::Principal;
use crate::domain::digest::Digest;
use crate::domain::relay::{CardDecision, RelayEventName};
use crate::relay::frame::{DecidedInPlugin, Nonce, PublicJwk, Signature};
use crate::relay::proof::{DecisionText, allowance_text, confirm_text, is_signed};
use crate::store::relay::KeyPoint;

/// How the signature of an event was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// It is the device's, over what the event says.
    Valid,
    /// It is missing, or another.
    Invalid,
    /// The event is of a version that kept too little.
    NotCheckable,
}

impl App {
    /// Verifies the relay's audit log. It is read a part at a time, so neither memory nor the store is taken up by a long
    /// one.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn verify_relay_audit(&self, _: &Principal) -> Result<RelayAuditCheck, Error> {
        let mut signatures = RelaySignatureCheck::default();
        let verified = self.store.relay_verify_audit(|event, key| match check(event, key) {
            None => {}
            Some(Found::Valid) => signatures.valid += 1,
            Some(Found::NotCheckable) => signatures.not_checkable += 1,
            Some(Found::Invalid) => {
                signatures.invalid += 1;
                signatures.first_invalid.get_or_insert(event.seq);
            }
        })?;
        Ok(RelayAuditCheck {
            rows: verified.rows,
            head: verified.head,
            intact: verified.broken.is_none(),
            first_broken: verified.broken,
            signatures,
        })
    }
}

/// Checks the signature of an event with the key of its device; `None` if it has none and needs none.
fn check(event: &RelayAuditEvent, key: Option<&KeyPoint>) -> Option<Found> {
    let Some(signature) = &event.signature else { return unsigned(event) };
    let text = match text(event) {
        Ok(text) => text,
        Err(found) => return Some(found),
    };
    let key = key.and_then(|key| PublicJwk::of_point(key));
    let is_valid = key
        .zip(bytes(signature))
        .is_some_and(|(key, bytes)| is_signed(&key, &text, &Signature::new(&bytes)));
    Some(if is_valid { Found::Valid } else { Found::Invalid })
}

/// What the lack of a signature means. Decisions and allowances have always been kept with theirs, confirmations together
/// with the pairing and the key.
fn unsigned(event: &RelayAuditEvent) -> Option<Found> {
    let is_of_now = event.pairing.is_some() || event.public_key.is_some();
    match RelayEventName::from_word(&event.event)? {
        RelayEventName::Approved | RelayEventName::Denied | RelayEventName::AllowanceGiven => {
            Some(Found::Invalid)
        }
        RelayEventName::DevicePaired if !is_of_now => Some(Found::NotCheckable),
        RelayEventName::DevicePaired => Some(Found::Invalid),
        RelayEventName::SessionOpened if event.decided_by.as_deref() != Some("person") => None,
        RelayEventName::SessionOpened if !is_of_now => Some(Found::NotCheckable),
        RelayEventName::SessionOpened => Some(Found::Invalid),
        _ => None,
    }
}

/// Returns what the device of an event signed. The kind of the event decides which text that is, so that no signature
/// proves another event than it was made for.
fn text(event: &RelayAuditEvent) -> Result<String, Found> {
    let nonce = || event.nonce.as_deref().map(Nonce::read).ok_or(Found::NotCheckable);
    match RelayEventName::from_word(&event.event).ok_or(Found::NotCheckable)? {
        RelayEventName::DevicePaired | RelayEventName::SessionOpened => {
            let nonce = nonce()?.ok_or(Found::Invalid)?;
            Ok(confirm_text(&nonce, event.pairing.ok_or(Found::Invalid)?, true))
        }
        kind @ (RelayEventName::AllowanceGiven | RelayEventName::AllowanceEnded) => {
            let nonce = nonce()?.ok_or(Found::Invalid)?;
            let told = (event.session.zip(event.epoch)).zip(event.minutes);
            let ((session, epoch), minutes) = told.ok_or(Found::Invalid)?;
            // A plugin ends an allowance by signing one of 0 minutes.
            if (kind == RelayEventName::AllowanceEnded) != (minutes == 0) {
                return Err(Found::Invalid);
            }
            Ok(allowance_text(&nonce, session, epoch.into(), minutes.into()))
        }
        // What was approved too late has expired.
        RelayEventName::Approved | RelayEventName::Expired => {
            decision(event, CardDecision::Approved)
        }
        RelayEventName::Denied | RelayEventName::Cancelled => decision(event, CardDecision::Denied),
        _ => Err(Found::Invalid),
    }
}

fn decision(event: &RelayAuditEvent, decision: CardDecision) -> Result<String, Found> {
    let card = event.card_sha256.as_deref().ok_or(Found::NotCheckable)?;
    let own = event.arguments_sha256.filter(|own| card.contains(own));
    let by = event.decided_by.as_deref().and_then(DecidedInPlugin::from_word);
    let text = || {
        own?;
        let text = DecisionText {
            session: event.session?,
            epoch: event.epoch?.into(),
            proposal: event.proposal?,
            arguments: card,
            preview: event.preview_sha256?,
            decision,
            by: by?,
        };
        Some(text.text())
    };
    text().ok_or(Found::Invalid)
}

/// Reads a signature of an event.
fn bytes(hex: &str) -> Option<[u8; 64]> {
    // Each half is 32 bytes, and is read in the one spelling that a digest has.
    let (first, second) = hex.split_at_checked(64)?;
    let half = |hex: &str| hex.parse::<Digest>().ok();
    let halves = [*half(first)?.as_bytes(), *half(second)?.as_bytes()];
    halves.as_flattened().try_into().ok()
}
