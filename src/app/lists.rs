//! What an operator reads of an installation: its lists, and one release run. Every function asks for the
//! principal, so none can be reached without the check.

use std::borrow::Cow;

use crate::api::ListRequest;
use crate::app::{App, Error};
use crate::auth::operator::Principal;
use crate::domain::event::GitRef;
use crate::domain::id::{IdKind, IdPrefix, InstallationId, ReleaseRunId};
use crate::domain::page::Page;
use crate::domain::reconcile::Rules;
use crate::domain::release::next_step::{self, NextStep};
use crate::domain::time::Timestamp;
use crate::store;

impl App {
    /// Returns a page of a list of an installation, newest row first.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the cursor names no row of the list, [`Error::Unavailable`] when the
    /// store cannot be read now.
    pub fn list<R: store::List>(
        &self,
        _: &Principal,
        installation: InstallationId,
        wanted: &ListRequest<R>,
    ) -> Result<Page<R, R::Cursor>, Error> {
        self.store.list(installation, wanted, self.stuck_before())?.ok_or(Error::InvalidRequest(Cow::Borrowed(
            "the value of 'before' is not the ID of an item in this list; omit 'before' to list from the newest item",
        )))
    }

    /// Returns since when a release run has not changed that is stuck now: for longer than it may take until a reconciler
    /// has found it and decided about it.
    fn stuck_before(&self) -> Timestamp {
        let rules = self.reconciliation.unwrap_or(Rules::INITIAL);
        self.clock.now().minus(rules.observation.saturating_add(rules.deadline))
    }

    /// Returns the ids of an installation that a text may mean, at most 11: those that begin so, and of release runs
    /// those with this tag.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn ids(
        &self,
        _: &Principal,
        installation: InstallationId,
        kind: IdKind,
        text: &str,
    ) -> Result<Vec<String>, Error> {
        let mut ids = match (kind, GitRef::new(&format!("refs/tags/{text}"))) {
            (IdKind::ReleaseRun, Some(tag)) => self.store.releases_with_tag(installation, &tag)?,
            (IdKind::ReleaseRun, None)
            | (IdKind::Job | IdKind::Outbox | IdKind::ReconciliationItem, _) => Vec::new(),
        };
        if let Some(prefix) = IdPrefix::new(&text.to_ascii_lowercase()) {
            ids.extend(self.store.ids_with_prefix(installation, kind, &prefix)?);
        }
        ids.sort();
        ids.dedup();
        Ok(ids)
    }

    /// Returns one release run, and what happens next to it.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none in this installation.
    pub fn release_run(
        &self,
        _: &Principal,
        installation: InstallationId,
        id: ReleaseRunId,
    ) -> Result<(store::ReleaseRunDetail, NextStep), Error> {
        let detail = self.store.release_run(installation, id)?.ok_or(Error::NotFound)?;
        let next_step = next_step::derive(&detail.facts);
        Ok((detail, next_step))
    }
}
