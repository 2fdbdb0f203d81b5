//! Tasks whose end a client hears of on its stream.

use serde_json::{Map, Value, json};

use crate::mcp::Caller;
use crate::mcp::relay::{Ended, Waiter};
use crate::mcp::rpc::{self, Id};
use crate::mcp::stream::Stream;
use crate::mcp::tasks::{AllTasks, Tasks as _};

/// The member of the parameters of a subscription that names tasks.
pub(super) const MEMBER: &str = "taskIds";
/// The member that names the stream a message belongs to.
pub(super) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
/// Most tasks of one stream. Further ones are not agreed to, and can be looked up.
const TASKS_MAX: usize = 16;

/// Says whether a subscription is for tasks.
pub(super) fn is_asked_for(asked: &Map<String, Value>) -> bool {
    asked.get(MEMBER).is_some_and(|ids| !ids.is_null())
}

/// Returns which of the tasks that a caller names there are.
pub(super) fn known(tasks: &AllTasks, caller: &Caller, asked: &Map<String, Value>) -> Vec<String> {
    let ids = asked.get(MEMBER).and_then(Value::as_array).into_iter().flatten();
    let mut named: Vec<&str> = ids.filter_map(Value::as_str).take(TASKS_MAX).collect();
    named.sort_unstable();
    named.dedup();
    named.into_iter().filter(|id| tasks.get(caller, id).is_ok()).map(str::to_owned).collect()
}

/// A task, and the stream of a client that hears of its end.
pub(super) struct TaskWatch {
    pub(super) tasks: AllTasks,
    pub(super) caller: Caller,
    pub(super) task: String,
    pub(super) subscription: Id,
    pub(super) stream: Stream,
}

impl TaskWatch {
    pub(super) fn begin(self) {
        let (tasks, caller, task) = (self.tasks.clone(), self.caller.clone(), self.task.clone());
        tasks.watch(&caller, &task, Box::new(self));
    }
}

impl Waiter for TaskWatch {
    fn look(&mut self) -> bool {
        self.stream.is_attached()
    }

    fn end(self: Box<Self>, how: Ended) {
        // A client that was not told can still ask with `tasks/get`.
        if how != Ended::Settled {
            return;
        }
        let Ok(task) = self.tasks.get(&self.caller, &self.task) else { return };
        let mut params = task.detailed();
        if let Some(members) = params.as_object_mut() {
            let subscription = json!({ SUBSCRIPTION: self.subscription.to_value() });
            members.insert("_meta".to_owned(), subscription);
        }
        self.stream.send(rpc::notification("notifications/tasks", &params));
    }
}
