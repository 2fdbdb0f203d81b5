//! Who calls, as MCP and the relay know callers.

use std::net::IpAddr;

use crate::http::gate::Authorized;
use crate::mcp;

/// Returns whom the gate let through, with the peer of the request; where it asks for no token, the local caller.
pub(super) fn of(authorized: Option<Authorized<'_>>, peer: Option<IpAddr>) -> mcp::Caller {
    match authorized {
        None => mcp::Caller { peer, ..mcp::Caller::local() },
        Some(Authorized { caller, .. }) => mcp::Caller {
            subject: caller.subject.clone(),
            client: caller.client.clone(),
            peer,
            scopes: caller.scopes.clone(),
        },
    }
}
