//! Who may call the simulated forge: the app with its signed credential, and each holder of a token.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Validation};
use ring::signature::RsaKeyPair;
use serde::Deserialize;
use serde_json::Value;

use super::{APP, key};
use crate::domain::time::Timestamp;

/// Longest time an app credential may still hold, in seconds.
const HOLDS_MAX: i64 = 600;

/// What a token may do.
#[derive(Clone)]
pub(super) struct Grant {
    /// `None` is every repository of the installation.
    pub(super) repositories: Option<Vec<i64>>,
    pub(super) permissions: Value,
}

impl Grant {
    /// Reads what is asked for.
    pub(super) fn read(body: &Value) -> Self {
        let wanted = body.get("repository_ids").and_then(Value::as_array);
        Self {
            repositories: wanted.map(|ids| ids.iter().filter_map(Value::as_i64).collect()),
            permissions: body.get("permissions").cloned().unwrap_or_default(),
        }
    }

    /// Says whether it may see a repository.
    pub(super) fn sees(&self, repository: i64) -> bool {
        self.repositories.as_ref().is_none_or(|ids| ids.contains(&repository))
    }

    /// Says whether it allows `level` (`read` or `write`) of a permission.
    pub(super) fn allows(&self, permission: &str, level: &str) -> bool {
        let granted = self.permissions.get(permission);
        // A permission to write includes reading.
        granted.is_some_and(|granted| granted == "write" || granted == level)
    }
}

/// Checks that a credential is one of the app's, and holds now.
///
/// # Errors
/// The status of the refusal.
pub(super) fn check_app(bearer: &str, now: Timestamp) -> Result<(), u16> {
    #[derive(Deserialize)]
    struct Claims {
        iss: String,
        iat: i64,
        exp: i64,
    }
    crate::crypto::jwt::install();
    // An issuer that is not known has no key.
    let claimed = jsonwebtoken::dangerous::insecure_decode_claims::<Claims>(bearer);
    if claimed.is_ok_and(|claims| claims.iss != APP.to_string()) {
        return Err(404);
    }
    let key = public_key().ok_or(401_u16)?;
    // Time is judged below, by our own clock and with the forge's own bounds.
    let mut rules = Validation::new(Algorithm::RS256);
    rules.validate_exp = false;
    rules.required_spec_claims.clear();
    let read = jsonwebtoken::decode::<Claims>(bearer, &DecodingKey::from_rsa_der(&key), &rules);
    let now = now.micros().div_euclid(1_000_000);
    let holds = read.is_ok_and(|token| {
        let Claims { iss, iat, exp } = token.claims;
        iss == APP.to_string() && iat <= now && exp > now && exp <= now + HOLDS_MAX
    });
    if holds { Ok(()) } else { Err(401) }
}

/// Returns the public half of the app's key, PKCS#1 DER.
fn public_key() -> Option<Vec<u8>> {
    let private_key = EncodingKey::from_rsa_pem(key::THROWAWAY_PRIVATE_KEY.as_bytes()).ok()?;
    let pair = RsaKeyPair::from_der(private_key.as_bytes()).ok()?;
    Some(pair.public().as_ref().to_vec())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jsonwebtoken::{Header, encode};
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_credential_of_the_app_that_holds_now_is_taken() {
        crate::crypto::jwt::install();
        let key = EncodingKey::from_rsa_pem(key::THROWAWAY_PRIVATE_KEY.as_bytes());
        let key = key.expect("the key is one");
        let sign = |iss: &str, iat: i64, exp: i64| {
            let claims = json!({"iss": iss, "iat": iat, "exp": exp});
            encode(&Header::new(Algorithm::RS256), &claims, &key).expect("the key signs")
        };
        let now = Timestamp::from_micros(0).plus(Duration::from_secs(1_000));
        let app = APP.to_string();
        let good = sign(&app, 940, 1_480);
        assert_eq!(check_app(&good, now), Ok(()));
        assert_eq!(check_app(&sign("1", 940, 1_480), now), Err(404), "another app");
        for (bad, why) in [
            (sign(&app, 1_001, 1_480), "from the future"),
            (sign(&app, 940, 1_000), "over"),
            (sign(&app, 940, 1_601), "for too long"),
            (format!("{good}A"), "another signature"),
            (good.replacen('.', ".A", 1), "other claims"),
            (String::new(), "nothing"),
        ] {
            assert_eq!(check_app(&bad, now), Err(401), "{why}");
        }
        // Unsigned, or signed with a secret, is no way in.
        let secret = EncodingKey::from_secret(b"secret");
        let claims = json!({"iss": app, "iat": 940, "exp": 1_480});
        assert!(encode(&Header::new(Algorithm::HS256), &claims, &secret).is_err());
    }
}
