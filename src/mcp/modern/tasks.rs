//! The methods of the tasks extension.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{Refusal, check_client, headers, in_band};
use crate::auth::access_token::Scope;
use crate::json::Object;
use crate::mcp::era::modern_error;
use crate::mcp::result::Dialect;
use crate::mcp::rpc::{self, Code, Error, Request};
use crate::mcp::tasks::{AllTasks, CAPABILITY, Method, TaskFault, Tasks as _};
use crate::mcp::{Answer, Caller, Context, Reply, Status};

/// The member of the parameters that names a task.
const ID: &str = "taskId";
/// Longest id of a task, in bytes. Ours are shorter, so a longer one names no task.
const ID_BYTES_MAX: usize = 64;

/// Answers a request about a task.
pub(super) fn answer(
    tasks: &AllTasks,
    method: Method,
    request: &Request<'_>,
    context: Context<'_>,
) -> Result<Reply, Refusal> {
    let agreed = headers::check_name(request, ID, context);
    agreed.map_err(|error| Refusal(Status::BadRequest, modern_error(error)))?;
    check_client(Some(CAPABILITY), request.params)?;
    // The scope of the tool that cancels an invocation.
    if method == Method::Cancel && !context.caller.scopes.contains(&Scope::Invoke) {
        return Ok(Answer::forbidden(Some(request.id.clone()), Scope::Invoke).into());
    }
    let asked = Asked::read(method, request.params).map_err(in_band)?;
    let (tasks, caller, id) = (tasks.clone(), context.caller.clone(), request.id.clone());
    Ok(Reply::Blocking(Box::new(move || match asked.of(&tasks, &caller) {
        Ok(result) => {
            let result = Dialect::Modern.complete(result).to_string();
            Answer::message(Status::Ok, rpc::result(&id, &result))
        }
        Err(error) => Answer::error(Status::Ok, &error.of(&id)),
    })))
}

/// A request about a task.
struct Asked {
    method: Method,
    id: String,
    responses: Map<String, Value>,
}

impl Asked {
    fn read(method: Method, params: Option<&RawValue>) -> Result<Self, Error> {
        let invalid = |message: &'static str| Error::new(Code::InvalidParams, message);
        let json = params.map(|params| params.get().as_bytes()).unwrap_or_default();
        let params = Object::read_members(json, &[ID, "inputResponses"])
            .map_err(|_| invalid("the parameters must name exactly one task"))?;
        let id: String =
            params.member(ID).ok_or_else(|| invalid("the parameters need taskId, a string"))?;
        let responses = match method {
            Method::Update => params.member("inputResponses").ok_or_else(|| {
                invalid("tasks/update needs inputResponses, an object with an answer by each key")
            })?,
            Method::Get | Method::Cancel => Map::new(),
        };
        Ok(Self { method, id, responses })
    }

    fn of(&self, tasks: &AllTasks, caller: &Caller) -> Result<Value, Error> {
        if self.id.len() > ID_BYTES_MAX {
            return Err(refuse(TaskFault::Unknown));
        }
        let done = match self.method {
            Method::Get => tasks.get(caller, &self.id).map(|task| task.detailed()),
            Method::Update => tasks.update(caller, &self.id, &self.responses).map(|()| json!({})),
            Method::Cancel => tasks.cancel(caller, &self.id).map(|()| json!({})),
        };
        done.map_err(refuse)
    }
}

fn refuse(fault: TaskFault) -> Error {
    match fault {
        TaskFault::Unknown => {
            Error::new(Code::InvalidParams, "there is no such task, or it is no longer kept")
        }
        TaskFault::Unavailable(why) => Error::new(Code::Internal, why),
    }
}
