//! How the two credentials are made: the app's, which is signed, and the token of one repository with one permission,
//! which is asked for. Neither is ever stored, shown or logged.

use std::collections::BTreeMap;
use std::time::Duration;

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::json;

use super::Permission;
use super::answer::Answer;
use super::settings::ClientError;
use crate::domain::dead_letter::ErrorClass;
use crate::domain::id::{AppId, RepositoryId};
use crate::domain::time::Timestamp;

/// How far in the past a credential of ours begins, for a forge whose clock is behind.
const BACKDATED: Duration = Duration::from_mins(1);
/// How long it holds; the forge refuses more than ten minutes of its own clock.
pub(super) const LIFETIME: Duration = Duration::from_mins(8);

/// What the forge adds to any permission by itself: it is implied by all of them.
const IMPLIED: (&str, &str) = ("metadata", "read");

/// The permissions that the app needs: those of our tokens, that of the event `push`, and the implied one.
pub const APP_PERMISSIONS: [(&str, &str); 4] =
    [("actions", "write"), ("checks", "write"), ("contents", "read"), IMPLIED];

/// The app's private key.
pub(super) struct AppKey {
    app: AppId,
    key: EncodingKey,
}

impl AppKey {
    pub(super) fn new(app: AppId, pem: &SecretString) -> Result<Self, ClientError> {
        Ok(Self { app, key: read_key(pem)? })
    }

    /// Returns a credential of the app. Never nothing for a key that signed once.
    pub(super) fn sign(&self, now: Timestamp) -> Option<SecretString> {
        let seconds = |instant: Timestamp| instant.micros().div_euclid(1_000_000);
        let claims = json!({
            "iss": self.app.to_string(),
            // The forge refuses a credential that begins in its future.
            "iat": seconds(now.minus(BACKDATED)),
            "exp": seconds(now.plus(LIFETIME)),
        });
        let signed = encode(&Header::new(Algorithm::RS256), &claims, &self.key).ok()?;
        Some(SecretString::from(signed))
    }
}

/// Reads an RSA key of at least 2048 bits, PEM, PKCS#1 or PKCS#8, and signs once with it.
pub(super) fn read_key(pem: &SecretString) -> Result<EncodingKey, ClientError> {
    crate::crypto::jwt::install();
    let key = EncodingKey::from_rsa_pem(pem.expose_secret().as_bytes())
        .map_err(|_| ClientError::PrivateKey)?;
    // Not every key that can be read can sign, for example one of fewer bits.
    encode(&Header::new(Algorithm::RS256), &json!({}), &key)
        .map_err(|_| ClientError::PrivateKey)?;
    Ok(key)
}

/// Returns the body that asks for a token of one repository.
pub(super) fn request(repository: RepositoryId, permission: Permission) -> String {
    let mut permissions = serde_json::Map::new();
    let (name, access) = scope(permission);
    permissions.insert(name.to_owned(), access.into());
    json!({"repository_ids": [repository.get()], "permissions": permissions}).to_string()
}

/// Returns the body that asks for a token with everything that our tokens may do, for any repository of the installation.
pub(super) fn trial_request() -> String {
    let scopes = [Permission::ActionsWrite, Permission::ChecksWrite].map(scope);
    json!({"permissions": BTreeMap::from(scopes)}).to_string()
}

/// Takes the token from the answer to [`trial_request`].
pub(super) fn read_trial(answer: &Answer) -> Option<SecretString> {
    #[derive(Deserialize)]
    struct Trial {
        #[serde(deserialize_with = "secret")]
        token: SecretString,
    }
    answer.object::<Trial>().map(|trial| trial.token)
}

/// Says whether a forge whose clock is so many seconds ahead of ours refuses every credential of the app for that
/// alone: it has not begun there, or is over.
#[must_use]
pub fn is_refused_by_clock(ahead_seconds: i64) -> bool {
    let seconds = |time: Duration| i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    ahead_seconds < -seconds(BACKDATED) || ahead_seconds >= seconds(LIFETIME)
}

/// Takes the token from a 201, when it is no more and no less than was asked for.
///
/// # Errors
/// `Permission` when it lacks the permission, `Protocol` when it is no such answer, or has another
/// permission or repository as well.
pub(super) fn read(answer: &Answer, permission: Permission) -> Result<Minted, ErrorClass> {
    let minted: MintedBody = answer.object().ok_or(ErrorClass::Protocol)?;
    // `all` would be a token for every repository of the tenant.
    if minted.repository_selection != "selected" || minted.token.expose_secret().is_empty() {
        return Err(ErrorClass::Protocol);
    }
    let (name, access) = scope(permission);
    if minted.permissions.get(name).map(String::as_str) != Some(access) {
        return Err(ErrorClass::Permission);
    }
    // A token that can do more than was asked for is not used, so that a fault here cannot do more either.
    let asked = |(other, level): (&String, &String)| {
        other == name || (other.as_str(), level.as_str()) == IMPLIED
    };
    if !minted.permissions.iter().all(asked) {
        return Err(ErrorClass::Protocol);
    }
    let expires_at = minted.expires_at.as_deref().and_then(Timestamp::parse_rounding_up);
    Ok(Minted { secret: minted.token, expires_at })
}

