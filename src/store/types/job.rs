//! Running a job: what new release runs are made of, and what became of the job.

use crate::domain::dead_letter::{DeadLetterReason, ErrorClass};
use crate::domain::id::AppId;
use crate::domain::job::NothingToDo;

/// How new release runs are made.
#[derive(Clone, Debug)]
pub struct NewRelease {
    /// The app we are at the forge.
    pub own_app: AppId,
    /// File name of the workflow to dispatch.
    pub workflow: String,
    /// Name of the check run.
    pub check_run_name: String,
}

/// What running a job came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobRun {
    /// Completed with a change.
    Applied,
    /// Completed without one.
    Nothing(NothingToDo),
    /// Given up.
    DeadLettered(DeadLetterReason, ErrorClass),
}
