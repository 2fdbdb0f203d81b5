//! Where each leaf of a converted card must be. A leaf is a scalar, an empty list or an empty object.

use serde_json::Value;
use svc::card::Variant;

/// How the value of a renamed leaf compares with that of the old card.
#[derive(Clone, Copy)]
enum How {
    /// Unchanged.
    Same,
    /// The version of the whole card, a number, which becomes one of the new variant.
    Card,
    /// A version without its patch number.
    Version,
    /// Another spelling of one word: the case of `Bearer`, and `GRPC` for `gRPC`.
    Word,
    /// An empty container, which may have another form or be joined with another.
    Empty,
}

use How::{Card, Empty, Same, Version, Word};

/// The renames: pattern in the old card, pattern in the new one. `*` is any position of a list. `{x}` is
/// any name or position, which is the same in both patterns; `[x]` is the item with that `id`. What is inside
/// a value that is the same goes with it.
const RENAMES: [(&str, &str, How); 34] = [
    ("/protocolVersion", "/protocolVersion", Card),
    ("/preferredTransport", "/protocolBinding", Same),
    ("/provider/organization", "/provider/name", Same),
    ("/supportsAuthenticatedExtendedCard", "/capabilities/extendedAgentCard", Same),
    ("/capabilities", "/capabilities", Empty),
    ("/capabilities/extensions", "/extensions", Empty),
    ("/capabilities/extensions", "/extensions", Same),
    ("/capabilities/extensions/*", "/extensions/*", Same),
    ("/extensions", "/extensions", Empty),
    ("/extensions/*", "/extensions/*", Same),
    ("/defaultInputMode", "/defaultInputModes/0", Same),
    ("/defaultOutputMode", "/defaultOutputModes/0", Same),
    ("/defaultInputModes/0", "/defaultInputMode", Same),
    ("/defaultOutputModes/0", "/defaultOutputMode", Same),
    ("/defaultInputModes", "/defaultInputMode", Same),
    ("/defaultOutputModes", "/defaultOutputMode", Same),
    ("/supportedInterfaces", "/supportedInterfaces", Empty),
    ("/supportedInterfaces", "/supportedInterfaces", Same),
    ("/supportedInterfaces/*", "/supportedInterfaces/*", Same),
    ("/supportedInterfaces/*/protocolBinding", "/supportedInterfaces/*/protocolBinding", Word),
    ("/supportedInterfaces/*/transport", "/supportedInterfaces/*/protocolBinding", Word),
    ("/supportedInterfaces/*/protocolVersion", "/supportedInterfaces/*/protocolVersion", Version),
    ("/{schemes}", "/SCHEMES", Empty),
    ("/{schemes}", "/SCHEMES", Same),
    ("/{schemes}/*", "/SCHEMES/*", Same),
    ("/{schemes}/{k}/{f}", "/SCHEMES/[k]/{f}", Same),
    ("/{schemes}/{k}/scheme", "/SCHEMES/[k]/scheme", Word),
    ("/{schemes}/{k}/location", "/SCHEMES/[k]/in", Same),
    ("/securityRequirements", "/security", Empty),
    ("/securityRequirements", "/security", Same),
    ("/securityRequirements/{i}", "/security/{i}", Same),
    ("/securityRequirements/{i}/schemes", "/security/{i}", Same),
    ("/securityRequirements/{i}/schemes/{k}", "/security/{i}/{k}", Empty),
    ("/securityRequirements/{i}/schemes/{k}/list", "/security/{i}/{k}", Same),
];

