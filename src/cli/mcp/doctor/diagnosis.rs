//! The decisions of the doctor, pure: from what was asked to what is wrong.

use std::collections::BTreeSet;

use super::findings::{Code, Finding};
use super::issuer;
use super::probe::{Answer, Exchange};
use crate::api::{self, McpStatus, ProtectedResource};
use crate::config::SettingProblem;
use crate::crypto::jose::Algorithm;
use crate::crypto::jose::key_set::KeySet;
use crate::mcp::description::without_query;

/// Most seconds that clocks may disagree; tokens are taken a minute too early or too late.
const SKEW_SECONDS_MAX: u64 = 30;
/// The header by which a proxy says whose request it passes on.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// Everything that was asked.
pub(super) struct Facts {
    pub(super) environment: Environment,
    pub(super) daemon: Result<McpStatus, Away>,
    /// What a client found at `/mcp`; nothing while that has no address.
    pub(super) endpoint: Option<Exchange>,
    /// The OAuth metadata; `None` where no token is asked for.
    pub(super) metadata: Option<Exchange>,
    /// The issuer's own metadata; `None` where no token is asked for.
    pub(super) issuer: Option<Exchange>,
    /// The issuer's keys; `None` where no token is asked for.
    pub(super) keys: Option<Exchange>,
}

/// The settings of this environment.
pub(super) struct Environment {
    /// `None` when one cannot be used.
    pub(super) status: Option<McpStatus>,
    pub(super) problems: Vec<SettingProblem>,
    pub(super) warnings: Vec<SettingProblem>,
}

/// Why the daemon does not answer.
pub(super) struct Away {
    message: String,
    next: String,
}

impl Away {
    pub(super) fn new(message: String, hints: &[String]) -> Self {
        let next = if hints.is_empty() { "try again".to_owned() } else { hints.join("; ") };
        Self { message, next }
    }
}

/// What is decided.
pub(super) struct Diagnosis {
    pub(super) findings: Vec<Finding>,
    /// The algorithms of the issuer's usable keys, one for each; `None` if the keys were not asked for or not received.
    pub(super) keys: Option<Vec<&'static str>>,
    /// Largest clock difference in seconds, positive if the other clock is ahead; `None` if no server sent its time.
    pub(super) ahead_seconds: Option<i64>,
}

impl Facts {
    /// Returns what clients meet: the daemon's settings, and those of this environment while it does not answer.
    pub(super) fn subject(&self) -> Option<&McpStatus> {
        self.daemon.as_ref().ok().or(self.environment.status.as_ref())
    }

    fn exchanges(&self) -> impl Iterator<Item = &Exchange> {
        [&self.endpoint, &self.metadata, &self.issuer, &self.keys].into_iter().flatten()
    }
}

/// Decides what is wrong.
pub(super) fn diagnose(facts: &Facts) -> Diagnosis {
    let mut findings = of_environment(&facts.environment);
    match (&facts.daemon, &facts.environment.status) {
        (Err(away), _) => {
            findings.push(Finding::new(Code::DaemonAway, &away.message, &away.next));
        }
        (Ok(daemon), Some(environment)) => findings.extend(differences(environment, daemon)),
        (Ok(_), None) => {}
    }
    let mut keys = None;
    if let Some(subject) = facts.subject() {
        findings.extend(facts.endpoint.as_ref().and_then(|it| of_endpoint(subject, it)));
        if let Some(authorization) = &subject.authorization {
            let resource = subject.endpoint.as_deref().unwrap_or_default();
            // Where nothing answers at all, that is the one thing that is wrong.
            let is_reached = facts.endpoint.as_ref().is_none_or(|it| it.outcome.is_ok());
            let metadata = facts.metadata.as_ref().filter(|_| is_reached);
            findings.extend(metadata.and_then(|it| of_metadata(authorization, resource, it)));
            findings
                .extend(facts.issuer.as_ref().and_then(|it| issuer::diagnose(authorization, it)));
            match facts.keys.as_ref().map(|it| usable_keys(authorization, it)) {
                Some(Ok(usable)) => keys = Some(usable),
                Some(Err(finding)) => findings.push(finding),
                None => {}
            }
        }
    }
    findings.extend(facts.daemon.as_ref().ok().and_then(of_proxy));
    let skew = largest_skew(facts);
    findings.extend(skew.and_then(|(url, seconds)| of_skew(url, seconds)));
    Diagnosis { findings, keys, ahead_seconds: skew.map(|(_, seconds)| seconds) }
}

fn of_environment(environment: &Environment) -> Vec<Finding> {
    let finding = |code, next: &'static str| {
        move |problem: &SettingProblem| Finding::new(code, problem.to_string(), next)
    };
    let refused = finding(Code::SettingRefused, "correct it; svcd check-config reads all settings");
    let ignored = finding(Code::SettingIgnored, "correct the name, or remove the variable");
    let problems = environment.problems.iter().map(refused);
    problems.chain(environment.warnings.iter().map(ignored)).collect()
}

