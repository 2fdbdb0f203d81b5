//! What clients of the modern era declare with each request, and what may be asked of them by that.

use serde_json::{Map, Value, json};

use crate::mcp::rpc::{Code, Error};

/// The member of the envelope that has them.
const MEMBER: &str = "io.modelcontextprotocol/clientCapabilities";

/// A capability of a client: the names of the members that lead to it.
pub(super) type Capability = &'static [&'static str];

/// Says whether the parameters of a request declare a capability.
pub(super) fn declare(params: &Map<String, Value>, capability: &[&str]) -> bool {
    declared(params, capability).is_some()
}

/// Checks that the parameters of a request declare this capability.
///
/// # Errors
/// When they do not.
pub(super) fn check(params: &Map<String, Value>, capability: Capability) -> Result<(), Error> {
    if declare(params, capability) {
        return Ok(());
    }
    Err(missing(&capability.iter().rev().fold(json!({}), |inner, name| json!({ *name: inner }))))
}

/// Checks that the parameters of a request declare what its client needs to answer these requests of the server.
///
/// # Errors
/// When they do not, with everything that is missing; or when a request is none that a client could be sent.
pub(super) fn check_all(
    params: &Map<String, Value>,
    requests: &Map<String, Value>,
) -> Result<(), Error> {
    let mut required = Map::new();
    for request in requests.values() {
        let Some((capability, part)) = needed(request) else {
            return Err(Error::new(Code::Internal, "the server asks for what no client answers"));
        };
        let declared = declared(params, &[capability]);
        if !declared.is_some_and(|declared| has_part(declared, part)) {
            let required = required.entry(capability).or_insert_with(|| json!({}));
            if let (Some(part), Some(parts)) = (part, required.as_object_mut()) {
                parts.insert(part.to_owned(), json!({}));
            }
        }
    }
    if required.is_empty() { Ok(()) } else { Err(missing(&required.into())) }
}

/// Returns the capability by which a client answers a request, and which part of it where it has several.
fn needed(request: &Value) -> Option<(&'static str, Option<&'static str>)> {
    let param = |name: &str| request.pointer(&format!("/params/{name}"));
    // The protocol's default, for which no capability is needed.
    let context = param("includeContext").and_then(Value::as_str).unwrap_or("none");
    Some(match request.get("method")?.as_str()? {
        "elicitation/create" if param("mode") == Some(&json!("url")) => {
            ("elicitation", Some("url"))
        }
        "elicitation/create" => ("elicitation", Some("form")),
        "sampling/createMessage" if param("tools").or(param("toolChoice")).is_some() => {
            ("sampling", Some("tools"))
        }
        "sampling/createMessage" if context != "none" => ("sampling", Some("context")),
        "sampling/createMessage" => ("sampling", None),
        "roots/list" => ("roots", None),
        _ => return None,
    })
}

fn declared<'p>(
    params: &'p Map<String, Value>,
    capability: &[&str],
) -> Option<&'p Map<String, Value>> {
    let all = params.get("_meta")?.get(MEMBER)?;
    capability.iter().try_fold(all, |at, name| at.get(name))?.as_object()
}

/// Says whether a capability has a part. Elicitation without any is that of forms.
fn has_part(declared: &Map<String, Value>, part: Option<&str>) -> bool {
    part.is_none_or(|part| {
        declared.get(part).is_some_and(Value::is_object) || (part == "form" && declared.is_empty())
    })
}

/// Returns the error of a client that does not declare these capabilities.
fn missing(required: &Value) -> Error {
    let message = "the client does not declare the capabilities that this request needs; see requiredCapabilities";
    Error::new(Code::MissingCapability, message).with(json!({ "requiredCapabilities": required }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is missing of a client with these capabilities that is to be asked for all of these.
    fn missing_of(declared: &Value, requests: &[&Value]) -> Option<Value> {
        let params = json!({ "_meta": { MEMBER: declared } });
        let requests =
            requests.iter().enumerate().map(|(key, it)| (key.to_string(), (*it).clone()));
        let checked = check_all(params.as_object().unwrap(), &requests.collect());
        checked.err().map(|error| {
            assert_eq!(error.code, Code::MissingCapability);
            error.data.unwrap()["requiredCapabilities"].clone()
        })
    }

    #[test]
    fn parts_of_a_capability_are_needed_for_some_requests_alone() {
        let request = |method: &str, params: Value| json!({ "method": method, "params": params });
        let form = request("elicitation/create", json!({ "mode": "form", "message": "x" }));
        let url = request("elicitation/create", json!({ "mode": "url", "message": "x" }));
        let sample = |params| request("sampling/createMessage", params);
        let (plain, none) = (sample(json!({})), sample(json!({ "includeContext": "none" })));
        let tools = sample(json!({ "tools": [] }));
        let choice = sample(json!({ "toolChoice": { "mode": "none" } }));
        let context = sample(json!({ "includeContext": "thisServer" }));
        let roots = json!({ "method": "roots/list" });
        let of_forms = json!({ "elicitation": { "form": {} } });
        let of_urls = json!({ "elicitation": { "url": {} } });
        for (declared, requests, wanted) in [
            (json!({}), &[][..], None),
            (json!({ "elicitation": {} }), &[&form], None),
            (json!({ "elicitation": {} }), &[&url], Some(of_urls.clone())),
            (of_forms.clone(), &[&form, &url], Some(of_urls.clone())),
            (of_urls.clone(), &[&form, &url], Some(of_forms)),
            (of_urls, &[&url], None),
            (
                json!({ "elicitation": { "form": 1 } }),
                &[&form, &url],
                Some(json!({ "elicitation": { "form": {}, "url": {} } })),
            ),
            (json!({ "sampling": {} }), &[&plain, &none], None),
            (
                json!({ "sampling": {} }),
                &[&tools, &context, &roots],
                Some(json!({ "sampling": { "tools": {}, "context": {} }, "roots": {} })),
            ),
            (json!({}), &[&tools, &plain], Some(json!({ "sampling": { "tools": {} } }))),
            (
                json!({ "sampling": { "tools": {}, "context": {} } }),
                &[&tools, &choice, &context],
                None,
            ),
            (json!({ "roots": {} }), &[&roots], None),
            (json!([]), &[&roots], Some(json!({ "roots": {} }))),
            (Value::Null, &[&roots], Some(json!({ "roots": {} }))),
        ] {
            assert_eq!(missing_of(&declared, requests), wanted, "{declared} {requests:?}");
        }
    }

    #[test]
    fn what_no_client_is_asked_is_a_fault_of_the_server() {
        for request in [json!({ "method": "tools/list" }), json!({ "method": 1 }), json!("x")] {
            let requests = Map::from_iter([("key".to_owned(), request.clone())]);
            let error = check_all(&Map::new(), &requests).unwrap_err();
            assert_eq!(error.code, Code::Internal, "{request}");
        }
    }
}
