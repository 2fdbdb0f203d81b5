//! What an answer of the forge means: the classes of failure, and how long it asks to wait.

use std::time::Duration;

use http::{HeaderMap, StatusCode};
use serde::de::DeserializeOwned;

use crate::domain::dead_letter::ErrorClass;
use crate::domain::outbox::SendResult;
use crate::domain::reconcile;
use crate::domain::time::Timestamp;

/// Wait when the forge limits us without saying for how long.
const WAIT_UNSTATED: Duration = Duration::from_mins(1);
/// Shortest wait: an answer that asks for none must not make a loop.
const WAIT_MIN: Duration = Duration::from_secs(1);
/// Longest wait, whatever the forge says: its windows are an hour long.
const WAIT_MAX: Duration = Duration::from_hours(1);
/// Longest wait of a forge that is unavailable: it may be back earlier than it believes.
const WAIT_UNAVAILABLE_MAX: Duration = Duration::from_mins(15);

pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// `None` when it was cut off, too slow or too large.
    pub(super) body: Option<Vec<u8>>,
    /// It came from where the repository has moved to.
    pub(super) moved: bool,
}

/// Whether a call that may have had its effect can do harm when it is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    /// It makes something.
    Harms,
    /// It sets a state.
    Harmless,
}

impl Answer {
    /// Returns a header that is text.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Reads the body, which must be a JSON object.
    pub(super) fn object<T: DeserializeOwned>(&self) -> Option<T> {
        let body = self.body.as_deref()?;
        // serde reads a struct from an array as well, by position.
        if !body.trim_ascii_start().starts_with(b"{") {
            return None;
        }
        serde_json::from_slice(body).ok()
    }

    /// Reads the body, which must be a JSON array.
    pub(super) fn array<T: DeserializeOwned>(&self) -> Option<Vec<T>> {
        serde_json::from_slice(self.body.as_deref()?).ok()
    }

    /// Returns why an answer that is not the one hoped for tells nothing.
    pub(super) fn unavailable(&self, now: Timestamp) -> reconcile::Unavailable {
        reconcile::Unavailable { class: self.class(now), wait_until: self.wait_until(now) }
    }

    /// Says whether the body, in the forge's own words, mentions `text` in any case.
    pub(super) fn mentions(&self, text: &str) -> bool {
        let body = self.body.as_deref().unwrap_or_default();
        body.windows(text.len()).any(|window| window.eq_ignore_ascii_case(text.as_bytes()))
    }

    /// Returns until when the forge asks to wait; `None` when it does not limit us.
    pub(super) fn limited_until(&self, now: Timestamp) -> Option<Timestamp> {
        let wait = if !matches!(self.status.as_u16(), 403 | 429) {
            return None;
        } else if self.headers.contains_key("retry-after") {
            // It may also be a date (RFC 9110, 10.2.3); the forge documents seconds only.
            self.number("retry-after").map_or(WAIT_UNSTATED, Duration::from_secs)
        } else if self.number("x-ratelimit-remaining") == Some(0) {
            let reset = self.number("x-ratelimit-reset").map(Duration::from_secs);
            // Seconds since 1970 by the forge's clock; a time that is past becomes the shortest wait.
            reset.map_or(WAIT_UNSTATED, |reset| Timestamp::from_micros(0).plus(reset).since(now))
        } else if self.status == StatusCode::TOO_MANY_REQUESTS || self.mentions("rate limit") {
            // A secondary limit can be a 403 without a header; only its text tells it from a missing permission.
            WAIT_UNSTATED
        } else {
            return None;
        };
        Some(now.plus(wait.clamp(WAIT_MIN, WAIT_MAX)))
    }

    /// Returns until when the forge asks to wait, because it limits us or is unavailable.
    pub(super) fn wait_until(&self, now: Timestamp) -> Option<Timestamp> {
        if self.status != StatusCode::SERVICE_UNAVAILABLE {
            return self.limited_until(now);
        }
        // Without a stated wait the retry policy decides, so there is no pause of the whole installation.
        let wait = Duration::from_secs(self.number("retry-after")?);
        Some(now.plus(wait.clamp(WAIT_MIN, WAIT_UNAVAILABLE_MAX)))
    }

    /// Says whether the answer bears a documented mark of the forge's limiter, which turns a request away
    /// before it has any effect.
    fn is_from_the_limiter(&self) -> bool {
        self.headers.contains_key("retry-after") || self.number("x-ratelimit-remaining") == Some(0)
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.header(name)?.parse().ok()
    }

