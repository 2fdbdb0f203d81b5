//! Who is who: installations and repositories, as webhooks told us. Deliveries may come late or be
//! replayed, so what is older than what we know changes nothing.

use crate::domain::event::{AccountName, InstallationState, RepositoryState};
use crate::domain::id::InstallationId;
use crate::domain::repository::RepositoryRef;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sql::{Tx, params};

/// Adds the installation if it is not known yet.
pub(in crate::store) fn ensure_installation(
    tx: &Tx<'_>,
    installation: InstallationId,
) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO installations (installation_id, state, updated_at) \
         VALUES (:id, 'active', 0) ON CONFLICT (installation_id) DO NOTHING",
        params! { ":id": installation },
    )?;
    Ok(())
}

pub(in crate::store) fn state(
    tx: &Tx<'_>,
    installation: InstallationId,
) -> Result<Option<InstallationState>, Error> {
    tx.query_one(
        "SELECT state FROM installations WHERE installation_id = :id",
        params! { ":id": installation },
        |row| row.get("state"),
    )
}

/// Records what an installation was at `seen_at`. One that was never heard of is active.
/// Why not by when the job runs: `docs/decisions/13-stale-webhooks.md`.
pub(in crate::store) fn record(
    tx: &Tx<'_>,
    installation: InstallationId,
    state: Option<InstallationState>,
    account: Option<&AccountName>,
    seen_at: Timestamp,
) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO installations (installation_id, account, state, updated_at) \
         VALUES (:id, :account, coalesce(:state, 'active'), iif(:state IS NULL, 0, :seen_at)) \
         ON CONFLICT (installation_id) DO UPDATE SET \
            account = coalesce(excluded.account, account), state = coalesce(:state, state), \
            updated_at = iif(:state IS NULL, updated_at, excluded.updated_at) \
         WHERE updated_at <= :seen_at",
        params! {
            ":id": installation,
            ":account": account,
            ":state": state,
            ":seen_at": seen_at,
        },
    )?;
    Ok(())
}

/// Records what a repository was at `seen_at`, and whose. Taking it away counts only when it is still
/// that installation's.
pub(in crate::store) fn record_repository(
    tx: &Tx<'_>,
    installation: InstallationId,
    repository: &RepositoryRef,
    state: RepositoryState,
    seen_at: Timestamp,
) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO repositories (repository_id, installation_id, full_name, state, updated_at) \
         VALUES (:id, :installation, :name, :state, :seen_at) \
         ON CONFLICT (repository_id) DO UPDATE SET \
            installation_id = excluded.installation_id, full_name = excluded.full_name, \
            state = excluded.state, updated_at = excluded.updated_at \
         WHERE updated_at <= excluded.updated_at \
            AND (excluded.state = 'active' OR installation_id = excluded.installation_id)",
        params! {
            ":id": repository.id,
            ":installation": installation,
            ":name": repository.full_name,
            ":state": state,
            ":seen_at": seen_at,
        },
    )?;
    Ok(())
}
