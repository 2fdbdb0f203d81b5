//! Streams on which clients of the modern era hear of changes. No state outlives a stream.

use std::sync::Mutex;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::mcp::Caller;
use crate::mcp::changes::List;
use crate::mcp::modern::capabilities;
use crate::mcp::modern::watch::{self, SUBSCRIPTION, TaskWatch};
use crate::mcp::result::Dialect;
use crate::mcp::rpc::{self, Code, Error, Id};
use crate::mcp::stream::Stream;
use crate::mcp::tasks::AllTasks;
use crate::runtime::mutex::lock;

/// All streams.
pub struct Subscriptions {
    max: usize,
    per_subject_max: usize,
    all: Mutex<Vec<Subscription>>,
}

struct Subscription {
    id: Id,
    subject: String,
    stream: Stream,
    lists: Vec<List>,
}

impl Subscriptions {
    /// Returns none, of which there may be so many in all, and of each subject.
    pub(in crate::mcp) const fn new(max: usize, per_subject_max: usize) -> Self {
        Self { max, per_subject_max, all: Mutex::new(Vec::new()) }
    }

    /// Opens a caller's stream, and says first what will be heard on it: what was asked for, as far as this server tells
    /// it.
    pub(super) fn open(
        &self,
        caller: Caller,
        id: &Id,
        params: Option<&RawValue>,
        stream: Stream,
        tasks: &AllTasks,
    ) {
        let params: Map<String, Value> =
            params.and_then(|it| serde_json::from_str(it.get()).ok()).unwrap_or_default();
        let Some(asked) = params.get("notifications").and_then(Value::as_object) else {
            let error =
                Error::new(Code::InvalidParams, "the parameters need notifications, an object");
            return stream.finish(error.of(id).to_message());
        };
        let capabilities = capabilities();
        let is = |value: Option<&Value>| value == Some(&Value::Bool(true));
        let may_hear = |list: &List| {
            is(asked.get(&member(*list)))
                && is(capabilities.pointer(&format!("/{list}/listChanged")))
        };
        let lists: Vec<List> = List::ALL.iter().copied().filter(may_hear).collect();
        // Before the lock is taken, because providers may call the store.
        let task_ids = watch::known(tasks, &caller, asked);
        let mut all = lock(&self.all);
        all.retain(|it| it.stream.is_attached());
        let own = all.iter().filter(|it| it.subject == caller.subject).count();
        if all.len() >= self.max || own >= self.per_subject_max {
            drop(all);
            let error = Error::new(Code::Internal, "there are too many subscriptions; try later");
            return stream.finish(error.of(id).to_message());
        }
        let mut granted = Map::from_iter(lists.iter().map(|list| (member(*list), true.into())));
        if !task_ids.is_empty() {
            granted.insert(watch::MEMBER.to_owned(), json!(task_ids));
        }
        let params = json!({ "notifications": granted, "_meta": { SUBSCRIPTION: id.to_value() } });
        // Under the lock, so that no change is told before the acknowledgement.
        stream.send(rpc::notification("notifications/subscriptions/acknowledged", &params));
        let subject = caller.subject.clone();
        all.push(Subscription { id: id.clone(), subject, stream: stream.clone(), lists });
        drop(all);
        // Without the lock and after the acknowledgement: a task that has ended already is told at once.
        for task in task_ids {
            let (tasks, caller, stream) = (tasks.clone(), caller.clone(), stream.clone());
            TaskWatch { tasks, caller, task, subscription: id.clone(), stream }.begin();
        }
    }

    /// Tells those that have subscribed to changes of a list.
    pub(in crate::mcp) fn notify_all(&self, list: List, method: &str) {
        for subscription in &*lock(&self.all) {
            if subscription.lists.contains(&list) {
                let params = json!({ "_meta": { SUBSCRIPTION: subscription.id.to_value() } });
                subscription.stream.send(rpc::notification(method, &params));
            }
        }
    }

    /// Ends all streams.
    pub(in crate::mcp) fn clear(&self) {
        for subscription in lock(&self.all).drain(..) {
            subscription.end();
        }
    }

    /// Ends the stream of a request that its client has cancelled, and so expects nothing more of.
    pub(super) fn cancel(&self, id: &Id) {
        // An id is unique for one client only. Over lines, where this is called, there is only one.
        let mut all = lock(&self.all);
        let cancelled = all.extract_if(.., |it| it.id == *id);
        cancelled.for_each(|it| it.stream.cancel());
    }

    pub(in crate::mcp) fn sweep(&self) {
        lock(&self.all).retain(|it| it.stream.is_attached());
    }
}

/// Returns the member by which changes of a list are asked for.
fn member(list: List) -> String {
    format!("{list}ListChanged")
}

impl Subscription {
    fn end(self) {
        let result =
            Dialect::Modern.complete(json!({ "_meta": { SUBSCRIPTION: self.id.to_value() } }));
        self.stream.finish(rpc::result(&self.id, &result.to_string()));
    }
}
