//! What may be wrong with the app, by stable words, each with the next step.

use serde::Serialize;

/// What is wrong; in JSON by its name in snake case, which stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Code {
    /// There is no connection to the forge, or no answer.
    ForgeUnreachable,
    /// The forge, or a proxy in front of it, fails or asks to wait.
    ForgeUnavailable,
    /// What answers does not answer as the forge's API.
    ForgeUnreadable,
    /// Clocks disagree.
    ClockSkew,
    /// The key does not belong to the app.
    AppKeyRefused,
    /// The forge does not know the app.
    AppUnknown,
    /// The forge says that we are another app.
    AppDiffers,
    /// The app lacks a permission.
    PermissionMissing,
    /// The app has a permission that it does not need.
    PermissionExcess,
    /// The app does not get an event.
    EventMissing,
    /// The app gets an event that leads to nothing.
    EventExcess,
    /// The app has no webhook.
    WebhookMissing,
    /// The webhook goes somewhere else.
    WebhookElsewhere,
    /// The webhook is not sent as JSON.
    WebhookNotJson,
    /// The webhook is not signed.
    WebhookUnsigned,
    /// The forge does not check who receives the webhook.
    WebhookInsecure,
    /// Webhooks do not arrive.
    DeliveriesFailing,
    /// Webhooks did not arrive, and later ones did.
    DeliveriesLost,
    /// No account has installed the app.
    InstallationMissing,
    InstallationSuspended,
    /// The owner of an installation has not accepted what the app asks for.
    InstallationOutdated,
    /// There is no token for an installation.
    InstallationTokenRefused,
    /// Not every installation was looked at.
    InstallationUnseen,
}

/// Whether releases fail for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FindingSeverity {
    /// They do, or will.
    Error,
    /// They do not.
    Warning,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) severity: FindingSeverity,
    pub(super) code: Code,
    /// What it is, in a sentence.
    pub(super) message: String,
    /// What to change, and where.
    pub(super) next: String,
}

impl Finding {
    pub(super) fn error(code: Code, message: impl Into<String>, next: impl Into<String>) -> Self {
        Self { severity: FindingSeverity::Error, code, message: message.into(), next: next.into() }
    }

    pub(super) fn warning(code: Code, message: impl Into<String>, next: impl Into<String>) -> Self {
        Self { severity: FindingSeverity::Warning, ..Self::error(code, message, next) }
    }
}
