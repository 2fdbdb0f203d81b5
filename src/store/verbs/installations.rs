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
        let now = self.clock.now();
        self.read(|db| {
            let found = db.query(
                "SELECT i.installation_id, i.account, i.state, p.paused_until FROM installations i \
                 LEFT JOIN installation_pauses p ON p.installation_id = i.installation_id \
                    AND p.paused_until > :now \
                 WHERE i.installation_id > :after ORDER BY i.installation_id LIMIT +:limit",
                params! {
                    ":now": now,
                    ":after": after.map_or(0, InstallationId::get),
                    ":limit": i64::from(limit) + 1,
                },
                |row| {
                    Ok(Installation {
                        installation_id: row.get("installation_id")?,
                        account: row.get("account")?,
                        state: row.get::<InstallationState>("state")?.as_str().into(),
                        paused_until: row.get("paused_until")?,
                    })
                },
            )?;
            Ok(Page::cut(found, limit, |last| last.installation_id))
        })
    }
}
