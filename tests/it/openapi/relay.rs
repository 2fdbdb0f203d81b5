//! What callers and operators are told of the relay, held to the document.

use std::borrow::Cow;

use svc::api::relay;

use super::{Fields, time};

const ID: &str = "0198c0de-0000-7000-8000-000000000001";

/// Says whether what may be null is set.
type IsFull = bool;

fn pairing_claim(full: IsFull) -> relay::PairingClaim {
    relay::PairingClaim {
        pairing: ID.parse().unwrap(),
        tool: Cow::Borrowed("penpot"),
        file: full.then(|| "Login".to_owned()),
        expires_at: time(),
    }
}

/// Holds their schemas to the shapes of the code.
pub(super) fn hold(checks: Fields) -> Fields {
    checks.hold("PairingClaim", &pairing_claim(true), &pairing_claim(false))
}
