//! The decisions of `svcd check-forge`, pure: from what the forge told to what is wrong.

pub(super) mod webhook;

use super::finding::{Code, Finding};
use crate::domain::dead_letter::FailureCause;
use crate::forge::inspection::{
    AppSettings, DeliveryTry, InstallationSettings, Rights, Untold, WebhookSettings,
};
use crate::forge::payload::CHOSEN_EVENTS;
use crate::forge::{APP_PERMISSIONS, is_refused_by_clock};

/// Path of the public address that webhooks go to.
pub(super) const WEBHOOK_PATH: &str = "/webhooks/forge";
/// Most seconds that clocks may disagree.
const SKEW_SECONDS_MAX: u64 = 30;
/// What the forge sends to every app with write access to check runs, whatever its settings say.
const AUTOMATIC: (&str, &str, &str) = ("check_run", "checks", "write");

const RIGHTS_PAGE: &str = "the page \"Permissions & events\" of the app's settings at the forge";

/// Everything that was asked.
pub(super) struct Observations {
    pub(super) api_url: String,
    pub(super) app_id: i64,
    /// Where the webhook has to go, if the settings say so.
    pub(super) webhook_wanted: Option<String>,
    /// By how much the forge's clock is ahead of ours, if it says its time.
    pub(super) ahead_seconds: Option<i64>,
    pub(super) app: Result<AppSettings, Untold>,
    /// This and what follows is `None` if it was not asked for.
    pub(super) webhook: Option<Result<WebhookSettings, Untold>>,
    pub(super) deliveries: Option<Result<Vec<DeliveryTry>, Untold>>,
    pub(super) installations: Option<Result<Installations, Untold>>,
}

/// Who has installed the app.
pub(super) struct Installations {
    pub(super) tried: Vec<TriedInstallation>,
    /// There are no others.
    pub(super) is_whole: bool,
}

/// An installation, and whether there is a token for it.
pub(super) struct TriedInstallation {
    pub(super) settings: InstallationSettings,
    /// `None` if none was asked for.
    pub(super) token: Option<Result<(), Untold>>,
}

impl Observations {
    /// Says whether the forge answered at all: that it failed, or wants to be asked later, is no answer.
    pub(super) const fn is_answered(&self) -> bool {
        !matches!(
            self.app,
            Err(Untold::NoAnswer(_) | Untold::RateLimited | Untold::Status(500..=599))
        )
    }
}

/// Decides what is wrong, the most basic first.
pub(super) fn diagnose(seen: &Observations) -> Vec<Finding> {
    let mut findings: Vec<Finding> = seen.ahead_seconds.and_then(of_clock).into_iter().collect();
    match &seen.app {
        Err(untold) => findings.extend(of_refusal(seen, *untold)),
        Ok(app) => {
            findings.extend(of_identity(seen.app_id, app));
            findings.extend(of_rights(&app.rights));
        }
    }
    match &seen.webhook {
        Some(Ok(settings)) => {
            findings.extend(webhook::of_settings(settings, seen.webhook_wanted.as_deref()));
        }
        Some(Err(Untold::Status(404))) => findings.push(webhook::missing()),
        Some(Err(untold)) => findings.push(not_told("where the webhook goes", *untold)),
        None => {}
    }
    match &seen.deliveries {
        Some(Ok(tries)) => findings.extend(webhook::of_deliveries(tries)),
        // Without a webhook there are none.
        Some(Err(Untold::Status(404))) | None => {}
        Some(Err(untold)) => findings.push(not_told("which webhooks arrived", *untold)),
    }
    match &seen.installations {
        Some(Ok(installations)) => findings.extend(of_installations(installations)),
        Some(Err(untold)) => findings.push(not_told("who has installed the app", *untold)),
        None => {}
    }
    findings
}

fn of_clock(ahead_seconds: i64) -> Option<Finding> {
    let by = ahead_seconds.unsigned_abs();
    (by > SKEW_SECONDS_MAX).then(|| {
        let side = if ahead_seconds > 0 { "ahead of" } else { "behind" };
        Finding::error(
            Code::ClockSkew,
            format!("the clock of the forge is {by} s {side} this machine's"),
            "synchronize the clock of this machine (timedatectl status), or that of your server: the \
             forge accepts what svcd signs for a few minutes only",
        )
    })
}

