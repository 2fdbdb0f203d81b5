//! The app's own webhooks: which deliveries failed, and asking for one again. The app's credential is
//! used for itself here. Of an answer only numbers, ids and times are taken; a link is never followed,
//! only the cursor of the next page is read out of it.

use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::Value;

use super::answer::Answer;
use super::client::ForgeClient;
use super::wire::SendFailure;
use super::{DeliveryCursor, FailedDeliveries, WebhookDeliveries, payload};
use crate::domain::dead_letter::ErrorClass;
use crate::domain::id::HookDeliveryId;
use crate::domain::reconcile;
use crate::domain::redelivery::FailedDelivery;
use crate::domain::time::Timestamp;

/// Deliveries on one page, the most the forge gives.
const PAGE: usize = 100;
/// Longest cursor of a page.
const CURSOR_BYTES_MAX: usize = 200;

impl WebhookDeliveries for ForgeClient {
    fn failed_deliveries(
        &self,
        after: Option<&DeliveryCursor>,
    ) -> Result<FailedDeliveries, reconcile::Unavailable> {
        let cursor = after.map_or_else(String::new, |cursor| format!("&cursor={}", cursor.0));
        let path = format!("/app/hook/deliveries?status=failure&per_page={PAGE}{cursor}");
        self.as_app("failed_deliveries", Method::GET, path, |answer| {
            let elements: Vec<Value> =
                (answer.status == StatusCode::OK).then(|| answer.array())??;
            // One that cannot be read must not keep the others from being asked for.
            let deliveries = elements.into_iter().filter_map(read).collect();
            Some(FailedDeliveries { deliveries, next: answer.header("link").and_then(next) })
        })
    }

    fn redeliver(&self, delivery: HookDeliveryId) -> Result<(), reconcile::Unavailable> {
        let path = format!("/app/hook/deliveries/{delivery}/attempts");
        self.as_app("redeliver", Method::POST, path, |answer| {
            (answer.status == StatusCode::ACCEPTED).then_some(())
        })
    }
}

impl ForgeClient {
    /// Makes one call with the app's own credential; nothing is repeated.
    fn as_app<T>(
        &self,
        name: &str,
        method: Method,
        path: String,
        hoped: impl FnOnce(&Answer) -> Option<T>,
    ) -> Result<T, reconcile::Unavailable> {
        let failed = |class| reconcile::Unavailable { class, wait_until: None };
        // No gate: pauses belong to installations, and this call is the app's own.
        let gate = || Ok(());
        let credentials = self.credentials.get();
        let sent = self.send_as_app(&credentials, (method, path, None), &gate);
        let (answered, failure) = match sent {
            Err(SendFailure::Stopped(result)) => (Err(None), super::unavailable(result)),
            Err(SendFailure::NotSent(cause)) => (Err(cause), failed(ErrorClass::Unavailable)),
            Err(SendFailure::Lost(cause)) => (Err(Some(cause)), failed(ErrorClass::Unavailable)),
            Ok(answer) => match hoped(&answer) {
                Some(hoped) => return Ok(hoped),
                None => (Ok(answer.status), answer.unavailable(self.clock.now())),
            },
        };
        self.call_failed(&gate, name, answered, Some(failure.class));
        Err(failure)
    }
}

/// One delivery of a list.
#[derive(Deserialize)]
struct Listed {
    id: i64,
    guid: String,
    delivered_at: String,
    event: String,
}

fn read(element: Value) -> Option<FailedDelivery> {
    let listed: Listed = serde_json::from_value(element).ok()?;
    Some(FailedDelivery {
        id: listed.id.try_into().ok()?,
        delivery: listed.guid.parse().ok()?,
        delivered_at: Timestamp::parse_rounding_up(&listed.delivered_at)?,
        is_ours: payload::can_ask(&listed.event),
    })
}

/// Reads the cursor of the next page out of a `Link` header.
fn next(link: &str) -> Option<DeliveryCursor> {
    let part = link.split(',').find(|part| part.contains("rel=\"next\""))?;
    // Sent back as it came, percent-encoded; only its characters and its length are checked.
    let cursor = part.split(['?', '&', '>']).find_map(|pair| pair.strip_prefix("cursor="))?;
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~%=".contains(&b);
    let fits = (1..=CURSOR_BYTES_MAX).contains(&cursor.len()) && cursor.bytes().all(is_plain);
    fits.then(|| DeliveryCursor(cursor.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_cursor_is_taken_from_a_link() {
        let cursor = |link: &str| next(link).map(|cursor| cursor.0);
        let url = "https://forge.example/app/hook/deliveries?per_page=100";
        assert_eq!(
            cursor(&format!("<{url}&cursor=v1_12>; rel=\"next\"")),
            Some("v1_12".to_owned())
        );
        let both = format!("<{url}&cursor=a>; rel=\"prev\", <{url}&cursor=b>; rel=\"next\"");
        assert_eq!(cursor(&both), Some("b".to_owned()));
        for link in [
            String::new(),
            format!("<{url}>; rel=\"next\""),
            format!("<{url}&cursor=>; rel=\"next\""),
            format!("<{url}&cursor=a>; rel=\"prev\""),
            format!("<{url}&cursor=a b>; rel=\"next\""),
            format!("<{url}&cursor=a/../b>; rel=\"next\""),
            format!("<{url}&cursor={}>; rel=\"next\"", "a".repeat(201)),
        ] {
            assert_eq!(cursor(&link), None, "{link}");
        }
    }
}