/// Returns a finding for each setting that the two do not share.
fn differences(environment: &McpStatus, daemon: &McpStatus) -> Vec<Finding> {
    let on = |is_on: bool| Some(if is_on { "on" } else { "off" }.to_owned());
    let general = |status: &McpStatus| {
        [
            ("/mcp", on(status.enabled)),
            ("support for modern revisions", on(status.modern_routing)),
            ("the default revision", Some(status.default_revision.to_string())),
        ]
    };
    // What is off has no other settings.
    let both_serve = environment.enabled && daemon.enabled;
    let pairs = general(environment).into_iter().zip(general(daemon));
    let served = served(environment).into_iter().zip(served(daemon)).filter(|_| both_serve);
    let differing = pairs.chain(served).filter_map(|((what, here), (_, there))| {
        let (here, there) = here.zip(there).filter(|(here, there)| here != there)?;
        let next = "restart svcd after a change of its settings; otherwise run this with the environment of svcd";
        let message =
            format!("{what} is {here} in this environment, and {there} in the running svcd");
        Some(Finding::new(Code::DaemonDiffers, message, next))
    });
    differing.collect()
}

/// Returns the settings of what is on; `None` is what cannot be compared.
fn served(status: &McpStatus) -> [(&'static str, Option<String>); 6] {
    let authorization = status.authorization.as_ref();
    let issuer = authorization.map_or("none", |it| &it.issuer);
    let audience = authorization.map(|it| match &status.endpoint {
        // It follows the endpoint unless it is set: one difference, and not two.
        Some(endpoint) if *endpoint == it.audience => "the endpoint".to_owned(),
        _ => it.audience.clone(),
    });
    [
        // The daemon alone knows a port that the system chose.
        ("the endpoint", status.endpoint.clone()),
        ("the token issuer", Some(issuer.to_owned())),
        ("the address of its keys", authorization.map(|it| it.jwks_url.clone())),
        ("the audience of tokens", audience),
        ("the list of algorithms", authorization.map(|it| it.algorithms.join(","))),
        ("the type of tokens", authorization.map(|it| it.token_type.clone())),
    ]
}

/// Decides about what a client without a token was answered.
fn of_endpoint(subject: &McpStatus, exchange: &Exchange) -> Option<Finding> {
    let url = &exchange.url;
    let answer = match &exchange.outcome {
        Ok(answer) => answer,
        Err(cause) => {
            let next = match &subject.public_url {
                Some(_) => "check the name, TLS, and whether the proxy in front of svcd is running",
                None => {
                    "check that svcd is running with SVC_MCP=true and listens at SVC_PUBLIC_LISTEN"
                }
            };
            let message = format!("nothing answers at {url}: {cause}");
            return Some(Finding::new(Code::EndpointUnreachable, message, next));
        }
    };
    match (answer.status, &subject.authorization) {
        (401, Some(authorization)) => of_challenge(authorization, url, answer),
        // A daemon without the modern era refuses this method with 400, as JSON-RPC.
        (200 | 400, Some(_)) if is_json_rpc(&answer.body) => Some(Finding::new(
            Code::TokensNotAsked,
            format!("{url} answers without a token, but svcd requires one"),
            "a proxy in front of svcd answers itself or adds a token; change its configuration",
        )),
        (200 | 400, None) if is_json_rpc(&answer.body) => of_era(subject, url, answer),
        (status, _) => Some(Finding::new(
            Code::EndpointRefuses,
            format!("{url} answers HTTP {status}, which is not what a client of MCP expects"),
            after_refusal(status),
        )),
    }
}

fn of_challenge(
    authorization: &api::McpAuthorization,
    url: &str,
    answer: &Answer,
) -> Option<Finding> {
    let names = format!("resource_metadata=\"{}\"", authorization.resource_metadata);
    let challenge = answer.challenge.as_deref().unwrap_or_default();
    (!challenge.contains(&names)).then(|| {
        let message = format!("{url} answers HTTP 401 without {names} in WWW-Authenticate");
        let next =
            "let the proxy forward the 401 of svcd and its WWW-Authenticate header unchanged";
        Finding::new(Code::ChallengeMissing, message, next)
    })
}

/// Compares the era that was answered in with the one that is set.
fn of_era(subject: &McpStatus, url: &str, answer: &Answer) -> Option<Finding> {
    let is_modern = answer.status == 200;
    (is_modern != subject.modern_routing).then(|| {
        let era = if is_modern { "modern revisions as well" } else { "only legacy revisions" };
        let message = format!("{url} speaks {era}, which is not how svcd is set up");
        let next = "another process may be listening there; compare its settings, or restart it";
        Finding::new(Code::EndpointDiffers, message, next)
    })
}

const fn after_refusal(status: u16) -> &'static str {
    match status {
        300..=399 => "clients follow no redirect: set SVC_PUBLIC_URL to the address it leads to",
        401 => "svcd requires no token; configure the proxy in front of it to require none either",
        403 => {
            "without tokens, /mcp serves this machine only: remove the proxy, or configure tokens"
        }
        404 => {
            "check that svcd runs with SVC_MCP=true, and that the proxy forwards the path unchanged"
        }
        421 => "let the proxy forward the Host header, or add that host to SVC_MCP_HOSTS",
        429 => "let the proxy set X-Forwarded-For, so that each client has its own rate limit",
        502..=504 => {
            "check with svcctl status that svcd is running, and that the proxy connects \
        to SVC_PUBLIC_LISTEN"
        }
        _ => "check the proxy in front of svcd, and the log of svcd",
    }
}

