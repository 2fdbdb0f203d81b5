//! The tools: what they are called, what they take and give, and how one is called. Both eras share them.
//!
//! What they may do, and where scopes are checked: `docs/decisions/52-mcp-tools.md`.

pub mod agent_card;
mod arguments;
pub mod relay;
pub mod service_status;

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::auth::access_token::Scope;
use crate::json::Object;
use crate::mcp::Caller;
use crate::mcp::call::Call;
use crate::mcp::capabilities::Capability;
use crate::mcp::result::{Dialect, ToolResult};
use crate::mcp::rpc::{Code, Error};
use arguments::Arguments;

pub use crate::relay::action::Annotations;

/// What the schemas of tools are written in.
const SCHEMA: &str = "https://json-schema.org/draft/2020-12/schema";

pub struct Tool {
    /// Its name, for programs.
    pub name: &'static str,
    /// Its name, for people.
    pub title: &'static str,
    /// What it does and when to use it, for models.
    pub description: Cow<'static, str>,
    /// What it takes: a JSON Schema of an object.
    pub input_schema: Value,
    /// What it gives as structured content: a JSON Schema of an object; nothing of a tool that gives none.
    pub output_schema: Option<Value>,
    /// What clients may think of it before they call it.
    pub annotations: Annotations,
    /// It reaches something outside this service, and may return what strangers wrote there.
    pub is_open_world: bool,
    /// What a token must allow, besides [`Scope::Read`], which every message needs.
    pub scope: Scope,
    /// A capability without which a client of the modern era is refused.
    pub needs: Option<Capability>,
    /// What it does.
    pub run: Run,
}

/// How a tool does what it does.
#[derive(Clone)]
pub enum Run {
    /// At once.
    Prompt(fn(&Map<String, Value>) -> ToolResult),
    /// It takes a while, and the thread that calls it.
    Blocking(Arc<Blocking>),
    /// It says more than its result, or ends when it likes.
    Open(Arc<Open>),
    /// It ends when it likes, and before that says only how far it is.
    Late(Arc<Open>),
}

/// A tool that takes a while.
type Blocking = dyn Fn(&Caller, &Map<String, Value>) -> ToolResult + Send + Sync;
/// A tool that ends when it likes.
pub(super) type Open = dyn Fn(Call, &Map<String, Value>) + Send + Sync;

/// A call that was understood.
pub enum Called<'t> {
    Done(ToolResult),
    /// Who gives it.
    Run(&'t Tool, Map<String, Value>),
    /// Nothing is done: the token lacks this scope.
    Forbidden(Scope),
}

/// All tools, in the order in which they are listed.
pub struct Tools(Vec<(Tool, Arguments)>);

impl Tools {
    /// Returns these tools, sorted by name.
    ///
    /// # Panics
    /// When an input schema is none: they are part of the program.
    #[must_use]
    pub fn new(mut tools: Vec<Tool>) -> Self {
        tools.sort_by_key(|tool| tool.name);
        let with_arguments = |tool: Tool| {
            let arguments = Arguments::new(tool.input_schema.clone());
            (tool, arguments)
        };
        Self(tools.into_iter().map(with_arguments).collect())
    }

    /// Returns the members of the answer to `tools/list`.
    #[must_use]
    pub fn list(&self, dialect: Dialect) -> Value {
        Value::from_iter(self.0.iter().map(|(tool, _)| tool.describe(dialect)))
    }

    /// Returns the tool of a name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Tool> {
        self.0.iter().map(|(tool, _)| tool).find(|tool| tool.name == name)
    }

    /// Says whether a tool needs this scope.
    #[must_use]
    pub fn need(&self, scope: Scope) -> bool {
        self.0.iter().any(|(tool, _)| tool.scope == scope)
    }

    /// Understands a caller's call by the parameters of `tools/call`.
    ///
    /// # Errors
    /// When they name no tool, or are not as they must be. Arguments that the tool does not take are its own failure, so
    /// that a model may mend them.
    pub fn call(&self, params: Option<&RawValue>, caller: &Caller) -> Result<Called<'_>, Error> {
        let invalid = |message: &'static str| Error::new(Code::InvalidParams, message);
        let params = params.ok_or_else(|| invalid("tools/call needs name, a string"))?;
        let params = Object::read_members(params.get().as_bytes(), &["name", "arguments"])
            .map_err(|_| invalid("tools/call must not repeat its name or arguments"))?;
        let name: String =
            params.member("name").ok_or_else(|| invalid("tools/call needs name, a string"))?;
        let found = self.0.iter().find(|(tool, _)| tool.name == name);
        let (tool, arguments) = found.ok_or_else(|| {
            invalid("there is no tool with that name; tools/list returns the available tools")
        })?;
        // Before the arguments are read (docs/decisions/52-mcp-tools.md).
        if !caller.scopes.contains(&tool.scope) {
            return Ok(Called::Forbidden(tool.scope));
        }
        let given: Map<String, Value> = match params.raw("arguments") {
            None => Map::new(),
            Some(given) => serde_json::from_str(given.get())
                .map_err(|_| invalid("the arguments of a tool must be an object"))?,
        };
        Ok(match arguments.check(given) {
            Ok(given) => Called::Run(tool, given),
            Err(refusal) => Called::Done(ToolResult::failure(&refusal)),
        })
    }
}

impl Tool {
    fn describe(&self, dialect: Dialect) -> Value {
        let mut described = json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": self.input_schema,
        });
        let Some(members) = described.as_object_mut() else { return described };
        // Both came with revision 2025-06-18, as structured content did.
        if dialect.has_structured_content() {
            members.insert("title".to_owned(), self.title.into());
            if let Some(schema) = &self.output_schema {
                members.insert("outputSchema".to_owned(), schema.clone());
            }
        }
        let annotations = json!({
            "readOnlyHint": self.annotations.is_read_only,
            "destructiveHint": self.annotations.is_destructive,
            "idempotentHint": self.annotations.is_idempotent,
            "openWorldHint": self.is_open_world,
        });
        members.insert("annotations".to_owned(), annotations);
        described
    }
}

/// Refuses a cursor: all lists have one page, so none was given.
pub(in crate::mcp) fn check_first_page(params: Option<&RawValue>) -> Result<(), Error> {
    let Some(params) = params else { return Ok(()) };
    let params = Object::read_members(params.get().as_bytes(), &["cursor"]);
    if params.is_ok_and(|params| !params.has("cursor")) {
        return Ok(());
    }
    Err(Error::new(
        Code::InvalidParams,
        "the cursor does not belong to this list; repeat the \
    request without it",
    ))
}
