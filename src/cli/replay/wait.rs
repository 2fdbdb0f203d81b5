//! What became of a replay: it is asked for until the item is done, has died again, or is held.

use std::ops::ControlFlow;
use std::time::Duration;

use serde::Serialize;

use crate::api::{DeadLetterDetail, DeadLetterEvent, Installation};
use crate::cli::client::{Client, Failure};
use crate::cli::error::Error;
use crate::cli::poll::{self, Edge, Polled, Schedule};
use crate::cli::{installations, status};
use crate::domain::dead_letter::ItemType;
use crate::domain::id::{AuditEventId, InstallationId};
use crate::domain::outbox::OutboxStatus;
use crate::domain::time::Timestamp;
use crate::runtime::clock::{Clock as _, SystemClock};

/// An effect is held if it cannot be sent for at least this long. The forge is tried every 15 seconds when it cannot be
/// reached, so a replay after a repair is not taken for held.
const HELD_MIN: Duration = Duration::from_secs(20);

/// What became of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReplayState {
    /// The item waits or runs.
    Pending,
    /// The item is done, or not needed any more.
    Done,
    /// The item became a dead letter again.
    DiedAgain,
    /// The effect is not sent yet: the forge asked to wait, or cannot be reached.
    Held,
}

impl ReplayState {
    /// Returns what a person reads.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Done => "done",
            Self::DiedAgain => "dead letter again",
            Self::Held => "held",
        }
    }
}

/// What became of a replay, and how the item stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReplayedItem {
    pub(crate) state: ReplayState,
    /// Status of the item; null once it was deleted.
    pub(crate) status: Option<String>,
    /// Why it died again; null if it did not.
    pub(crate) reason_code: Option<String>,
    /// Until when the forge asked to wait; null if it did not, or the item is not held.
    pub(crate) held_until: Option<Timestamp>,
}

impl ReplayedItem {
    /// What is known before the service was asked.
    pub(crate) const UNKNOWN: Self =
        Self { state: ReplayState::Pending, status: None, reason_code: None, held_until: None };
}

/// A replay that was carried out.
#[derive(Debug)]
pub(crate) struct Replayed<'a> {
    pub(crate) client: &'a Client,
    pub(crate) installation: InstallationId,
    pub(crate) item_type: ItemType,
    /// Path of the item.
    pub(crate) path: &'a str,
    /// The audit event of this replay. There may have been others since.
    pub(crate) audit_event: AuditEventId,
}

impl Replayed<'_> {
    /// Waits until the item is done, has died again, or is held. `seen` is what was seen last, whatever the end.
    pub(crate) fn wait(
        &self,
        schedule: Schedule,
        edge: &mut impl Edge,
        seen: &mut ReplayedItem,
    ) -> Result<Polled<()>, Error> {
        let clock = SystemClock::new();
        poll::until(schedule, edge, |_| {
            *seen = self.ask(clock.now(), clock.monotonic())?;
            Ok(match seen.state {
                ReplayState::Pending => ControlFlow::Continue(()),
                ReplayState::Done | ReplayState::DiedAgain | ReplayState::Held => {
                    ControlFlow::Break(())
                }
            })
        })
    }

    fn ask(&self, now: Timestamp, waited: Duration) -> Result<ReplayedItem, Failure> {
        let item = of_story(&self.client.get(self.path)?, &self.audit_event);
        let waits = item.state == ReplayState::Pending
            && item.status.as_deref() == Some(OutboxStatus::Available.as_str());
        // Only effects wait for the forge.
        if !waits || self.item_type == ItemType::Job {
            return Ok(item);
        }
        let hold = Hold {
            paused_until: installations::one(self.client, self.installation)?
                .and_then(|known: Installation| known.paused_until),
            is_unreachable: status::is_forge_unreachable(self.client)?,
        };
        Ok(if hold.holds(now, waited) {
            ReplayedItem { state: ReplayState::Held, held_until: hold.paused_until, ..item }
        } else {
            item
        })
    }
}

