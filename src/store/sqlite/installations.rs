//! Who is who: installations and repositories, as webhooks told us. Deliveries may come late or be
//! replayed, so what is older than what we know changes nothing.

use rusqlite::{OptionalExtension as _, named_params};

use crate::domain::event::{AccountName, InstallationState, RepositoryState};
use crate::domain::id::InstallationId;
use crate::domain::page::Page;
use crate::domain::repository::RepositoryRef;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sqlite::command::Tx;
use crate::store::sqlite::{Store, listing, row};

/// One installation, as operators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    /// The forge's number.
    pub id: InstallationId,
    /// Login of its owner; nothing until a webhook named it.
    pub account: Option<String>,
    /// What it is now.
    pub state: InstallationState,
}

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
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT installation_id, account, state FROM installations \
                 WHERE installation_id > :after ORDER BY installation_id LIMIT +:limit",
            )?;
            let rows = statement.query(named_params! {
                ":after": after.map_or(0, InstallationId::get),
                ":limit": i64::from(limit) + 1,
            })?;
            let read = |row: &rusqlite::Row<'_>| {
                Ok(Installation {
                    id: row::number(row, "installation_id")?,
                    account: row.get("account")?,
                    state: row::read(row, "state", |word: String| {
                        InstallationState::from_word(&word)
                    })?,
                })
            };
            listing::page(rows, limit, read, |last| last.id)
        })
    }
}

/// Notes an installation that was never heard of.
pub(super) fn meet(tx: &Tx<'_>, installation: InstallationId) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "INSERT INTO installations (installation_id, state, updated_at) \
             VALUES (:id, 'active', 0) ON CONFLICT (installation_id) DO NOTHING",
        )?
        .execute(named_params! { ":id": installation.get() })?;
    Ok(())
}

pub(super) fn state(
    tx: &Tx<'_>,
    installation: InstallationId,
) -> Result<Option<InstallationState>, Error> {
    let word: Option<String> = tx
        .connection
        .prepare_cached("SELECT state FROM installations WHERE installation_id = :id")?
        .query_row(named_params! { ":id": installation.get() }, |row| row.get(0))
        .optional()?;
    word.map(|word| InstallationState::from_word(&word).ok_or(Error::Row("state"))).transpose()
}

/// Records what an installation was at `seen_at`. One that was never heard of is active.
pub(super) fn record(
    tx: &Tx<'_>,
    installation: InstallationId,
    state: Option<InstallationState>,
    account: Option<&AccountName>,
    seen_at: Timestamp,
) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "INSERT INTO installations (installation_id, account, state, updated_at) \
             VALUES (:id, :account, coalesce(:state, 'active'), iif(:state IS NULL, 0, :seen_at)) \
             ON CONFLICT (installation_id) DO UPDATE SET \
                account = coalesce(excluded.account, account), state = coalesce(:state, state), \
                updated_at = iif(:state IS NULL, updated_at, excluded.updated_at) \
             WHERE :state IS NULL OR updated_at <= excluded.updated_at",
        )?
        .execute(named_params! {
            ":id": installation.get(),
            ":account": account.map(AccountName::as_str),
            ":state": state.map(InstallationState::as_str),
            ":seen_at": seen_at.micros(),
        })?;
    Ok(())
}

/// Records what a repository was at `seen_at`, and whose. Taking it away counts only when it is still
/// that installation's.
pub(super) fn record_repository(
    tx: &Tx<'_>,
    installation: InstallationId,
    repository: &RepositoryRef,
    state: RepositoryState,
    seen_at: Timestamp,
) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "INSERT INTO repositories (repository_id, installation_id, full_name, state, updated_at) \
             VALUES (:id, :installation, :name, :state, :seen_at) \
             ON CONFLICT (repository_id) DO UPDATE SET \
                installation_id = excluded.installation_id, full_name = excluded.full_name, \
                state = excluded.state, updated_at = excluded.updated_at \
             WHERE updated_at <= excluded.updated_at \
                AND (excluded.state = 'active' OR installation_id = excluded.installation_id)",
        )?
        .execute(named_params! {
            ":id": repository.id.get(),
            ":installation": installation.get(),
            ":name": repository.full_name.as_str(),
            ":state": state.as_str(),
            ":seen_at": seen_at.micros(),
        })?;
    Ok(())
}
