//! How the service stands, in sums. Open to anyone who reaches a surface of operators, so it holds words, times and counts,
//! and nothing of a tenant.

use std::borrow::Cow;

use crate::api::{ForgeStatus, ServiceStatus};
use crate::app::App;
use crate::forge::reach::Contact;

impl App {
    /// Says how the service stands. It reads, and never writes.
    #[must_use]
    pub fn status(&self) -> ServiceStatus {
        ServiceStatus {
            readiness: self.readiness(),
            version: Cow::Borrowed(env!("CARGO_PKG_VERSION")),
            store_id: self.store.store_id().ok(),
            started_at: self.started_at,
            // Without the database the numbers are missing: zeros would read as an empty backlog.
            backlog: self.store.status_backlog().ok(),
            forge: self.forge.as_ref().map(|forge| to_api(forge.contact())),
        }
    }
}

fn to_api(contact: Contact) -> ForgeStatus {
    ForgeStatus {
        last_answer_at: contact.last_answer_at,
        last_failure_at: contact.last_failure.map(|(at, _)| at),
        last_failure_cause: contact.last_failure.map(|(_, cause)| cause.as_str().into()),
        paused: contact.is_paused,
    }
}
