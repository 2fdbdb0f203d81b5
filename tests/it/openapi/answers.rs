//! What tests are answered, held to the document: status, media type and headers, whatever a test is about. Every answer
//! that a test gets of the router, or of a daemon over a socket, passes here.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::{document, resolved};

static DOCUMENT: LazyLock<Value> = LazyLock::new(document);

/// Headers that depend on the connection, the gate or the proxy, and not on the operation.
const OF_EVERY_ANSWER: [&str; 15] = [
    "access-control-allow-origin",
    "access-control-expose-headers",
    "cache-control",
    "connection",
    "content-length",
    "content-security-policy",
    "content-type",
    "cross-origin-resource-policy",
    "date",
    "referrer-policy",
    "server",
    "strict-transport-security",
    "transfer-encoding",
    "vary",
    "x-content-type-options",
];

/// Refuses an answer that the document does not have. A path or a method without an operation has no place there.
pub(crate) fn hold<'a>(
    (method, target): (&str, &str),
    status: u16,
    headers: impl Iterator<Item = (&'a str, &'a str)>,
) {
    let path = target.split('?').next().unwrap_or_default();
    let method = if method == "HEAD" { "get".to_owned() } else { method.to_ascii_lowercase() };
    let Some(operation) = operation(path).and_then(|operations| operations.get(&method)) else {
        return;
    };
    // The head is too large for there to be a route.
    if status == 431 {
        return;
    }
    // Another surface than those of the route does not have it.
    if status == 404 && operation["x-surfaces"].as_array().unwrap().len() < 3 {
        return;
    }
    let case = format!("{method} {target} is answered {status}");
    let answer = operation["responses"].get(status.to_string());
    let answer = answer.unwrap_or_else(|| panic!("{case}, which docs/openapi.json does not list"));
    let answer = resolved(&DOCUMENT, answer);
    for (name, value) in headers {
        if name == "content-type" {
            let types = answer["content"].as_object().into_iter().flat_map(Map::keys);
            let essence = value.split(';').next();
            let is_listed = types.clone().any(|it| it == value || Some(it.as_str()) == essence);
            assert!(
                is_listed,
                "{case} with {value}: docs/openapi.json lists {:?}",
                types.collect::<Vec<_>>()
            );
        } else if !OF_EVERY_ANSWER.contains(&name) {
            let listed = answer["headers"].as_object().into_iter().flat_map(Map::keys);
            let is_listed = listed.clone().any(|listed| listed.eq_ignore_ascii_case(name));
            assert!(
                is_listed,
                "{case} with {name}: docs/openapi.json lists {:?}",
                listed.collect::<Vec<_>>()
            );
        }
    }
}

/// Returns the operations of the path that a request is for: a word comes before a variable.
fn operation(path: &str) -> Option<&'static Map<String, Value>> {
    let paths = DOCUMENT["paths"].as_object().unwrap();
    let is_it = |pattern: &str| {
        let (wanted, parts) = (pattern.split('/'), path.split('/'));
        wanted.clone().count() == parts.clone().count()
            && wanted.zip(parts).all(|(wanted, part)| wanted == part || wanted.starts_with('{'))
    };
    let found = paths.iter().filter(|(pattern, _)| is_it(pattern));
    let found = found.min_by_key(|(pattern, _)| pattern.matches('{').count());
    found.and_then(|(_, operations)| operations.as_object())
}
