//! Whose results of releases are believed: the settings of issuers and secrets.

use secrecy::{ExposeSecret as _, SecretString};

use crate::config::ResultConfig;
use crate::config::source::{SettingProblem, Source, words};
use crate::forge::issuer::is_issuer;

/// The forge whose runs the default issuer signs for.
const PUBLIC_FORGE: &str = "https://api.github.com";

/// Reads the group. Without an issuer and a secret no release can succeed, which is worth a warning.
pub(super) fn results(
    source: &mut Source,
    warnings: &mut Vec<SettingProblem>,
) -> Option<ResultConfig> {
    let issuers = issuers(source)?;
    let secrets: Vec<SecretString> = ["SVC_RESULT_SECRET", "SVC_RESULT_SECRET_PREVIOUS"]
        .into_iter()
        .filter_map(|name| secret(source, name))
        .collect();
    if issuers.is_empty() && secrets.is_empty() {
        warnings.push(SettingProblem {
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
    // Every workflow at the public forge gets tokens of its issuer, so another forge must not trust them by default.
    if source.given("SVC_RESULT_ISSUERS").is_none() && !is_public {
        return Some(Vec::new());
    }
    let issuers: Option<Vec<String>> = words(&source.text("SVC_RESULT_ISSUERS"))
        .map(|word| is_issuer(word).then(|| word.to_owned()))
        .collect();
    if issuers.is_none() {
        // The value is not shown, because an address may hold a password.
        let what = "it is not allowed; use https URLs without a / at the end, separated by commas";
        source.problem("SVC_RESULT_ISSUERS", what);
    }
    issuers
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

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "0123456789abcdef0123456789abcdef";

    fn read(variables: &[(&str, &str)]) -> (Option<ResultConfig>, Vec<SettingProblem>, usize) {
        let owned = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let (mut source, mut warnings) = (Source::of(owned), Vec::new());
        let config = results(&mut source, &mut warnings);
        (config, source.take_problems_from(0), warnings.len())
    }

    #[test]
    fn the_public_forge_has_an_issuer_and_others_have_what_is_set() {
        let public = "https://token.actions.githubusercontent.com";
        let other = ("SVC_FORGE_API_URL", "https://forge.example/api/v3");
        let own = "https://forge.example/_services/token";
        for (variables, issuers, warnings) in [
            (&[][..], &[public][..], 0),
            (&[("SVC_FORGE_API_URL", "https://api.github.com/")], &[public], 0),
            (&[("SVC_RESULT_ISSUERS", "")], &[], 1),
            (&[other], &[], 1),
            (&[other, ("SVC_RESULT_ISSUERS", own)], &[own], 0),
            (&[other, ("SVC_RESULT_SECRET", SECRET)], &[], 0),
        ] {
            let (config, problems, warned) = read(variables);
            assert_eq!(config.unwrap().issuers, issuers, "{variables:?}");
            assert_eq!((problems.len(), warned), (0, warnings), "{variables:?}");
        }
    }

    #[test]
    fn what_can_be_no_issuer_and_no_secret_is_refused() {
        for issuer in [
            "http://forge.example",
            "https://ops:hunter2@forge.example/",
            "forge.example",
            "https://a?b",
        ] {
            let (config, problems, _) = read(&[("SVC_RESULT_ISSUERS", issuer)]);
            assert!(config.is_none() && problems.len() == 1, "{issuer}");
            assert!(!problems[0].what.contains("forge.example"), "the value may hold a password");
        }
        for name in ["SVC_RESULT_SECRET", "SVC_RESULT_SECRET_PREVIOUS"] {
            let (_, problems, _) = read(&[(name, "too-short-a-secret")]);
            assert_eq!(problems.len(), 1, "{name}");
            assert!(!problems.iter().any(|problem| problem.what.contains("too-short")));
        }
        let both = [("SVC_RESULT_SECRET", SECRET), ("SVC_RESULT_SECRET_PREVIOUS", SECRET)];
        assert_eq!(read(&both).0.unwrap().secrets.len(), 2);
    }
}