/// Decides about a forge that does not say which app we are.
fn of_refusal(seen: &Observations, untold: Untold) -> Option<Finding> {
    let (app, url) = (seen.app_id, &seen.api_url);
    let is_clock = seen.ahead_seconds.is_some_and(is_refused_by_clock);
    match untold {
        // The clock is a finding of its own, and explains it.
        Untold::Status(401) if is_clock => None,
        Untold::Status(401) => Some(Finding::error(
            Code::AppKeyRefused,
            format!("the forge refuses the key in SVC_FORGE_PRIVATE_KEY for app {app}"),
            "compare the App ID on the page \"General\" of the app's settings with SVC_FORGE_APP_ID; then \
             generate a private key on that page, and put it into the file of SVC_FORGE_PRIVATE_KEY_FILE",
        )),
        Untold::Status(404) => Some(Finding::error(
            Code::AppUnknown,
            format!("the forge at {url} has no app {app}"),
            "compare SVC_FORGE_APP_ID with the App ID on the page \"General\" of the app's settings; the \
             SVC_FORGE_API_URL of a server of your own ends with /api/v3",
        )),
        Untold::NoAnswer(Some(cause)) => Some(Finding::error(
            Code::ForgeUnreachable,
            format!("{url} cannot be reached: {cause}"),
            after(cause),
        )),
        other => Some(not_told("which app this is", other)),
    }
}

/// Says that a part was not told.
fn not_told(what: &str, untold: Untold) -> Finding {
    let message = |why: &str| format!("svcd cannot find out {what}: {why}");
    let later = "try again; see the status page of the forge, and its proxies";
    match untold {
        Untold::NoAnswer(cause) => {
            let (why, next) = cause.map_or(("not_sent", later), |it| (it.as_str(), after(it)));
            Finding::error(Code::ForgeUnreachable, message(why), next)
        }
        Untold::RateLimited => Finding::error(
            Code::ForgeUnavailable,
            message("the forge limits the calls of the app now"),
            "try again in an hour at the latest",
        ),
        Untold::Status(status @ 500..=599) => Finding::error(
            Code::ForgeUnavailable,
            message(&format!("the forge answered HTTP {status}")),
            later,
        ),
        Untold::Status(status) => {
            let next = match status {
                400 | 410 => "set SVC_FORGE_API_VERSION to a version that the forge has",
                _ => "check that SVC_FORGE_API_URL is the base of the forge's REST API",
            };
            Finding::error(
                Code::ForgeUnreadable,
                message(&format!("the forge answered HTTP {status}")),
                next,
            )
        }
        Untold::Unreadable => Finding::error(
            Code::ForgeUnreadable,
            message("the answer is not one of a forge's REST API"),
            "check that SVC_FORGE_API_URL is the base of the forge's REST API, such as \
             https://api.github.com or https://forge.example/api/v3",
        ),
    }
}

const fn after(cause: FailureCause) -> &'static str {
    match cause {
        FailureCause::Dns => "check the host in SVC_FORGE_API_URL, and the resolver",
        FailureCause::Refused => {
            "check the port in SVC_FORGE_API_URL, firewalls, and IPAddressDeny= of the unit"
        }
        FailureCause::TlsUntrusted => {
            "set SVC_FORGE_ROOT_CERTIFICATE_FILE to the certificate of your private authority; \
             otherwise look for a proxy that intercepts TLS"
        }
        FailureCause::TlsExpired => {
            "renew the certificate of the forge, or set the clock of this machine"
        }
        FailureCause::TlsName => "use the host in SVC_FORGE_API_URL that the certificate names",
        FailureCause::Timeout => "check the network, firewalls, and the status page of the forge",
        FailureCause::Reset => {
            "check the scheme and port in SVC_FORGE_API_URL, and proxies and firewalls in between"
        }
        FailureCause::Http4xx | FailureCause::Http5xx => "see the status page of the forge",
    }
}

fn of_identity(wanted: i64, app: &AppSettings) -> Option<Finding> {
    (app.id != wanted).then(|| {
        Finding::error(
            Code::AppDiffers,
            format!("the forge says that the key is that of app {}, not {wanted}", app.id),
            "set SVC_FORGE_APP_ID to the App ID on the page \"General\" of the app's settings",
        )
    })
}

