//! Deliveries of the simulated app's webhook that failed: they are listed, newest first, and asked for
//! again. Nothing is delivered by the simulator itself.

use serde_json::{Value, json};

use super::message::{Reply, Request};
use super::state::State;
use super::{Call, shape};
use crate::domain::time::Timestamp;

/// A try to deliver a webhook that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedAttempt {
    /// Number of the try.
    pub id: i64,
    /// What names the delivery, whatever the try.
    pub guid: String,
    /// Name of the event.
    pub event: String,
    /// When it was tried.
    pub delivered_at: Timestamp,
}

impl State {
    pub(super) fn fail_delivery(&mut self, guid: &str, event: &str, delivered_at: Timestamp) {
        let (guid, event) = (guid.to_owned(), event.to_owned());
        let id = self.next_number();
        self.failed_deliveries.push(FailedAttempt { id, guid, event, delivered_at });
    }

    /// Lists a page. The mark of the next one is the number that its first delivery lies below.
    pub(super) fn find_deliveries(&self, request: &Request) -> Reply {
        let number = |name| request.asks(name).and_then(|text| text.parse::<i64>().ok());
        // The forge's default and its limit.
        let page = usize::try_from(number("per_page").unwrap_or(30)).unwrap_or(0).clamp(1, 100);
        let below = number("cursor").unwrap_or(i64::MAX);
        let mut found = self.failed_deliveries.iter().rev().filter(|it| it.id < below).peekable();
        let listed: Vec<&FailedAttempt> = found.by_ref().take(page).collect();
        let last = listed.last().filter(|_| found.peek().is_some());
        let link = last.map(|last| {
            let url = format!("{}/app/hook/deliveries", self.base_url);
            format!("<{url}?status=failure&per_page={page}&cursor={}>; rel=\"next\"", last.id)
        });
        let listed: Value = listed.into_iter().map(FailedAttempt::to_json).collect();
        Reply { link, ..Reply::json(200, &listed) }
    }

    pub(super) fn repeat_delivery(&mut self, request: &Request) -> Result<Reply, Reply> {
        let id = request.path.split('/').nth(4).and_then(|id| id.parse::<i64>().ok());
        let failed = self.failed_deliveries.iter().find(|it| Some(it.id) == id);
        let key = format!("redelivery:{}", failed.ok_or(Reply::error(404))?.guid);
        self.record(Call::DeliveryRepeat, request, key);
        Ok(Reply::json(202, &json!({})))
    }
}

impl FailedAttempt {
    fn to_json(&self) -> Value {
        json!({
            "id": self.id,
            "guid": self.guid,
            "delivered_at": shape::instant(self.delivered_at),
            "redelivery": false,
            "duration": 0.27,
            "status": "Service Unavailable",
            "status_code": 503,
            "event": self.event,
            "action": null,
            "installation_id": null,
            "repository_id": null,
            "throttled_at": null,
        })
    }
}
