//! The key with which the relay proves itself to plugins.

use zeroize::Zeroizing;

use crate::store::Store;
use crate::store::error::Error;
use crate::store::sql::{Db, Tx, params};

impl Store {
    /// Returns the relay's key in PKCS #8, a secret: the stored one. `candidate` is stored if there is none; from then
    /// on every process that uses this file has the same key, also after a restart.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now, or there is no key yet and it cannot be written.
    pub fn relay_key(&self, candidate: Zeroizing<Vec<u8>>) -> Result<Zeroizing<Vec<u8>>, Error> {
        // Nearly always there is a key, and it can be read even when the store cannot be written.
        if let Some(found) = self.read(find)? {
            return Ok(found);
        }
        self.write(move |tx| match find(tx)? {
            // Another process stored its candidate between the read and this transaction; the stored key counts.
            Some(found) => Ok(found),
            None => insert(tx, &candidate).map(|()| candidate.clone()),
        })
    }
}

fn find(db: &Db<'_>) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
    db.query_one("SELECT private_key FROM relay_keys WHERE id = 1", params! {}, |row| {
        row.get("private_key").map(Zeroizing::new)
    })
}

fn insert(tx: &Tx<'_>, key: &Vec<u8>) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO relay_keys (id, private_key, created_at) VALUES (1, :key, :now)",
        params! { ":key": *key, ":now": tx.now },
    )?;
    Ok(())
}