/// Returns the leaves of a card that are nowhere.
pub(super) fn missing(card: &Value, made: &Value, to: Variant, lost: &[&str]) -> Vec<String> {
    let mut leaves = Vec::new();
    collect(card, &mut Vec::new(), &mut leaves);
    let is_missing = |(path, value): &(Vec<String>, &Value)| {
        let pointer: String = path.iter().map(|step| format!("/{}", escaped(step))).collect();
        let is_lost = lost.iter().any(|lost| {
            pointer.strip_prefix(lost).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        !is_lost && !is_kept(path, value, made, to)
    };
    leaves.iter().filter(|leaf| is_missing(leaf)).map(|(path, _)| path.join("/")).collect()
}

fn escaped(step: &str) -> String {
    step.replace('~', "~0").replace('/', "~1")
}

fn collect<'a>(
    value: &'a Value,
    path: &mut Vec<String>,
    leaves: &mut Vec<(Vec<String>, &'a Value)>,
) {
    let parts: Vec<(String, &Value)> = match value {
        Value::Object(members) => {
            // A member that is null is absent, except in what is required of callers.
            let is_there = |value: &Value| {
                !value.is_null() || path.first().is_some_and(|name| name == "security")
            };
            members
                .iter()
                .filter(|(_, value)| is_there(value))
                .map(|(name, value)| (name.clone(), value))
                .collect()
        }
        Value::Array(items) => {
            items.iter().enumerate().map(|(number, item)| (number.to_string(), item)).collect()
        }
        _ => Vec::new(),
    };
    // An object of nothing but nulls is not empty: nothing of it can be lost.
    if parts.is_empty() && value.as_object().is_none_or(serde_json::Map::is_empty) {
        leaves.push((path.clone(), value));
    }
    for (step, part) in parts {
        path.push(step);
        collect(part, path, leaves);
        path.pop();
    }
}

fn is_kept(path: &[String], value: &Value, made: &Value, to: Variant) -> bool {
    let itself: Vec<String> = path.iter().map(|step| format!("={step}")).collect();
    let itself: Vec<&str> = itself.iter().map(String::as_str).collect();
    if found(made, &itself, &[]).contains(&value) {
        return true;
    }
    // The first address of an official card of 1.x is that of the whole card.
    if matches!(path, [list, _, url] if fold(list) == "supportedinterfaces" && fold(url) == "url")
        && made.get("url") == Some(value)
    {
        return true;
    }
    let mut path = path.to_vec();
    if fold(&path[0]) == "additionalinterfaces" {
        path[0] = "supportedInterfaces".to_owned();
    }
    // The wrapper of a scheme becomes its type.
    if path.len() >= 4
        && fold(&path[0]) == "securityschemes"
        && fold(&path[2]).ends_with("securityscheme")
    {
        path.remove(2);
    }
    RENAMES.iter().any(|(from, into, how)| {
        let from: Vec<&str> = from.split('/').skip(1).collect();
        let Some(names) = matched(&from, &path) else { return false };
        let schemes = if to == Variant::Current { "securitySchemes" } else { "authentication" };
        let into: Vec<&str> = into
            .split('/')
            .skip(1)
            .map(|step| if step == "SCHEMES" { schemes } else { step })
            .collect();
        // Only a value that is the same can be followed into its parts.
        let rest = itself.get(itself.len() - (path.len() - from.len())..).unwrap_or_default();
        if !rest.is_empty() && !matches!(how, Same) {
            return false;
        }
        let into = [&into, rest].concat();
        found(made, &into, &names).into_iter().any(|new| is_same(*how, value, new))
    })
}

fn is_same(how: How, old: &Value, new: &Value) -> bool {
    let words = || Some((old.as_str()?, new.as_str()?));
    match how {
        Same => old == new,
        Word => words().is_some_and(|(old, new)| old.eq_ignore_ascii_case(new)),
        Card => {
            old.as_str().is_some_and(|old| !old.contains(char::is_alphabetic))
                && ["0.3", "1.0", "1.2"].iter().any(|version| new == version)
        }
        Version => words().is_some_and(|(old, new)| {
            old.strip_prefix(new).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        }),
        Empty => new.is_array() || (old.is_object() && new.is_object()),
    }
}

/// Compares the beginning of a path with a pattern, and returns what stands for the names in braces.
fn matched<'p>(pattern: &[&'p str], path: &[String]) -> Option<Vec<(&'p str, String)>> {
    let mut names = Vec::new();
    for (wanted, step) in pattern.iter().zip(path) {
        match wanted.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            Some("schemes")
                if ["securityschemes", "authentication"].contains(&fold(step).as_str()) => {}
            Some("schemes") => return None,
            Some(name) => names.push((name, step.clone())),
            None if *wanted == "*" && step.parse::<usize>().is_ok() => {}
            None if fold(wanted) == fold(step) => {}
            None => return None,
        }
    }
    (pattern.len() <= path.len()).then_some(names)
}

/// Returns all that stands where a pattern leads.
fn found<'v>(value: &'v Value, pattern: &[&str], names: &[(&str, String)]) -> Vec<&'v Value> {
    let Some((step, rest)) = pattern.split_first() else { return vec![value] };
    let named = |bracket: &[char; 2]| {
        let name = step.strip_prefix(bracket[0])?.strip_suffix(bracket[1])?;
        names.iter().find(|(other, _)| *other == name).map(|(_, step)| step.as_str())
    };
    let parts: Vec<&Value> = match value {
        Value::Array(items) => match named(&['[', ']']) {
            Some(id) => items.iter().filter(|item| item["id"] == id).collect(),
            None if *step == "*" => items.iter().collect(),
            None => {
                let number = named(&['{', '}']).unwrap_or(step).trim_start_matches('=');
                number
                    .parse()
                    .ok()
                    .and_then(|number: usize| items.get(number))
                    .into_iter()
                    .collect()
            }
        },
        Value::Object(members) => {
            let name = named(&['{', '}']).unwrap_or(step).trim_start_matches('=');
            // Another spelling of the name counts, but one that is exact comes first.
            let exact = members.get(name);
            let other =
                members.iter().find(|(other, _)| fold(other) == fold(name)).map(|(_, value)| value);
            exact.or(other).into_iter().collect()
        }
        _ => Vec::new(),
    };
    parts.into_iter().flat_map(|part| found(part, rest, names)).collect()
}

/// Returns the letters of a name, by which spellings are compared.
fn fold(name: &str) -> String {
    name.chars().filter(|char| !"_- ".contains(*char)).collect::<String>().to_ascii_lowercase()
}