/// Returns what became of a replay, by the story of its item: the first thing that happened after it.
pub(crate) fn of_story(item: &DeadLetterDetail, replay: &AuditEventId) -> ReplayedItem {
    let is_replay = |event: &DeadLetterEvent| event.audit_event_id.as_ref() == Some(replay);
    let after = item.history.iter().rposition(is_replay).map_or(0, |place| place + 1);
    let died = item.history.iter().skip(after).find(|event| event.event == "died");
    let status = item.status.clone();
    let state = match (died, status.as_deref().and_then(OutboxStatus::from_word)) {
        (Some(_), _) => ReplayState::DiedAgain,
        // What was deleted had ended.
        (None, Some(OutboxStatus::Completed | OutboxStatus::Superseded)) => ReplayState::Done,
        (None, None) if status.is_none() => ReplayState::Done,
        (None, Some(OutboxStatus::Held)) => ReplayState::Held,
        (None, _) => ReplayState::Pending,
    };
    let reason_code = died.and_then(|event| event.reason_code.clone());
    ReplayedItem { state, status, reason_code, held_until: None }
}

/// What keeps an effect from being sent.
struct Hold {
    paused_until: Option<Timestamp>,
    is_unreachable: bool,
}

impl Hold {
    fn holds(&self, now: Timestamp, waited: Duration) -> bool {
        match self.paused_until {
            Some(until) if until >= now.plus(HELD_MIN) => true,
            Some(_) => waited >= HELD_MIN,
            None => self.is_unreachable && waited >= HELD_MIN,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const MINE: &str = "0199f3a0-0000-7000-8000-0000000000ff";
    const OTHER: &str = "0199f3a0-0000-7000-8000-0000000000fe";

    fn event(event: &str, reason: Value, audit: Value) -> Value {
        json!({"event": event, "at": "2020-01-01T00:00:00Z", "reasonCode": reason, "attemptCount": null,
            "actor": null, "reason": null, "auditEventId": audit})
    }

    fn story(status: Value, history: Vec<Value>) -> ReplayedItem {
        let item = json!({"itemType": "outbox", "itemId": MINE, "repository": null,
            "reasonCode": "forge_unavailable", "errorClass": "unavailable", "cause": null, "attemptCount": 1,
            "failedAt": "2020-01-01T00:00:00Z", "replaySafe": false, "effectKind": null, "releaseRunId": null,
            "replayClass": "refused", "jobAction": null, "attemptId": null, "attemptNumber": null, "gitRef": null,
            "status": status, "allowed": [], "history": history});
        of_story(&serde_json::from_value(item).unwrap(), &MINE.parse().unwrap())
    }

    #[test]
    fn the_first_thing_after_the_replay_counts() {
        let died = |reason: &str| event("died", json!(reason), Value::Null);
        let replayed = |audit: &str| event("replayed", Value::Null, json!(audit));
        let open = || vec![died("forge_unavailable"), replayed(MINE)];
        for (status, state) in [
            ("available", ReplayState::Pending),
            ("leased", ReplayState::Pending),
            ("of_tomorrow", ReplayState::Pending),
            ("held", ReplayState::Held),
            ("completed", ReplayState::Done),
            ("superseded", ReplayState::Done),
        ] {
            assert_eq!(story(json!(status), open()).state, state, "{status}");
        }
        assert_eq!(story(Value::Null, open()).state, ReplayState::Done, "it was deleted");

        // Another operator replayed it after it died again, and that went well.
        let mut history = open();
        history.extend([died("crash_loop"), replayed(OTHER)]);
        let item = story(json!("completed"), history);
        assert_eq!(
            (item.state, item.reason_code.as_deref()),
            (ReplayState::DiedAgain, Some("crash_loop"))
        );
    }

    #[test]
    fn an_effect_is_held_if_it_waits_long() {
        let now = Timestamp::from_micros(1_795_251_600_000_000);
        let (short, long) = (HELD_MIN / 2, HELD_MIN);
        let holds = |paused_for: Option<Duration>, is_unreachable, waited| {
            let paused_until = paused_for.map(|wait| now.plus(wait));
            Hold { paused_until, is_unreachable }.holds(now, waited)
        };
        assert!(holds(Some(long), false, Duration::ZERO));
        assert!(!holds(Some(short), false, short) && holds(Some(short), false, long));
        assert!(!holds(None, true, short) && holds(None, true, long));
        assert!(!holds(None, false, long));
    }
}
