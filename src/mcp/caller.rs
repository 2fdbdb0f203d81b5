//! Who calls, and what that caller may do.

use std::net::IpAddr;

use crate::auth::access_token::Scope;

/// Who calls: one name for one owner of tokens, which of its clients, and what its token allows.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The owner of the token; empty where no token is required.
    pub subject: String,
    /// The client that the token was given to.
    pub client: String,
    /// The address that its calls come from; `None` over a Unix socket and over lines.
    pub peer: Option<IpAddr>,
    /// What the token allows. Of the call, not of the session: a client may come back with a token that allows more.
    pub scopes: Vec<Scope>,
}

impl Caller {
    /// Returns the caller where no token is required, which may do everything.
    #[must_use]
    pub fn local() -> Self {
        let scopes = Scope::ALL.to_vec();
        Self { subject: String::new(), client: String::new(), peer: None, scopes }
    }

    /// Says whether what the other has begun is this caller's too: subject and client are the same.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.subject, &self.client) == (&other.subject, &other.client)
    }
}