/// A token, as it was asked for.
pub(super) struct Minted {
    pub(super) secret: SecretString,
    /// By the forge's clock; nothing if it does not say so in a way that can be read.
    pub(super) expires_at: Option<Timestamp>,
}

#[derive(Deserialize)]
struct MintedBody {
    #[serde(deserialize_with = "secret")]
    token: SecretString,
    expires_at: Option<String>,
    permissions: BTreeMap<String, String>,
    repository_selection: String,
}

fn secret<'de, D: serde::Deserializer<'de>>(text: D) -> Result<SecretString, D::Error> {
    String::deserialize(text).map(SecretString::from)
}

const fn scope(permission: Permission) -> (&'static str, &'static str) {
    match permission {
        Permission::ActionsRead => ("actions", "read"),
        Permission::ActionsWrite => ("actions", "write"),
        Permission::ChecksWrite => ("checks", "write"),
    }
}

#[cfg(test)]
mod tests {
    use jsonwebtoken::dangerous::insecure_decode_claims;
    use serde_json::Value;

    use super::*;
    use crate::simulator::Simulator;

    #[test]
    fn the_apps_credential_is_backdated_and_short_lived() {
        let simulator = Simulator::start().expect("the system has a port");
        let pem = SecretString::from(simulator.private_key_pem());
        let key = AppKey::new(simulator.app_id(), &pem).expect("the key is one");
        let now = Timestamp::from_micros(1_795_251_600_999_999);
        let signed = key.sign(now).expect("the key signs");
        let claims: Value = insecure_decode_claims(signed.expose_secret()).expect("it has claims");
        let iss = simulator.app_id().to_string();
        assert_eq!(claims, json!({"iss": iss, "iat": 1_795_251_540, "exp": 1_795_252_080}));
        assert!(!format!("{signed:?}").contains("ey"));
    }

    #[test]
    fn a_token_asks_for_one_repository_and_one_permission() {
        let id = 7.try_into().expect("the id is positive");
        for (permission, wanted) in [
            (Permission::ActionsRead, r#"{"permissions":{"actions":"read"},"repository_ids":[7]}"#),
            (
                Permission::ActionsWrite,
                r#"{"permissions":{"actions":"write"},"repository_ids":[7]}"#,
            ),
            (Permission::ChecksWrite, r#"{"permissions":{"checks":"write"},"repository_ids":[7]}"#),
        ] {
            assert_eq!(request(id, permission), wanted);
        }
    }

    #[test]
    fn the_app_needs_what_its_tokens_ask_for() {
        for asked in [Permission::ActionsRead, Permission::ActionsWrite, Permission::ChecksWrite] {
            let (name, level) = scope(asked);
            let is_enough = |&(known, granted): &(&str, &str)| {
                known == name && (granted == level || granted == "write")
            };
            assert!(APP_PERMISSIONS.iter().any(is_enough), "{asked:?}");
        }
    }

    #[test]
    fn a_token_has_the_permission_that_was_asked_for_and_no_other() {
        use ErrorClass::{Permission as Lacking, Protocol};
        let all = [Permission::ActionsRead, Permission::ActionsWrite, Permission::ChecksWrite];
        for asked in all {
            let (name, access) = scope(asked);
            for (granted, wanted) in [
                (json!({name: access}), None),
                (json!({name: access, "metadata": "read"}), None),
                (json!({name: access, "metadata": "write"}), Some(Protocol)),
                (json!({name: access, "contents": "read"}), Some(Protocol)),
                (json!({name: access, "contents": "write", "metadata": "read"}), Some(Protocol)),
                (json!({name: "admin"}), Some(Lacking)),
                (json!({"metadata": "read"}), Some(Lacking)),
                (json!({"contents": "write"}), Some(Lacking)),
                (json!({}), Some(Lacking)),
            ] {
                let body = json!({
                    "token": "t", "permissions": granted, "repository_selection": "selected",
                });
                let answer = Answer {
                    status: http::StatusCode::CREATED,
                    headers: http::HeaderMap::new(),
                    body: Some(body.to_string().into_bytes()),
                    moved: false,
                };
                assert_eq!(read(&answer, asked).err(), wanted, "{granted}");
            }
        }
    }
}
