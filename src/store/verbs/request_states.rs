//! What sealed states of multi-round requests need from the store, so that all processes at one file and a restart
//! agree: the key that seals them, and which of them were used.

use crate::domain::time::Timestamp;
use crate::store::Store;
use crate::store::error::{Error, Unavailable};
use crate::store::sql::{Db, Tx, params};

/// Most used states that have not expired. Beyond it, states are refused and none is forgotten, because a forgotten
/// state could be used again.
const USED_MAX: u32 = 100_000;

impl Store {
    /// Returns the key that seals request states: 32 random bytes, a secret. The first call makes it. From then on it
    /// is the same for every process at this file, also after a restart.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now, or there is no key yet and it cannot be written.
    pub fn request_state_key(&self) -> Result<[u8; 32], Error> {
        // Nearly always there is one, and it can be read while nothing can be written.
        if let Some(found) = self.read(find_key)? {
            return Ok(found);
        }
        // Looked for again under the write lock: two processes that start together must get one key.
        self.write(|tx| match find_key(tx)? {
            Some(found) => Ok(found),
            None => make_key(tx),
        })
    }

    /// Marks a request state as used. Returns `true` exactly once for each nonce, whichever process asks, and only
    /// before `expires_at`, because a row is not kept longer than that.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be written now, or holds 100,000 used states that have not expired
    /// ([`Unavailable::Overloaded`]). The state was not marked and can be sent again.
    pub fn use_request_state(&self, nonce: [u8; 12], expires_at: Timestamp) -> Result<bool, Error> {
        let marked = self.write(move |tx| {
            if is_full(tx)? { Ok(None) } else { mark_used(tx, nonce, expires_at).map(Some) }
        })?;
        // Not an error of the verb itself: the writer would count that as a failed write, and readiness would fail.
        marked.ok_or(Error::Unavailable(Unavailable::Overloaded))
    }
}

fn find_key(db: &Db<'_>) -> Result<Option<[u8; 32]>, Error> {
    db.query_one("SELECT sealing_key FROM mcp_request_state_keys WHERE id = 1", params! {}, |row| {
        row.get("sealing_key")
    })
}

fn make_key(tx: &mut Tx<'_>) -> Result<[u8; 32], Error> {
    let key: [u8; 32] = tx.ids.bytes();
    tx.execute(
        "INSERT INTO mcp_request_state_keys (id, sealing_key, created_at) VALUES (1, :key, :now)",
        params! { ":key": key, ":now": tx.now },
    )?;
    Ok(key)
}

/// Says whether no more states can be remembered. Reads up to 100,000 entries of an index, about a millisecond, and
/// usually only the few states that were used in the last minutes.
fn is_full(tx: &Tx<'_>) -> Result<bool, Error> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM mcp_used_request_states WHERE expires_at > :now \
         LIMIT 1 OFFSET +:others)",
        // OFFSET stops at the bound; count(*) would read every entry.
        params! { ":now": tx.now, ":others": USED_MAX - 1 },
    )
}

/// Returns whether this is the first use, in time.
fn mark_used(tx: &Tx<'_>, nonce: [u8; 12], expires_at: Timestamp) -> Result<bool, Error> {
    let inserted = tx.execute(
        "INSERT INTO mcp_used_request_states (nonce, expires_at) \
         SELECT :nonce, :expires_at WHERE :expires_at > :now ON CONFLICT (nonce) DO NOTHING",
        params! { ":nonce": nonce, ":expires_at": expires_at, ":now": tx.now },
    )?;
    Ok(inserted > 0)
}