/// Decides about what the app asks of those who install it.
fn of_rights(rights: &Rights) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, level) in APP_PERMISSIONS {
        if !has(rights, name, level) {
            findings.push(Finding::error(
                Code::PermissionMissing,
                format!("the app lacks the repository permission {name}: {level}"),
                format!("set it on {RIGHTS_PAGE}; then each installation has to accept it"),
            ));
        }
    }
    for (name, level) in &rights.permissions {
        let is_needed = APP_PERMISSIONS
            .iter()
            .any(|(needed, most)| needed == name && (level == most || level == "read"));
        if !is_needed {
            findings.push(Finding::warning(
                Code::PermissionExcess,
                format!("svcd does not need the permission {name}: {level}"),
                format!("remove or lower it on {RIGHTS_PAGE}, unless something else uses it"),
            ));
        }
    }
    for event in missing_events(rights) {
        findings.push(Finding::error(
            Code::EventMissing,
            format!("the app does not subscribe to the event {event}"),
            format!("select it under \"Subscribe to events\" on {RIGHTS_PAGE}"),
        ));
    }
    for event in &rights.events {
        if !crate::forge::payload::can_ask(event) {
            findings.push(Finding::warning(
                Code::EventExcess,
                format!("svcd does not use the event {event}"),
                format!("clear it under \"Subscribe to events\" on {RIGHTS_PAGE}"),
            ));
        }
    }
    findings
}

fn missing_events(rights: &Rights) -> impl Iterator<Item = &'static str> {
    CHOSEN_EVENTS.into_iter().filter(|event| {
        let (automatic, permission, level) = AUTOMATIC;
        let is_automatic = *event == automatic && has(rights, permission, level);
        !is_automatic && !rights.events.contains(*event)
    })
}

/// Says whether a permission has at least a level.
fn has(rights: &Rights, name: &str, level: &str) -> bool {
    let granted = rights.permissions.get(name).map(String::as_str);
    granted == Some(level) || granted == Some("write")
}

fn of_installations(installations: &Installations) -> Vec<Finding> {
    let Installations { tried, is_whole } = installations;
    if tried.is_empty() && *is_whole {
        return vec![Finding::error(
            Code::InstallationMissing,
            "no account has installed the app",
            "install it on the page \"Install App\" of the app's settings, for the repositories to be released",
        )];
    }
    let mut findings: Vec<Finding> = tried.iter().filter_map(of_installation).collect();
    let unseen = tried.iter().filter(|it| !it.settings.is_suspended && it.token.is_none()).count();
    if unseen > 0 || !is_whole {
        let more = if *is_whole { "" } else { ", and there are more than were listed" };
        findings.push(Finding::warning(
            Code::InstallationUnseen,
            format!("{unseen} of {} installations were not tried{more}", tried.len()),
            "this is a limit of the check: svcd itself has none",
        ));
    }
    findings
}

/// Decides about one installation: the first thing that is wrong explains the rest.
fn of_installation(tried: &TriedInstallation) -> Option<Finding> {
    let settings = &tried.settings;
    let name = match &settings.account {
        Some(account) => format!("installation {} ({})", settings.id, account.as_str()),
        None => format!("installation {}", settings.id),
    };
    if settings.is_suspended {
        return Some(Finding::error(
            Code::InstallationSuspended,
            format!("{name} is suspended: svcd starts nothing for it"),
            "let its owner unsuspend it under \"Installed GitHub Apps\" of the account's settings, or \
             uninstall the app there",
        ));
    }
    let lacking = APP_PERMISSIONS
        .iter()
        .filter(|(permission, level)| !has(&settings.rights, permission, level));
    let lacking: Vec<String> =
        lacking.map(|(permission, level)| format!("{permission}: {level}")).collect();
    if !lacking.is_empty() {
        return Some(Finding::error(
            Code::InstallationOutdated,
            format!("{name} has not granted {}", lacking.join(", ")),
            "let its owner accept the new permissions under \"Installed GitHub Apps\" of the account's settings",
        ));
    }
    let untold = tried.token?.err()?;
    Some(match untold {
        Untold::Status(status @ 400..=499) => Finding::error(
            Code::InstallationTokenRefused,
            format!("the forge refuses a token for {name}: HTTP {status}"),
            "let its owner look at it under \"Installed GitHub Apps\" of the account's settings, and at \
             the IP allow list of the account",
        ),
        untold => not_told(&format!("whether there is a token for {name}"), untold),
    })
}

#[cfg(test)]
mod tests;
