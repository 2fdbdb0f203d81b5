//! Tasks: calls of tools whose results are looked up later. An extension of the modern era, which a client declares with
//! each request.
//!
//! A task has no state of its own. Its provider returns the current state for each request, so a task outlives the
//! process if what it stands for does.
//!
//! See `docs/decisions/53-mcp-tasks.md`.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::domain::time::Timestamp;
use crate::mcp::Caller;
use crate::mcp::capabilities::Capability;
use crate::mcp::relay::Waiter;
use crate::mcp::result::{Dialect, ToolResult};
use crate::mcp::rpc;

/// The extension's name between servers and clients.
pub(super) const EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// What a client that accepts tasks declares.
pub(super) const CAPABILITY: Capability = &["extensions", EXTENSION];

words! {
    /// A method of the extension.
    Method {
        /// Returns a task's status.
        Get => "tasks/get",
        /// Brings answers to what a task asks for.
        Update => "tasks/update",
        /// Ends a task.
        Cancel => "tasks/cancel",
    }
}

/// A provider of tasks. Each method may block, for a transaction at most. A task of another subject is treated as one
/// that does not exist.
pub trait Tasks: Send + Sync {
    /// Returns a task.
    ///
    /// # Errors
    /// When there is no such task, or it cannot be read at present.
    fn get(&self, caller: &Caller, id: &str) -> Result<Task, TaskFault>;

    /// Takes a client's answers to what the task asks for, by their keys. Others are ignored.
    ///
    /// # Errors
    /// When there is no such task, or they cannot be taken at present.
    fn update(
        &self,
        caller: &Caller,
        id: &str,
        responses: &Map<String, Value>,
    ) -> Result<(), TaskFault>;

    /// Ends what of a task can still be ended.
    ///
    /// # Errors
    /// When there is no such task, or that cannot be done at present.
    fn cancel(&self, caller: &Caller, id: &str) -> Result<(), TaskFault>;

    /// Has `waiter` wait until a task has ended. If there is no such task, or its end cannot be waited for, the waiter
    /// is dropped. Returns at once.
    fn watch(&self, caller: &Caller, id: &str, waiter: Box<dyn Waiter>);
}

/// Why a request about a task fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskFault {
    /// The caller has no such task.
    Unknown,
    /// The task cannot be reached at present: why, with the next step.
    Unavailable(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its id, for the client.
    pub id: String,
    pub status: TaskStatus,
    /// The status in words, for people and models.
    pub message: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The least time for which it can be looked up after it was made.
    pub ttl: Duration,
    /// How long a client should wait between two requests.
    pub poll_interval: Duration,
}

/// The status of a task.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskStatus {
    /// It is being worked on.
    Working,
    /// It waits for answers to these requests, by their keys.
    InputRequired(Map<String, Value>),
    /// The tool has ended, well or not.
    Completed(ToolResult),
    /// The call has no result.
    Failed(rpc::Error),
    /// It was ended before.
    Cancelled,
}

impl Task {
    /// Returns the result of a call that became this task.
    pub(super) fn created(&self) -> Value {
        let mut members = self.members();
        members.insert("resultType".to_owned(), "task".into());
        members.into()
    }

    /// Returns the task with the members of its status.
    pub(super) fn detailed(&self) -> Value {
        let mut members = self.members();
        let (name, carried) = match &self.status {
            TaskStatus::Working | TaskStatus::Cancelled => return members.into(),
            TaskStatus::InputRequired(requests) => ("inputRequests", requests.clone().into()),
            TaskStatus::Completed(result) => {
                ("result", Dialect::Modern.complete(result.clone().to_value(Dialect::Modern)))
            }
            TaskStatus::Failed(error) => ("error", error.to_value()),
        };
        members.insert(name.to_owned(), carried);
        members.into()
    }

    fn members(&self) -> Map<String, Value> {
        let status = match self.status {
            TaskStatus::Working => "working",
            TaskStatus::InputRequired(_) => "input_required",
            TaskStatus::Completed(_) => "completed",
            TaskStatus::Failed(_) => "failed",
            TaskStatus::Cancelled => "cancelled",
        };
        let mut members = Map::from_iter([
            ("taskId".to_owned(), json!(self.id)),
            ("status".to_owned(), status.into()),
            ("createdAt".to_owned(), json!(self.created_at)),
            ("lastUpdatedAt".to_owned(), json!(self.updated_at)),
            ("ttlMs".to_owned(), millis(self.ttl)),
            ("pollIntervalMs".to_owned(), millis(self.poll_interval)),
        ]);
        if let Some(message) = &self.message {
            members.insert("statusMessage".to_owned(), json!(message));
        }
        members
    }
}

fn millis(duration: Duration) -> Value {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).into()
}

/// All providers of tasks.
#[derive(Clone, Default)]
pub(super) struct AllTasks(Vec<Arc<dyn Tasks>>);

impl AllTasks {
    pub(super) const fn new(all: Vec<Arc<dyn Tasks>>) -> Self {
        Self(all)
    }

    /// Says whether any call may become a task.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn first<T>(&self, ask: impl Fn(&dyn Tasks) -> Result<T, TaskFault>) -> Result<T, TaskFault> {
        // Lazy: those behind the provider that knows the task are not asked.
        let answers = self.0.iter().map(|tasks| ask(tasks.as_ref()));
        let mut known = answers.filter(|answer| !matches!(answer, Err(TaskFault::Unknown)));
        known.next().unwrap_or(Err(TaskFault::Unknown))
    }
}

impl Tasks for AllTasks {
    fn get(&self, caller: &Caller, id: &str) -> Result<Task, TaskFault> {
        self.first(|tasks| tasks.get(caller, id))
    }

    fn update(
        &self,
        caller: &Caller,
        id: &str,
        responses: &Map<String, Value>,
    ) -> Result<(), TaskFault> {
        self.first(|tasks| tasks.update(caller, id, responses))
    }

    fn cancel(&self, caller: &Caller, id: &str) -> Result<(), TaskFault> {
        self.first(|tasks| tasks.cancel(caller, id))
    }

    fn watch(&self, caller: &Caller, id: &str, waiter: Box<dyn Waiter>) {
        let mut all = self.0.iter();
        if let Some(tasks) = all.find(|tasks| tasks.get(caller, id).is_ok()) {
            tasks.watch(caller, id, waiter);
        }
    }
}
