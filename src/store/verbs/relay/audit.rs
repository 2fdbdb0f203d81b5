//! Verification of the audit log.

use crate::api::relay::RelayAuditEvent;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::relay::audit::{self, BEGINNING};
use crate::store::types::relay::Verified;

/// Most events read at once, so that no snapshot of the file is held for long.
const PAGE: u32 = 500;

impl Store {
    /// Recomputes the hash of every event of the audit log, the oldest first, up to the first that is broken: its hash
    /// differs, it does not continue the event before it, its number leaves a gap, or it cannot be read.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_verify_audit(&self) -> Result<Verified, Error> {
        let mut verified = Verified { rows: 0, head: None, broken: None };
        let mut seq = 0;
        loop {
            let page = self.read(|db| audit::after(db, seq, PAGE))?;
            let is_last = u32::try_from(page.len()).is_ok_and(|count| count < PAGE);
            for (number, event) in page {
                seq += 1;
                let event = event.filter(|event| event.seq == seq);
                if !continues(&mut verified, event.as_ref())? {
                    return Ok(Verified { broken: Some(number), ..verified });
                }
            }
            if is_last {
                return Ok(verified);
            }
        }
    }
}

/// Adds the next event, if it continues those before it.
fn continues(verified: &mut Verified, event: Option<&RelayAuditEvent>) -> Result<bool, Error> {
    let before = verified.head.unwrap_or_else(|| BEGINNING.into());
    let Some(event) = event.filter(|event| event.prev_hash == before) else { return Ok(false) };
    if audit::hash(event)? != event.hash {
        return Ok(false);
    }
    verified.rows += 1;
    verified.head = Some(event.hash);
    Ok(true)
}