    /// Returns the class of an answer that is not the one hoped for.
    pub(super) fn class(&self, now: Timestamp) -> ErrorClass {
        match self.status.as_u16() {
            // First, because a limit is answered with the same 403 as a missing permission.
            _ if self.limited_until(now).is_some() => ErrorClass::RateLimited,
            401 => ErrorClass::Authentication,
            403 | 451 => ErrorClass::Permission,
            404 => ErrorClass::NotFound,
            400 | 422 => ErrorClass::Validation,
            500..=599 => ErrorClass::Unavailable,
            _ => ErrorClass::Protocol,
        }
    }

    /// Returns what a write came to that was not answered as hoped. Only what is known to mean "no
    /// effect" is called a refusal.
    pub(super) fn failure(&self, repeat: Repeat, now: Timestamp) -> SendResult {
        let class = self.class(now);
        match (self.limited_until(now), self.status.as_u16()) {
            // The forge does not promise that such a 429 was sent before the write was carried out.
            (Some(until), 429) if repeat == Repeat::Harms && !self.is_from_the_limiter() => {
                SendResult::Uncertain(class, Some(until))
            }
            (Some(until), _) => SendResult::RateLimited(until),
            (None, 400 | 401 | 403 | 404 | 422) => SendResult::Refused(class),
            // A status that is not documented proves no refusal of a `POST`: a proxy in between may have answered.
            (None, 400..=499) if repeat == Repeat::Harmless => SendResult::Refused(class),
            (None, _) => SendResult::Uncertain(class, self.wait_until(now)),
        }
    }
}

