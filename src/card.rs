//! Agent cards: bytes in, a report out. Pure: nothing here knows files, sockets, time or JSON values.
//!
//! A card is valid when it matches the current or the legacy variant, exactly. `shape` is the one
//! table of what both consist of; everything else is driven by it. A card is first read once, without
//! building anything, by `fast_path`, which knows only valid cards. Whatever it does not know is read
//! again slowly: `syntax` says whether it is JSON at all and finds repeated keys, `diagnose`
//! compares it with the variant its author meant. So a valid card costs one pass, and what is wrong
//! with another is said in words, at its line and column. The JSON Schemas in `schema` are the same
//! rules written down a second time, on purpose: tests hold the two to one verdict.
//!
//! Why there are two readers, and both our own: `docs/decisions/57-card-two-passes.md`.

mod code;
mod convert;
mod date_time;
mod diagnose;
mod dialect;
mod fast_path;
mod finding;
mod fix;
mod json_writer;
mod known_aliases;
mod ndjson;
mod node;
mod position;
mod scan;
mod schema;
mod shape;
mod signed;
mod spelling;
mod syntax;
mod uri;

pub use code::FindingCode;
pub use convert::{Conversion, Loss, convert};
pub use dialect::{Dialect, Evidence, dialect};
pub use finding::{Change, Edit, Finding};
pub use fix::{Fixed, fix};
pub use ndjson::lines;
pub use position::Position;
pub use schema::schema;
pub use shape::Variant;
pub use signed::{Declared, Valid};

/// Most findings one report holds; what comes after the first of them is rarely news.
pub const FINDINGS_MAX: usize = 100;

/// Most bytes of one card that anybody reads, unless told otherwise.
pub const BYTES_MAX: usize = 16 * 1024 * 1024;
/// Most cards that are checked in one request.
pub const BATCH_MAX: usize = 10_000;

/// What is to be said about one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationReport {
    /// The variant it is, or was compared with; none when it is not a JSON object.
    pub variant: Option<Variant>,
    /// What is wrong, by place; empty when the card is valid.
    pub findings: Vec<Finding>,
    /// There was more than [`FINDINGS_MAX`].
    pub truncated: bool,
}

impl ValidationReport {
    /// Returns whether the card is valid.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.findings.is_empty()
    }

    /// Returns whether the text is JSON, whatever it says.
    #[must_use]
    pub fn is_json(&self) -> bool {
        let is_other = |finding: &Finding| finding.code == FindingCode::NotAnObject;
        self.variant.is_some() || self.findings.iter().any(is_other)
    }

    /// Returns the report about a text that is longer than its reader takes.
    #[must_use]
    pub fn too_large(bytes_max: u64) -> Self {
        let finding = finding::FindingBuilder::new(FindingCode::TooLarge, 0, 0)
            .message("the card exceeds the size limit")
            .allowed(format!("at most {bytes_max} bytes"));
        Self::new(None, "", vec![finding])
    }

    /// Sorts findings by their places, and keeps the first of them.
    fn new(
        variant: Option<Variant>,
        text: &str,
        mut builders: Vec<finding::FindingBuilder>,
    ) -> Self {
        // Sorted before it is cut, so that the first faults of the text stay. Stable: those at one place keep their
        // order.
        builders.sort_by_key(finding::FindingBuilder::offset);
        let truncated = builders.len() > FINDINGS_MAX;
        builders.truncate(FINDINGS_MAX);
        let mut reader = position::Reader::new(text);
        let findings = builders.into_iter().map(|builder| builder.finish(&mut reader)).collect();
        Self { variant, findings, truncated }
    }
}

/// Returns the version a card names, when that is a known one.
#[must_use]
pub fn protocol_version(card: &[u8]) -> Option<&'static str> {
    let root = node::Node::root(std::str::from_utf8(card).ok()?, 0);
    let named = root.get("protocolVersion").and_then(node::Node::text)?;
    let known = Variant::ALL.iter().copied().flat_map(Variant::versions);
    known.copied().find(|version| *version == named)
}

/// Checks one text.
#[must_use]
pub fn check(bytes: &[u8]) -> ValidationReport {
    match fast_path::known_valid(bytes) {
        Some(variant) => {
            ValidationReport { variant: Some(variant), findings: Vec::new(), truncated: false }
        }
        None => diagnose::report(bytes),
    }
}
