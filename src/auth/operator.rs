//! The operator's bearer token.

use secrecy::{ExposeSecret as _, SecretString};
use subtle::ConstantTimeEq as _;

use crate::config::OperatorConfig;
use crate::runtime::current::Current;

/// An authenticated operator.
#[derive(Clone, Debug)]
pub struct Principal {
    actor: String,
}

impl Principal {
    /// Returns the configured actor: what audit events name. The caller has no say in it.
    #[must_use]
    pub fn actor(&self) -> &str {
        &self.actor
    }
}

/// Checks operators' tokens.
#[derive(Debug)]
pub struct Operators {
    token: Current<SecretString>,
    actor: String,
}

impl Operators {
    /// Returns the check for a configured token and actor.
    #[must_use]
    pub fn new(config: OperatorConfig) -> Self {
        Self { token: Current::new(config.token), actor: config.actor }
    }

    /// Puts another token in the place of the one before, which is refused from now on.
    pub fn replace(&self, token: SecretString) {
        self.token.set(token);
    }

    /// Returns who asks, by the whole value of the `Authorization` header. The token is compared in
    /// constant time, after its length.
    #[must_use]
    pub fn authenticate(&self, authorization: Option<&str>) -> Option<Principal> {
        let (scheme, token) = authorization?.split_once(' ')?;
        let expected = self.token.get();
        let expected = expected.expose_secret().as_bytes();
        let same = scheme.eq_ignore_ascii_case("bearer")
            && token.len() == expected.len()
            && bool::from(token.as_bytes().ct_eq(expected));
        same.then(|| Principal { actor: self.actor.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn only_the_very_token_as_bearer_is_let_in() {
        let operators =
            Operators::new(OperatorConfig { token: TOKEN.into(), actor: "ops".to_owned() });
        let lets_in = |header: &str| operators.authenticate(Some(header)).is_some();
        assert!(lets_in(&format!("Bearer {TOKEN}")));
        assert!(lets_in(&format!("bearer {TOKEN}")));
        for header in [
            String::new(),
            TOKEN.to_owned(),
            "Bearer".to_owned(),
            "Bearer ".to_owned(),
            format!("Basic {TOKEN}"),
            format!("Bearer  {TOKEN}"),
            format!("Bearer {TOKEN} "),
            format!("Bearer {}", TOKEN.to_uppercase()),
            format!("Bearer {TOKEN}0"),
            format!("Bearer {}", TOKEN.strip_suffix('f').unwrap()),
            "Bearer 0".to_owned(),
            format!("Bearer {}", TOKEN.replacen('0', "1", 1)),
        ] {
            assert!(!lets_in(&header), "{header}");
        }
        assert!(operators.authenticate(None).is_none());
    }

    #[test]
    fn the_token_is_not_shown() {
        let operators =
            Operators::new(OperatorConfig { token: TOKEN.into(), actor: "ops".to_owned() });
        assert!(!format!("{operators:?}").contains(TOKEN));
    }
}
