//! Digests that both sides compute, and the lane of an invocation.
//!
//! `tests/data/relay/vectors.json` has examples that any implementation can be held to.
//!
//! Why numbers are rounded: `docs/decisions/74-relay-digests.md`.

#[cfg(test)]
mod tests;

use serde_json::{Map, Number, Value, json};

use crate::crypto::sha256;
use crate::domain::digest::Digest;
use crate::domain::id::RelaySessionId;
use crate::domain::relay::DesignTool;
use crate::json::canonical;
use crate::relay::frame::Entry;

/// From here on a thousandfold has no decimals to round away: 2^53.
const THOUSANDFOLD_MAX: f64 = 9_007_199_254_740_992.0;

/// Returns a value with every number rounded to three decimals.
///
/// The rule, in JavaScript: `const y = x * 1000; return Math.abs(y) < 2 ** 53 ? Math.round(y) / 1000 : x`, where
/// `x` is the double that is nearest to the number. So halves go up (-0.0005 becomes 0), and whether it is a half is
/// seen from the product, which is itself rounded: 1.0005 becomes 1.001, where `toFixed(3)` gives 1.000. What was
/// rounded stays as it is when it is rounded again. Negative zero becomes zero.
#[must_use]
pub fn rounded(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(rounded_number(number)),
        Value::Array(items) => items.iter().map(rounded).collect(),
        Value::Object(members) => Value::Object(rounded_members(members)),
        other => other.clone(),
    }
}

/// Returns members with every number rounded, as [`rounded`] does.
#[must_use]
pub fn rounded_members(members: &Map<String, Value>) -> Map<String, Value> {
    members.iter().map(|(name, value)| (name.clone(), rounded(value))).collect()
}

fn rounded_number(number: &Number) -> Number {
    // Every number of JSON that was read is a finite double.
    let Some(double) = number.as_f64() else { return number.clone() };
    let rounded = round(double);
    // Counts stay integers, so that `3.0` and `3` are one.
    let whole = || format!("{rounded:.0}").parse::<i64>().ok().map(Number::from);
    let is_whole = rounded.fract() == 0.0 && rounded.abs() < THOUSANDFOLD_MAX;
    let whole = if is_whole { whole() } else { None };
    whole.or_else(|| Number::from_f64(rounded)).unwrap_or_else(|| number.clone())
}

fn round(x: f64) -> f64 {
    let thousandfold = x * 1000.0;
    if thousandfold.abs() >= THOUSANDFOLD_MAX {
        return x;
    }
    // `Math.round`: the difference is exact, where adding a half first would not be.
    let floor = thousandfold.floor();
    let nearest = if thousandfold - floor >= 0.5 { floor + 1.0 } else { floor };
    nearest / 1000.0
}

/// Returns what the digest of an invocation is made over: the canonical form of action, rounded arguments and a
/// version.
#[must_use]
pub fn arguments_text(action: &str, arguments: &Map<String, Value>) -> Vec<u8> {
    // What was rounded stays as it is, so callers need not know whether it was.
    let arguments = rounded_members(arguments);
    canonical(&json!({"action": action, "arguments": arguments, "v": 1}))
}

/// Returns `argumentsSha256` of an invocation.
#[must_use]
pub fn arguments(action: &str, arguments: &Map<String, Value>) -> Digest {
    sha256::of(&arguments_text(action, arguments))
}

/// Returns the digest of a `hello`: of its canonical form, with `type`. `None` when the text is no JSON.
///
/// It is made from the text that was sent and not from what was understood of it.
#[must_use]
pub fn hello(text: &str) -> Option<Digest> {
    let frame: Value = serde_json::from_str(text).ok()?;
    Some(sha256::of(&canonical(&frame)))
}

/// Returns the digest of a journal: of the canonical form of the array.
#[must_use]
pub fn journal(entries: &[Entry]) -> Digest {
    let entry = |entry: &Entry| json!({"grant": entry.grant, "outcome": entry.outcome});
    sha256::of(&canonical(&entries.iter().map(entry).collect()))
}

/// Where invocations are carried out one after another.
#[derive(Clone, Copy)]
pub enum Lane<'a> {
    /// A file of a subject. Two tabs with one file are one lane; two subjects never share one.
    File {
        /// The issuer of the subject's tokens.
        issuer: &'a str,
        /// Their `sub`.
        subject: &'a str,
        tool: DesignTool,
        /// What the tool calls the file.
        file: &'a str,
    },
    /// A session whose tool does not say which file is open.
    Session(RelaySessionId),
}

impl Lane<'_> {
    /// Returns the digest by which the store knows a lane.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let lane = match self {
            Self::File { issuer, subject, tool, file } => {
                json!({"file": file, "issuer": issuer, "subject": subject, "tool": tool, "v": 1})
            }
            Self::Session(session) => json!({"session": session, "v": 1}),
        };
        sha256::of(&canonical(&lane))
    }
}
