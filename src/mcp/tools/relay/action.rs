//! The tools that are actions: each is a proposal of one step.

use std::sync::Arc;

use super::held::PendingCall;
use super::outcome::{self, About};
use super::{Host, id, schema};
use crate::mcp::tools::{Run, Tool};
use crate::relay::action::DesignAction;

/// Returns the tool of an action.
pub(super) fn tool(host: &Host, action: DesignAction) -> Tool {
    let host = host.clone();
    Tool {
        name: action.as_str(),
        title: action.title(),
        description: action.description().into(),
        input_schema: schema::action_input(action),
        output_schema: Some(schema::action_output(action)),
        annotations: action.annotations(),
        is_open_world: true,
        scope: action.scope(),
        needs: None,
        run: Run::Late(Arc::new(move |call, arguments| {
            let mut arguments = arguments.clone();
            let session = id(&arguments, "session");
            // The session belongs to the call: the action's own schema does not allow it.
            arguments.remove("session");
            let step = match action.check(&arguments) {
                Ok(step) => step,
                Err(refusal) => return call.finish(outcome::not_a_call(&refusal)),
            };
            match host.relay.propose(call.caller(), session, vec![step]) {
                Ok(proposal) => PendingCall::begin(&host, call, proposal, About::Action, host.wait),
                Err(refusal) => call.finish(outcome::refused(&refusal)),
            }
        })),
    }
}
