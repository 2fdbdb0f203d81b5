//! The credentials that are used again while they hold: the app's, and tokens. In memory only, behind the key they were
//! got with: a key that is replaced takes them along, also those that are being asked for at that moment.
//!
//! Which tokens are used again: `docs/decisions/107-tokens-used-again.md`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use secrecy::SecretString;

use super::Permission;
use super::token::{AppKey, LIFETIME, Minted};
use crate::domain::id::{InstallationId, RepositoryId};
use crate::domain::time::Timestamp;
use crate::runtime::mutex::lock;

/// What must be left of a credential that is used: for a forge whose clock is ahead, and for the call itself.
const LEFT_MIN: Duration = Duration::from_mins(1);
/// How long a token is used at most, whatever the forge says: it promises an hour, and its clock may differ from ours.
const TOKEN_LIFETIME: Duration = Duration::from_hours(1);
/// Tokens that are kept. Each takes some 600 bytes.
const TOKENS_MAX: usize = 1_024;

/// What a token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TokenScope {
    pub(super) installation: InstallationId,
    pub(super) repository: RepositoryId,
    pub(super) permission: Permission,
}

/// The key of the app, and what was got with it. Secrets are wiped when the last user drops them.
pub(super) struct Credentials {
    key: AppKey,
    app: Mutex<Option<Kept>>,
    tokens: Mutex<BTreeMap<TokenScope, Kept>>,
}

/// A secret, and when it may be used.
struct Kept {
    secret: Arc<SecretString>,
    from: Timestamp,
    until: Timestamp,
}

impl Kept {
    fn at(&self, now: Timestamp) -> Option<Arc<SecretString>> {
        // Before it was made, the clock has been set back since, and how long it holds is not known.
        (self.from <= now && now < self.until).then(|| Arc::clone(&self.secret))
    }

    fn is(&self, secret: &Arc<SecretString>) -> bool {
        Arc::ptr_eq(&self.secret, secret)
    }
}

impl Credentials {
    pub(super) fn new(key: AppKey) -> Self {
        Self { key, app: Mutex::default(), tokens: Mutex::default() }
    }

    /// Returns the app's credential, signed anew when the one before no longer holds. Never nothing for a key that
    /// signed once.
    pub(super) fn app(&self, now: Timestamp) -> Option<Arc<SecretString>> {
        // Held while it is signed: threads that need one at the same time wait for one signature.
        let mut app = lock(&self.app);
        if let Some(secret) = app.as_ref().and_then(|kept| kept.at(now)) {
            return Some(secret);
        }
        let secret = Arc::new(self.key.sign(now)?);
        let until = now.plus(LIFETIME).minus(LEFT_MIN);
        *app = Some(Kept { secret: Arc::clone(&secret), from: now, until });
        Some(secret)
    }

    /// Drops a credential of the app that was refused. Not another one, which a thread may have signed since.
    pub(super) fn app_refused(&self, refused: &Arc<SecretString>) {
        lock(&self.app).take_if(|kept| kept.is(refused));
    }

    fn keep(&self, scope: TokenScope, token: &Token, expires_at: Timestamp, now: Timestamp) {
        let until = expires_at.min(now.plus(TOKEN_LIFETIME)).minus(LEFT_MIN);
        let mut tokens = lock(&self.tokens);
        tokens.retain(|_, kept| kept.at(now).is_some());
        if tokens.len() >= TOKENS_MAX
            && !tokens.contains_key(&scope)
            && let Some(first) = tokens.iter().min_by_key(|(_, kept)| kept.until)
        {
            let first = *first.0;
            tokens.remove(&first);
        }
        tokens.insert(scope, Kept { secret: Arc::clone(&token.secret), from: now, until });
    }
}

/// A token in the hands of a session.
pub(super) struct Token {
    pub(super) secret: Arc<SecretString>,
    /// Where it is kept, and for what; nothing for a session that has one of its own.
    place: Option<(Arc<Credentials>, TokenScope)>,
}

impl Token {
    /// Returns a token that is used by one session.
    pub(super) fn own(minted: Minted) -> Self {
        Self { secret: Arc::new(minted.secret), place: None }
    }

    /// Returns the token that is kept for a scope, if it holds.
    pub(super) fn kept(
        credentials: &Arc<Credentials>,
        scope: TokenScope,
        now: Timestamp,
    ) -> Option<Self> {
        let secret = lock(&credentials.tokens).get(&scope)?.at(now)?;
        Some(Self { secret, place: Some((Arc::clone(credentials), scope)) })
    }

    /// Keeps a token for the sessions that follow, unless it is not known how long it holds.
    pub(super) fn keep(
        credentials: &Arc<Credentials>,
        scope: TokenScope,
        minted: Minted,
        now: Timestamp,
    ) -> Self {
        let expires_at = minted.expires_at;
        let token = Self { place: Some((Arc::clone(credentials), scope)), ..Self::own(minted) };
        if let Some(expires_at) = expires_at {
            credentials.keep(scope, &token, expires_at, now);
        }
        token
    }

    /// Is told that a call was refused for a reason that may lie in the token: the next session has another one.
    pub(super) fn refused(&self) {
        let Some((credentials, scope)) = &self.place else { return };
        let mut tokens = lock(&credentials.tokens);
        if tokens.get(scope).is_some_and(|kept| kept.is(&self.secret)) {
            tokens.remove(scope);
        }
    }
}

#[cfg(test)]
mod tests;
