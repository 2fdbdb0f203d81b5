//! What an operator reads beside dead letters: audit events, release runs, reconciliation items.
//! Every function asks for the principal, so none can be reached without the check.

use std::borrow::Cow;

use crate::app::{App, Error};
use crate::auth::operator::Principal;
use crate::domain::audit::AuditEvent;
use crate::domain::id::{AuditEventId, InstallationId, ReconciliationId, ReleaseRunId};
use crate::domain::page::Page;
use crate::domain::reconcile::Status;
use crate::domain::release::ReleaseStatus;
use crate::domain::release::outlook::{self, Outlook};
use crate::store::{ReconciliationItem, ReleaseRun, ReleaseRunDetail};

impl App {
    /// Returns a page of an installation's audit events, newest first.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when `before` names none of them, [`Error::Unavailable`] when the
    /// store cannot be read now.
    pub fn audit_events(
        &self,
        _: &Principal,
        installation: InstallationId,
        before: Option<AuditEventId>,
        limit: u32,
    ) -> Result<Page<AuditEvent, AuditEventId>, Error> {
        self.store.audit_events(installation, before, limit)?.ok_or_else(unknown_cursor)
    }

    /// Returns a page of an installation's release runs, newest first: of one status, or all.
    ///
    /// # Errors
    /// As [`App::audit_events`].
    pub fn release_runs(
        &self,
        _: &Principal,
        installation: InstallationId,
        status: Option<ReleaseStatus>,
        before: Option<ReleaseRunId>,
        limit: u32,
    ) -> Result<Page<ReleaseRun, ReleaseRunId>, Error> {
        self.store.release_runs(installation, status, before, limit)?.ok_or_else(unknown_cursor)
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
    ) -> Result<(ReleaseRunDetail, Outlook), Error> {
        let detail = self.store.release_run(installation, id)?.ok_or(Error::NotFound)?;
        let outlook = outlook::foresee(&detail.facts);
        Ok((detail, outlook))
    }

    /// Returns a page of an installation's reconciliation items, newest first: of one status, or
    /// those that have not ended.
    ///
    /// # Errors
    /// As [`App::audit_events`].
    pub fn reconciliation_items(
        &self,
        _: &Principal,
        installation: InstallationId,
        status: Option<Status>,
        before: Option<ReconciliationId>,
        limit: u32,
    ) -> Result<Page<ReconciliationItem, ReconciliationId>, Error> {
        self.store
            .reconciliation_items(installation, status, before, limit)?
            .ok_or_else(unknown_cursor)
    }
}

/// Said of another installation's id as of one that nobody has.
const fn unknown_cursor() -> Error {
    Error::InvalidRequest(Cow::Borrowed(
        "before names no item of this list; begin again without it",
    ))
}