/// Returns the class of a failure; `None` when it is none.
pub(super) const fn class_of(result: SendResult) -> Option<ErrorClass> {
    match result {
        SendResult::Dispatched(_)
        | SendResult::CheckRunExists(_)
        | SendResult::CheckRunUpdated
        | SendResult::Deferred(_)
        | SendResult::Postponed => None,
        SendResult::Impossible(_) => Some(ErrorClass::State),
        SendResult::RateLimited(_) => Some(ErrorClass::RateLimited),
        SendResult::CheckRunMismatch => Some(ErrorClass::Identity),
        SendResult::TokenRefused(class)
        | SendResult::NotSent(class, _)
        | SendResult::Refused(class)
        | SendResult::Uncertain(class, _) => Some(class),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_795_251_600_000_000);

    fn answer(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Answer {
        Answer {
            status: StatusCode::from_u16(status).expect("the status is valid"),
            headers: headers
                .iter()
                .map(|(name, value)| {
                    let value = value.parse().expect("the value is valid");
                    (http::HeaderName::from_static(name), value)
                })
                .collect(),
            body: Some(body.as_bytes().to_vec()),
            moved: false,
        }
    }

    #[test]
    fn waits_are_read_in_the_order_the_forge_asks_for_and_bounded() {
        let reset = ("x-ratelimit-reset", "1795251690");
        let none_left = ("x-ratelimit-remaining", "0");
        for (answer, wanted) in [
            (answer(403, &[("retry-after", "30"), none_left, reset], ""), Some(30)),
            (answer(403, &[("retry-after", "0")], ""), Some(1)),
            (answer(403, &[("retry-after", "99999999999999999")], ""), Some(3_600)),
            (answer(403, &[("retry-after", "soon")], ""), Some(60)),
            (answer(403, &[none_left, reset], ""), Some(90)),
            (answer(403, &[none_left, ("x-ratelimit-reset", "1")], ""), Some(1)),
            (
                answer(403, &[none_left, ("x-ratelimit-reset", "18446744073709551615")], ""),
                Some(3_600),
            ),
            (answer(403, &[none_left], ""), Some(60)),
            (answer(403, &[("x-ratelimit-remaining", "1"), reset], ""), None),
            (
                answer(403, &[], "{\"message\":\"You have exceeded a secondary Rate Limit\"}"),
                Some(60),
            ),
            (answer(403, &[], "{\"message\":\"Resource not accessible\"}"), None),
            (answer(429, &[], ""), Some(60)),
            (answer(429, &[("retry-after", "5")], ""), Some(5)),
            (answer(404, &[("retry-after", "5")], "rate limit"), None),
            (answer(503, &[("retry-after", "5")], ""), None),
        ] {
            let wanted = wanted.map(|seconds| NOW.plus(Duration::from_secs(seconds)));
            assert_eq!(answer.limited_until(NOW), wanted, "{:?}", answer.headers);
        }
    }

    #[test]
    fn only_a_definite_refusal_is_called_one() {
        use ErrorClass::*;
        use SendResult::{Refused, Uncertain};
        for (status, harms, harmless) in [
            (200, Uncertain(Protocol, None), Uncertain(Protocol, None)),
            (301, Uncertain(Protocol, None), Uncertain(Protocol, None)),
            (307, Uncertain(Protocol, None), Uncertain(Protocol, None)),
            (400, Refused(Validation), Refused(Validation)),
            (401, Refused(Authentication), Refused(Authentication)),
            (403, Refused(Permission), Refused(Permission)),
            (404, Refused(NotFound), Refused(NotFound)),
            (408, Uncertain(Protocol, None), Refused(Protocol)),
            (409, Uncertain(Protocol, None), Refused(Protocol)),
            (410, Uncertain(Protocol, None), Refused(Protocol)),
            (422, Refused(Validation), Refused(Validation)),
            (451, Uncertain(Permission, None), Refused(Permission)),
            (500, Uncertain(Unavailable, None), Uncertain(Unavailable, None)),
            (503, Uncertain(Unavailable, None), Uncertain(Unavailable, None)),
        ] {
            let answer = answer(status, &[], "");
            assert_eq!(answer.failure(Repeat::Harms, NOW), harms, "{status}");
            assert_eq!(answer.failure(Repeat::Harmless, NOW), harmless, "{status}");
        }
        let until = NOW.plus(Duration::from_secs(7));
        let limited = |status| answer(status, &[("retry-after", "7")], "");
        assert_eq!(limited(403).failure(Repeat::Harms, NOW), SendResult::RateLimited(until));
        assert_eq!(limited(429).failure(Repeat::Harms, NOW), SendResult::RateLimited(until));
        assert_eq!(limited(429).failure(Repeat::Harmless, NOW), SendResult::RateLimited(until));
        let none_left = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1795251607")];
        assert_eq!(
            answer(429, &none_left, "").failure(Repeat::Harms, NOW),
            SendResult::RateLimited(until)
        );
        let unmarked = NOW.plus(Duration::from_secs(60));
        for (headers, body) in [(&[][..], ""), (&[("x-ratelimit-remaining", "1")], "rate limit")] {
            let answer = answer(429, headers, body);
            let uncertain = Uncertain(RateLimited, Some(unmarked));
            assert_eq!(answer.failure(Repeat::Harms, NOW), uncertain);
            assert_eq!(answer.failure(Repeat::Harmless, NOW), SendResult::RateLimited(unmarked));
        }
    }

    #[test]
    fn a_forge_that_is_unavailable_says_for_how_long_and_no_longer_than_a_quarter_of_an_hour() {
        for (headers, wanted) in [
            (&[][..], None),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "0")], Some(1)),
            (&[("retry-after", "120")], Some(120)),
            (&[("retry-after", "86400")], Some(900)),
        ] {
            let until = wanted.map(|seconds| NOW.plus(Duration::from_secs(seconds)));
            let answer = answer(503, headers, "");
            let uncertain = SendResult::Uncertain(ErrorClass::Unavailable, until);
            for repeat in [Repeat::Harms, Repeat::Harmless] {
                assert_eq!(answer.failure(repeat, NOW), uncertain, "{headers:?}");
            }
            let told = reconcile::Unavailable { class: ErrorClass::Unavailable, wait_until: until };
            assert_eq!(answer.unavailable(NOW), told, "{headers:?}");
        }
        let elsewhere = answer(502, &[("retry-after", "120")], "");
        assert_eq!(elsewhere.wait_until(NOW), None);
    }

    #[test]
    fn only_an_object_is_read() {
        #[derive(serde::Deserialize)]
        struct Id {
            id: i64,
        }
        let read = |body| answer(200, &[], body).object::<Id>().map(|it| it.id);
        assert_eq!(read(" {\"id\":1,\"x\":[{}]}"), Some(1));
        for body in
            ["", "[1]", "1", "null", "<html>", "{\"id\":1", "{\"id\":\"1\"}", "{\"id\":1.0}"]
        {
            assert_eq!(read(body), None, "{body}");
        }
        let cut = Answer { body: None, ..answer(200, &[], "") };
        assert!(cut.object::<Id>().is_none());
    }
}
