//! Ids by their beginning, within an installation.
//!
//! See `docs/decisions/120-stories-and-ids.md`.

use crate::domain::event::GitRef;
use crate::domain::id::{IdKind, IdPrefix, InstallationId};
use crate::store::Store;
use crate::store::error::Error;
use crate::store::sql::params;

/// Most ids that one call returns: one more than a person is shown.
const IDS_MAX: u32 = 11;

impl Store {
    /// Returns ids of an installation that begin so; at most 11.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn ids_with_prefix(
        &self,
        installation: InstallationId,
        kind: IdKind,
        prefix: &IdPrefix,
    ) -> Result<Vec<String>, Error> {
        // INDEXED BY makes a missing index an error here, not a slow walk of a table.
        let sql = match kind {
            IdKind::Job | IdKind::Outbox => {
                "SELECT DISTINCT item_id AS id FROM dead_letters INDEXED BY dead_letters_of_item \
                 WHERE installation_id = :installation AND item_type = :kind \
                    AND item_id >= :from AND item_id < :to LIMIT +:limit"
            }
            IdKind::ReleaseRun => {
                "SELECT release_run_id AS id FROM release_runs INDEXED BY release_runs_of_id \
                 WHERE forge_installation_id = :installation AND :kind IS NOT NULL \
                    AND release_run_id >= :from AND release_run_id < :to LIMIT +:limit"
            }
            IdKind::ReconciliationItem => {
                // Those that were closed too, so that a close can be repeated under its key. Few are ever given up.
                "SELECT reconciliation_id AS id FROM reconciliation_items \
                    INDEXED BY reconciliation_items_listed_finished \
                 WHERE installation_id = :installation AND :kind IS NOT NULL \
                    AND status IN ('completed', 'dead_letter') AND status = 'dead_letter' \
                    AND reconciliation_id >= :from AND reconciliation_id < :to LIMIT +:limit"
            }
        };
        let (from, to) = (prefix.as_str(), prefix.end());
        self.read(|db| {
            db.query(
                sql,
                params! {
                    ":installation": installation,
                    ":kind": kind,
                    ":from": from,
                    ":to": to,
                    ":limit": IDS_MAX,
                },
                |row| row.get("id"),
            )
        })
    }

    /// Returns the ids of the release runs of an installation under a tag, newest first; at most 11.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn releases_with_tag(
        &self,
        installation: InstallationId,
        tag: &GitRef,
    ) -> Result<Vec<String>, Error> {
        self.read(|db| {
            db.query(
                "SELECT release_run_id FROM release_runs INDEXED BY release_runs_of_tag \
                 WHERE forge_installation_id = :installation AND git_ref = :ref \
                 ORDER BY id DESC LIMIT +:limit",
                params! { ":installation": installation, ":ref": tag, ":limit": IDS_MAX },
                |row| row.get("release_run_id"),
            )
        })
    }
}