fn is_json_rpc(body: &[u8]) -> bool {
    let body: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    body.is_some_and(|body| body.get("jsonrpc").is_some_and(|version| version == "2.0"))
}

fn of_metadata(
    authorization: &api::McpAuthorization,
    resource: &str,
    exchange: &Exchange,
) -> Option<Finding> {
    let url = &exchange.url;
    let document: Result<ProtectedResource, String> = exchange.document().and_then(|answer| {
        serde_json::from_slice(&answer.body).map_err(|_| "it is not a metadata document".to_owned())
    });
    match document {
        Err(cause) => Some(Finding::new(
            Code::MetadataUnavailable,
            format!("the OAuth metadata cannot be fetched from {url}: {cause}"),
            "let the proxy forward /.well-known/oauth-protected-resource/mcp to svcd",
        )),
        Ok(document)
            if document.resource == resource
                && document.authorization_servers.contains(&authorization.issuer) =>
        {
            None
        }
        Ok(_) => Some(Finding::new(
            Code::MetadataDiffers,
            format!("the OAuth metadata at {url} names a different resource or issuer than svcd"),
            "another process may be answering there; let the proxy forward the path to svcd",
        )),
    }
}

/// Returns the algorithms of the keys that tokens are checked with, one for each key.
fn usable_keys(
    authorization: &api::McpAuthorization,
    exchange: &Exchange,
) -> Result<Vec<&'static str>, Finding> {
    let answer = exchange.document().map_err(|cause| {
        let shown = without_query(&exchange.url);
        let message = format!("the keys of the issuer cannot be fetched from {shown}: {cause}");
        let next = "check SVC_MCP_JWKS_URL, and whether this machine can reach it";
        Finding::new(Code::KeysUnavailable, message, next)
    })?;
    let wanted: Vec<Algorithm> =
        authorization.algorithms.iter().filter_map(|word| Algorithm::from_word(word)).collect();
    let keys = KeySet::read(&answer.body, &wanted).ok_or_else(|| {
        let algorithms = authorization.algorithms.join(", ");
        let message = format!("the issuer publishes no key that can be used for {algorithms}");
        let next = "each key needs its own kid; compare its alg with SVC_MCP_ALGORITHMS";
        Finding::new(Code::KeysUnusable, message, next)
    })?;
    Ok(keys.keys().map(|key| key.algorithm().as_str()).collect())
}

/// Decides about how requests arrive.
fn of_proxy(daemon: &McpStatus) -> Option<Finding> {
    let names = daemon.forwarding_headers.as_ref()?;
    let is_https = daemon.public_url.as_ref().is_some_and(|url| url.starts_with("https://"));
    if daemon.enabled && daemon.authorization.is_none() && !names.is_empty() {
        let message =
            format!("the last request to /mcp came through a proxy ({})", names.join(", "));
        let next =
            "it was refused: without tokens, /mcp serves this machine only; configure tokens";
        return Some(Finding::new(Code::ForwardingRefused, message, next));
    }
    (daemon.enabled && is_https && !names.iter().any(|name| name == FORWARDED_FOR)).then(|| {
        let message = "the last request to /mcp arrived without X-Forwarded-For";
        let next = "let the proxy set it, so that each client has its own rate limit: \
                    proxy_set_header X-Forwarded-For $remote_addr";
        Finding::new(Code::ForwardingMissing, message, next)
    })
}

fn largest_skew(facts: &Facts) -> Option<(&str, i64)> {
    let skews = facts.exchanges().filter_map(|exchange| {
        Some((exchange.url.as_str(), exchange.outcome.as_ref().ok()?.ahead_seconds?))
    });
    skews.max_by_key(|(_, seconds)| seconds.unsigned_abs())
}

fn of_skew(url: &str, seconds: i64) -> Option<Finding> {
    let by = seconds.unsigned_abs();
    (by > SKEW_SECONDS_MAX).then(|| {
        let side = if seconds > 0 { "ahead of" } else { "behind" };
        let shown = without_query(url);
        let message = format!("the clock behind {shown} is {by} s {side} this machine's");
        let next = "synchronize both clocks: if they differ by a minute, valid tokens are refused";
        Finding::new(Code::ClockSkew, message, next)
    })
}

/// Returns each algorithm once.
pub(super) fn distinct<'a>(algorithms: &[&'a str]) -> BTreeSet<&'a str> {
    algorithms.iter().copied().collect()
}

#[cfg(test)]
mod tests;
