//! Taking in a webhook: signature first, then meaning, then the disk, then the answer.

use crate::app::{App, Error};
use crate::crypto::sha256;
use crate::domain::delivery::{self, DeliveryId, NewDelivery};
use crate::forge::payload;
use crate::metrics::DeliveryOutcome;

/// A webhook as it arrived. Nothing of it is trusted yet.
#[derive(Clone, Copy, Debug)]
pub struct Webhook<'a> {
    /// Signature header, when there is exactly one.
    pub signature: Option<&'a str>,
    /// Delivery id header, when there is exactly one.
    pub delivery_id: Option<&'a str>,
    /// Event header, when there is exactly one.
    pub event: Option<&'a str>,
    /// The body is declared as plain JSON.
    pub is_json: bool,
    /// The raw body.
    pub body: &'a [u8],
}

words! {
    /// What became of a webhook that was taken in.
    Intake {
        /// It is on disk, with a job.
        Accepted => "accepted",
        /// It is on disk and asks nothing of us.
        Ignored => "ignored",
        /// It was on disk before.
        Duplicate => "duplicate",
    }
}

impl App {
    /// Takes in a webhook. An `Ok` is on disk.
    ///
    /// # Errors
    /// [`Error::BadSignature`] before anything is read into it; [`Error::InvalidRequest`] and
    /// [`Error::UnsupportedMediaType`] when it is signed and unusable; [`Error::Unavailable`] when it
    /// is not known to be on disk, so that the forge counts it as failed.
    pub fn receive(&self, webhook: &Webhook<'_>) -> Result<Intake, Error> {
        let began = self.clock.monotonic();
        let taken = self.take_in(webhook);
        let outcome = match &taken {
            Ok((_, outcome)) => *outcome,
            Err(Error::BadSignature) => DeliveryOutcome::BadSignature,
            Err(Error::InvalidRequest(_) | Error::UnsupportedMediaType) => {
                DeliveryOutcome::Unusable
            }
            Err(_) => DeliveryOutcome::Unavailable,
        };
        self.metrics.deliveries.count(outcome);
        if taken.is_ok() {
            self.metrics.webhook_acks.observe(self.clock.monotonic().saturating_sub(began));
        }
        if matches!(taken, Err(Error::BadSignature)) {
            self.say_bad_signature();
        }
        taken.map(|(intake, _)| intake)
    }

    fn say_bad_signature(&self) {
        let Some(suppressed) = self.refused.webhook.due(self.clock.monotonic()) else { return };
        log::warn!(event = "webhook.bad_signature", suppressed; "a webhook was refused: its signature is not valid");
    }

    fn take_in(&self, webhook: &Webhook<'_>) -> Result<(Intake, DeliveryOutcome), Error> {
        let rules = self.intake.as_ref().ok_or(Error::ForgeOff)?;
        rules.secrets.verify(webhook.signature, webhook.body).map_err(|_| Error::BadSignature)?;
        if !webhook.is_json {
            return Err(Error::UnsupportedMediaType);
        }
        let id: DeliveryId = webhook
            .delivery_id
            .and_then(|text| text.parse().ok())
            .ok_or(Error::InvalidRequest("send one X-GitHub-Delivery header, a GUID".into()))?;
        let event =
            webhook.event.ok_or(Error::InvalidRequest("send one X-GitHub-Event header".into()))?;
        let normalised = payload::normalise(event, webhook.body, &rules.payload).map_err(|_| {
            Error::InvalidRequest("the body must be one JSON object without repeated keys".into())
        })?;
        let recorded = self.store.record_delivery(NewDelivery {
            id: id.clone(),
            event: normalised.event,
            installation: normalised.installation,
            repository: normalised.repository,
            body_sha256: sha256::of(webhook.body),
            action: normalised.action,
        })?;
        Ok(match recorded {
            delivery::Recorded::Accepted(job) => {
                self.worker_notify.jobs.notify();
                log::info!(event = "webhook.accepted", delivery_id:% = id, forge_event = normalised.event, job_id:% = job; "a webhook became a job");
                (Intake::Accepted, DeliveryOutcome::Accepted)
            }
            delivery::Recorded::Ignored => {
                log::debug!(event = "webhook.ignored", delivery_id:% = id, forge_event = normalised.event; "a webhook requires no work");
                (Intake::Ignored, DeliveryOutcome::Ignored)
            }
            delivery::Recorded::Duplicate => {
                log::info!(event = "webhook.duplicate", delivery_id:% = id; "a webhook was received again");
                (Intake::Duplicate, DeliveryOutcome::Duplicate)
            }
            delivery::Recorded::Conflict => {
                log::warn!(event = "webhook.conflict", delivery_id:% = id; "a webhook was received again with a different body; the first one is kept");
                // An error would mark the delivery as failed, and it would be requested again.
                (Intake::Duplicate, DeliveryOutcome::Conflict)
            }
        })
    }
}
