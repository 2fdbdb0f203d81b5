//! Refusals of the gate as errors of JSON-RPC, for routes that speak it.

use serde_json::json;

use crate::http::gate::Refused;
use crate::http::json::MEDIA_TYPE;

/// The code of a request that is not one.
const INVALID_REQUEST: i32 = -32600;

/// Returns the media type and the body. It has no `id`, because no request was read.
#[must_use]
pub fn describe(refused: &Refused) -> (&'static str, Vec<u8>) {
    let error = json!({ "code": INVALID_REQUEST, "message": refused.to_string() });
    let body = json!({ "jsonrpc": "2.0", "error": error });
    (MEDIA_TYPE, body.to_string().into_bytes())
}
