//! The list of installations.

use crate::api::Installation;
use crate::domain::event::InstallationState;
use crate::domain::id::InstallationId;
use crate::domain::page::Page;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::sql::params;

impl Store {
    /// Returns up to `limit` installations with a number above `after`, by rising number.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn installations(
        &self,
        after: Option<InstallationId>,
        limit: u32,
    ) -> Result<Page<Installation, InstallationId>, Error> {
        self.read(|db| {
            let found = db.query(
                "SELECT installation_id, account, state FROM installations \
                 WHERE installation_id > :after ORDER BY installation_id LIMIT +:limit",
                params! {
                    ":after": after.map_or(0, InstallationId::get),
                    ":limit": i64::from(limit) + 1,
                },
                |row| {
                    Ok(Installation {
                        installation_id: row.get("installation_id")?,
                        account: row.get("account")?,
                        state: row.get::<InstallationState>("state")?.as_str().into(),
                    })
                },
            )?;
            Ok(Page::cut(found, limit, |last| last.installation_id))
        })
    }
}
