//! Whose results of releases are believed: the settings of issuers and secrets.

use secrecy::{ExposeSecret as _, SecretString};

use crate::config::ResultConfig;
use crate::config::groups::words;
use crate::config::source::{Problem, Source};
use crate::forge::issuer::is_issuer;

/// The forge whose runs the default issuer signs for.
const PUBLIC_FORGE: &str = "https://api.github.com";

/// Reads the group. Without an issuer and a secret no release can succeed, which is worth a warning.
pub(super) fn results(source: &mut Source, warnings: &mut Vec<Problem>) -> Option<ResultConfig> {
    let issuers = issuers(source)?;
    let secrets: Vec<SecretString> = ["SVC_RESULT_SECRET", "SVC_RESULT_SECRET_PREVIOUS"]
        .into_iter()
        .filter_map(|name| secret(source, name))
        .collect();
    if issuers.is_empty() && secrets.is_empty() {
        warnings.push(Problem {
            name: "SVC_RESULT_ISSUERS".to_owned(),
            what: "results are off, so no release can succeed; set it, or SVC_RESULT_SECRET"
                .to_owned(),
        });
    }
    Some(ResultConfig { issuers, secrets })
}

fn issuers(source: &mut Source) -> Option<Vec<String>> {
    let forge = source.text("SVC_FORGE_API_URL");
    let is_public = forge.trim_end_matches('/') == PUBLIC_FORGE;
    if source.given("SVC_RESULT_ISSUERS").is_none() && !is_public {
        return Some(Vec::new());
    }
    source.parsed(
        "SVC_RESULT_ISSUERS",
        "https URLs without a / at the end, separated by commas",
        |text| words(text).map(|word| is_issuer(word).then(|| word.to_owned())).collect(),
    )
}

fn secret(source: &mut Source, name: &'static str) -> Option<SecretString> {
    let secret = source.secret(name)?;
    let text = secret.expose_secret();
    if text.len() < 32 || text.len() > 4_096 || !text.bytes().all(|b| b.is_ascii_graphic()) {
        source.problem(
            name,
            "it is not allowed; use 32 to 4096 visible ASCII characters without spaces",
        );
    }
    Some(secret)
}
