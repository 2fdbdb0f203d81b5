//! Who calls, as MCP and the relay know callers.

use crate::http::gate::Authorized;
use crate::mcp::Caller;

/// Returns whom the gate let through; where it asks for no token, the local caller.
pub(super) fn of(authorized: Option<Authorized<'_>>) -> Caller {
    authorized.map_or_else(Caller::local, |Authorized { caller, .. }| Caller {
        subject: caller.subject.clone(),
        client: caller.client.clone(),
        scopes: caller.scopes.clone(),
    })
}
