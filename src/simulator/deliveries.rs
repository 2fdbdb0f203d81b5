//! Deliveries of the simulated app's webhook: they are listed, newest first, and asked for again. Nothing is delivered
//! by the simulator itself.

use serde_json::{Value, json};

use super::message::{Reply, Request};
use super::state::State;
use super::{Call, shape};
use crate::domain::time::Timestamp;

/// A try to deliver a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// Number of the try.
    pub id: i64,
    /// What names the delivery, whatever the try.
    pub guid: String,
    /// Name of the event.
    pub event: String,
    /// When it was tried.
    pub delivered_at: Timestamp,
    /// Status that the receiver answered with.
    pub status: u16,
}

impl State {
    pub(super) fn deliver(
        &mut self,
        guid: &str,
        event: &str,
        delivered_at: Timestamp,
        status: u16,
    ) {
        let (guid, event) = (guid.to_owned(), event.to_owned());
        let id = self.next_number();
        self.deliveries.push(DeliveryAttempt { id, guid, event, delivered_at, status });
    }

    /// Lists a page. The mark of the next one is the number that its first delivery lies below.
    pub(super) fn find_deliveries(&self, request: &Request) -> Reply {
        let number = |name| request.asks(name).and_then(|text| text.parse::<i64>().ok());
        // The forge's default and its limit.
        let page = usize::try_from(number("per_page").unwrap_or(30)).unwrap_or(0).clamp(1, 100);
        let below = number("cursor").unwrap_or(i64::MAX);
        let status = request.asks("status");
        let is_asked = |it: &&DeliveryAttempt| match status.as_deref() {
            Some("failure") => !it.has_arrived(),
            Some("success") => it.has_arrived(),
            _ => true,
        };
        let older = self.deliveries.iter().rev().filter(|it| it.id < below);
        let mut found = older.filter(is_asked).peekable();
        let listed: Vec<&DeliveryAttempt> = found.by_ref().take(page).collect();
        let last = listed.last().filter(|_| found.peek().is_some());
        let link = last.map(|last| {
            let url = format!("{}/app/hook/deliveries", self.base_url);
            let status = status.map_or_else(String::new, |status| format!("status={status}&"));
            format!("<{url}?{status}per_page={page}&cursor={}>; rel=\"next\"", last.id)
        });
        let listed: Value = listed.into_iter().map(DeliveryAttempt::to_json).collect();
        Reply { link, ..Reply::json(200, &listed) }
    }

    pub(super) fn repeat_delivery(&mut self, request: &Request) -> Result<Reply, Reply> {
        let id = request.path.split('/').nth(4).and_then(|id| id.parse::<i64>().ok());
        let failed = self.deliveries.iter().find(|it| Some(it.id) == id);
        let key = format!("redelivery:{}", failed.ok_or(Reply::error(404))?.guid);
        self.record(Call::DeliveryRepeat, request, key);
        Ok(Reply::json(202, &json!({})))
    }
}

impl DeliveryAttempt {
    const fn has_arrived(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    fn to_json(&self) -> Value {
        json!({
            "id": self.id,
            "guid": self.guid,
            "delivered_at": shape::instant(self.delivered_at),
            "redelivery": false,
            "duration": 0.27,
            "status": if self.has_arrived() { "OK" } else { "Invalid HTTP Response" },
            "status_code": self.status,
            "event": self.event,
            "action": null,
            "installation_id": null,
            "repository_id": null,
            "throttled_at": null,
        })
    }
}
