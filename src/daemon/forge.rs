//! What stands between the forge and the rest, made of the configuration: the client for it, and whom its webhooks
//! and results are believed from.

use std::sync::Arc;

use super::Error;
use crate::app::{IntakeRules, ResultRules};
use crate::auth::{shared_secret, workload};
use crate::config::{ForgeConfig, ResultConfig};
use crate::forge::client::ForgeClient;
use crate::forge::issuer::IssuerClient;
use crate::forge::settings;
use crate::forge::{payload, signature};
use crate::jwks::{Fetch, JwksCache};
use crate::metrics::Metrics;
use crate::runtime::clock::Clock;
use crate::runtime::notify::Notify;

pub(super) fn client(
    config: &ForgeConfig,
    clock: &Arc<dyn Clock>,
    metrics: &Arc<Metrics>,
    outbox: &Notify,
) -> Result<Arc<ForgeClient>, Error> {
    let settings = settings::Settings {
        base_url: config.api_url.clone(),
        app_id: config.app_id,
        private_key: config.private_key.clone(),
        api_version: config.api_version,
        timeout: settings::Settings::TIMEOUT,
        timeout_connect: settings::Settings::TIMEOUT_CONNECT,
        root_certificate: config.root_certificate.clone(),
    };
    let client = ForgeClient::new(settings, Arc::clone(clock), Arc::clone(metrics), outbox.clone());
    Ok(Arc::new(client.map_err(Error::Forge)?))
}

pub(super) fn intake(config: &ForgeConfig) -> IntakeRules {
    let secrets = signature::Secrets::new(config.webhook_secrets.clone())
        .expect("the configuration refuses empty secrets");
    IntakeRules {
        secrets,
        payload: payload::PayloadRules { release_tag_pattern: config.release_tag_pattern.clone() },
        body_bytes_max: config.webhook_body_bytes,
    }
}

/// Returns the issuers and secrets with which results are accepted; `None` if none is configured.
pub(super) fn results(
    config: &ForgeConfig,
    clock: &Arc<dyn Clock>,
) -> Result<Option<ResultRules>, Error> {
    let ResultConfig { issuers, secrets } = &config.results;
    if issuers.is_empty() && secrets.is_empty() {
        return Ok(None);
    }
    let client = IssuerClient::new(config.root_certificate.as_deref()).map_err(Error::Forge)?;
    let fetch: Fetch = Box::new(move |issuer| client.key_document(issuer));
    Ok(Some(ResultRules {
        keys: JwksCache::new(
            issuers.clone(),
            workload::ALGORITHMS.to_vec(),
            fetch,
            Arc::clone(clock),
        ),
        secrets: shared_secret::Secrets::new(secrets.clone()),
    }))
}
