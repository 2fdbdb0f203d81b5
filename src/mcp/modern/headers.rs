//! Headers that repeat what the message says, so that a proxy can read it. They agree with the message, or the request
//! is refused: otherwise the proxy would have let another request through than the one that is carried out.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::json::Object;
use crate::mcp::Context;
use crate::mcp::era::Header;
use crate::mcp::rpc::{Code, Error, Request};
use crate::mcp::tools::Tool;

/// How a value begins and ends that is no visible ASCII.
const ENCODED: (&str, &str) = ("=?base64?", "?=");

/// Checks that `Mcp-Method` names the method.
pub(super) fn check_method(request: &Request<'_>, context: Context<'_>) -> Result<(), Error> {
    let names_it = |value: &str| value == request.method;
    check(context, "mcp-method", "Mcp-Method", Some(names_it))
}

/// Checks that `Mcp-Name` names what the parameters name in their member `member`.
pub(super) fn check_name(
    request: &Request<'_>,
    member: &str,
    context: Context<'_>,
) -> Result<(), Error> {
    let params = request.params.and_then(|params| {
        Object::read_members(params.get().as_bytes(), &[member]).ok()?.member::<String>(member)
    });
    // What names nothing is refused for that, and not for its header.
    let Some(name) = params else { return Ok(()) };
    check(context, "mcp-name", "Mcp-Name", Some(|value: &str| value == name))
}

/// Checks the arguments that a tool wants to be repeated in headers.
pub(super) fn check_arguments(
    tool: &Tool,
    arguments: &Map<String, Value>,
    context: Context<'_>,
) -> Result<(), Error> {
    mirrored(&tool.input_schema, Some(&Value::from(arguments.clone())), context)
}

fn mirrored(schema: &Value, given: Option<&Value>, context: Context<'_>) -> Result<(), Error> {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let given = given.and_then(|given| given.get(name));
        if let Some(header) = property.get("x-mcp-header").and_then(Value::as_str) {
            let name = format!("Mcp-Param-{header}");
            let agrees = given.filter(|it| !it.is_null()).map(|it| |text: &str| is(it, text));
            check(context, &name.to_ascii_lowercase(), &name, agrees)?;
        }
        mirrored(property, given, context)?;
    }
    Ok(())
}

/// Says whether a header's text is an argument's value.
fn is(value: &Value, text: &str) -> bool {
    match value {
        Value::String(value) => value == text,
        Value::Bool(value) => text == if *value { "true" } else { "false" },
        Value::Number(value) => {
            text.parse().is_ok_and(|number: f64| value.as_f64() == Some(number))
        }
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

/// Checks one header: that it is there and agrees, or that it is not there when nothing is to be repeated.
fn check(
    context: Context<'_>,
    name: &str,
    shown: &str,
    agrees: Option<impl Fn(&str) -> bool>,
) -> Result<(), Error> {
    // Without headers nothing is repeated.
    if context.headers.is_none() {
        return Ok(());
    }
    let refuse =
        |what: &str| Err(Error::new(Code::HeaderMismatch, format!("the header {shown} {what}")));
    match (context.header(name), agrees) {
        (Header::Absent, None) => Ok(()),
        (Header::Absent, Some(_)) => {
            refuse("is missing; a proxy must forward it, or derive it from the message")
        }
        (Header::Unreadable, _) => refuse("is empty, repeated, or not visible ASCII"),
        (Header::Is(_), None) => refuse("has a value that is not in the message"),
        (Header::Is(value), Some(agrees)) => match decode(value.trim_matches([' ', '\t'])) {
            None => refuse("is not valid Base64"),
            Some(value) if agrees(&value) => Ok(()),
            Some(_) => refuse("does not match the message"),
        },
    }
}

/// Returns the text of a value, which may be encoded.
fn decode(value: &str) -> Option<String> {
    let (begin, end) = ENCODED;
    let Some(encoded) = value.strip_prefix(begin).and_then(|it| it.strip_suffix(end)) else {
        return Some(value.to_owned());
    };
    String::from_utf8(STANDARD.decode(encoded).ok()?).ok()
}
