//! Verification of the audit log.

use crate::api::relay::RelayAuditEvent;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::relay::audit::{self, BEGINNING};
use crate::store::types::relay::{KeyPoint, Verified};

/// Most events read at once, so that no snapshot of the file is held for long.
const PAGE: u32 = 500;

impl Store {
    /// Recomputes the hash of every event of the audit log, the oldest first, up to the first that is broken: its hash
    /// differs, it does not continue the event before it, its number leaves a gap, or it cannot be read. `each` is called
    /// with the events that hold, and the key of the device that each is about.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_verify_audit(
        &self,
        mut each: impl FnMut(&RelayAuditEvent, Option<&KeyPoint>),
    ) -> Result<Verified, Error> {
        let mut verified = Verified { rows: 0, head: None, broken: None };
        let mut seq = 0;
        loop {
            // No snapshot across pages: events are only added, and an open one keeps the log from being folded.
            let page = self.read(|db| audit::after(db, seq, PAGE))?;
            let is_last = u32::try_from(page.len()).is_ok_and(|count| count < PAGE);
            for (number, event) in page {
                // Counted, not read: an event that is missing shows as a number that does not fit.
                seq += 1;
                let holds = |event: &RelayAuditEvent| event.seq == seq && is_next(&verified, event);
                let Some((event, key)) = event.filter(|(event, _)| holds(event)) else {
                    return Ok(Verified { broken: Some(number), ..verified });
                };
                verified.rows += 1;
                verified.head = Some(event.hash);
                each(&event, key.as_ref());
            }
            if is_last {
                return Ok(verified);
            }
        }
    }
}

/// Says whether an event continues those before it, and its hash is that of what it says.
fn is_next(verified: &Verified, event: &RelayAuditEvent) -> bool {
    let before = verified.head.unwrap_or_else(|| BEGINNING.into());
    event.prev_hash == before && audit::hash(event).is_ok_and(|hash| hash == event.hash)
}
