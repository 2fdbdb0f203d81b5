//! What is decided about the app's webhook: where it goes, and whether it arrived.

use std::collections::BTreeSet;

use http::Uri;

use super::WEBHOOK_PATH;
use crate::daemon::check_forge::finding::{Code, Finding};
use crate::forge::inspection::{DeliveryTry, WebhookSettings};

/// Longest address that is shown, in bytes.
const URL_BYTES_MAX: usize = 500;

/// Where a person asks for a webhook again.
const REDELIVER: &str = "redeliver it under \"Recent Deliveries\" on the page \"Advanced\" of the app's settings at the forge";

const PAGE: &str = "on the page \"General\" of the app's settings at the forge";

/// Returns the address of a webhook without what may be secret: a password, or a query.
pub(in crate::daemon::check_forge) fn shown(url: &str) -> Option<String> {
    let uri = url.parse::<Uri>().ok().filter(|_| url.len() <= URL_BYTES_MAX)?;
    let authority = uri.authority()?.as_str();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    Some(format!("{}://{}{}", uri.scheme_str()?, host.to_ascii_lowercase(), uri.path()))
}

pub(super) fn missing() -> Finding {
    Finding::error(
        Code::WebhookMissing,
        "the app has no webhook, so svcd learns of no tag",
        format!(
            "{PAGE}, make the webhook active, with the public address of svcd followed by {WEBHOOK_PATH}"
        ),
    )
}

pub(super) fn of_settings(settings: &WebhookSettings, wanted: Option<&str>) -> Vec<Finding> {
    if settings.url.is_empty() {
        return vec![missing()];
    }
    let mut findings = Vec::new();
    let url = shown(&settings.url);
    let is_there = match (&url, wanted) {
        (Some(url), Some(wanted)) => url == wanted,
        // The settings do not say under which name svcd is reached.
        (Some(url), None) => url.ends_with(WEBHOOK_PATH),
        (None, _) => false,
    };
    if !is_there {
        let public = format!("the public address of svcd followed by {WEBHOOK_PATH}");
        let wanted = wanted.map_or(public, str::to_owned);
        let url = url.as_deref().unwrap_or("something that is not a URL");
        findings.push(Finding::error(
            Code::WebhookElsewhere,
            format!("the webhook goes to {url}"),
            format!("{PAGE}, set the webhook URL to {wanted}"),
        ));
    }
    if settings.content_type != "json" {
        findings.push(Finding::error(
            Code::WebhookNotJson,
            "the webhook is not sent as JSON, and svcd accepts nothing else",
            format!("{PAGE}, set the content type of the webhook to application/json"),
        ));
    }
    if !settings.has_secret {
        findings.push(Finding::error(
            Code::WebhookUnsigned,
            "the webhook has no secret, so svcd refuses every delivery",
            format!("{PAGE}, set the webhook secret to that of SVC_WEBHOOK_SECRET"),
        ));
    }
    let is_plain = url.is_some_and(|url| url.starts_with("http:"));
    if settings.is_insecure || is_plain {
        findings.push(Finding::warning(
            Code::WebhookInsecure,
            "the forge does not check the certificate of who receives the webhook",
            format!("{PAGE}, use an https URL for the webhook, and enable SSL verification"),
        ));
    }
    findings
}

/// Decides about the last tries, the newest first. What failed once and arrived later is not wrong.
pub(super) fn of_deliveries(tries: &[DeliveryTry]) -> Option<Finding> {
    let failing: Vec<&DeliveryTry> = tries.iter().take_while(|it| !arrived(it)).collect();
    if let Some(newest) = failing.first() {
        let status = newest.status;
        return Some(Finding::error(
            Code::DeliveriesFailing,
            format!(
                "the last {} of {} webhooks did not arrive, the newest with status {status} at {}",
                failing.len(),
                tries.len(),
                newest.at
            ),
            format!(
                "{}; then {REDELIVER}: the finding ends with a webhook that arrives",
                after(status)
            ),
        ));
    }
    let arrived_later: BTreeSet<&str> =
        tries.iter().filter(|it| arrived(it)).map(|it| it.guid.as_str()).collect();
    let lost: BTreeSet<&str> = tries.iter().map(|it| it.guid.as_str()).collect();
    let lost = lost.difference(&arrived_later).count();
    (lost > 0).then(|| {
        Finding::warning(
            Code::DeliveriesLost,
            format!("{lost} of the last webhooks did not arrive, but the newest did"),
            format!("with SVC_WEBHOOK_REDELIVERY=true, svcd requests those again that require work; otherwise, {REDELIVER}"),
        )
    })
}

/// Says whether the receiver took it.
pub(in crate::daemon::check_forge) const fn arrived(tried: &DeliveryTry) -> bool {
    matches!(tried.status, 200..=299)
}

/// Says what to do about the status of a delivery.
const fn after(status: u16) -> &'static str {
    match status {
        400 | 415 => {
            "let the proxy in front of svcd pass bodies and headers on unchanged; the content type of \
             the webhook has to be application/json"
        }
        401 | 403 => {
            "set the same secret in SVC_WEBHOOK_SECRET and for the webhook on the page \"General\" of the app's \
             settings; svcd reads a changed secret file only after svcctl reload"
        }
        404 | 405 => {
            "set the webhook URL to the public address of svcd followed by /webhooks/forge, and let the \
             proxy pass the path on unchanged"
        }
        411 | 413 => {
            "let the proxy in front of svcd send a Content-Length, and allow bodies of 25 MB there and in \
             SVC_WEBHOOK_BODY_BYTES"
        }
        _ => {
            "check that svcd is running and ready (svcctl status), and that the forge can reach it: name, \
             port, TLS, proxy"
        }
    }
}
