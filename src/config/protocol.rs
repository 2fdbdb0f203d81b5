//! The two settings of the Model Context Protocol itself. They have the names that its users know, and
//! `svcctl mcp` reads them without the rest.

use crate::config::source::{SettingProblem, Source};
use crate::mcp::revision::Legacy;

const MODERN: &str = "MCP_V2_EXPERIMENTAL";
const OFFERED: &str = "MCP_PROTOCOL_VERSION";
/// Edits that make one name a slip of another.
const EDITS_MAX: u8 = 2;

/// Which revisions of the protocol are spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolConfig {
    /// The modern era is spoken beside the legacy one.
    /// How that may change: `docs/decisions/43-mcp-eras.md`.
    pub modern: bool,
    /// What a client is offered that asks for an unknown revision; one of [`Legacy::offered`].
    /// Why it restricts no client: `docs/decisions/42-mcp-protocol-version.md`.
    pub offered: Legacy,
}

impl ProtocolConfig {
    /// Reads these two settings alone; returns them with what is worth a warning.
    ///
    /// # Errors
    /// Every problem with them.
    pub fn load(mut source: Source) -> Result<(Self, Vec<SettingProblem>), Vec<SettingProblem>> {
        let mut warnings = Vec::new();
        let read = read(&mut source, &mut warnings);
        read.map(|config| (config, warnings)).ok_or_else(|| source.take_problems_from(0))
    }
}

/// Reads the two settings, and warns of names that look like a slip of theirs: such a name is perhaps of
/// another program, so it is no error.
pub(super) fn read(
    source: &mut Source,
    warnings: &mut Vec<SettingProblem>,
) -> Option<ProtocolConfig> {
    let modern = source.parsed(MODERN, "true or false", |text| text.parse().ok());
    let offered: Vec<&str> = Legacy::offered().map(Legacy::as_str).collect();
    let offered = source.parsed(OFFERED, &offered.join(", "), |text| {
        Legacy::from_word(text).filter(|it| it.is_offered())
    });
    for meant in [MODERN, OFFERED] {
        let is_slip =
            |name: &&str| *name != meant && is_within(EDITS_MAX, name.as_bytes(), meant.as_bytes());
        warnings.extend(source.names().filter(is_slip).map(|name| SettingProblem {
            name: name.to_owned(),
            what: format!("it has no effect; did you mean {meant}?"),
        }));
    }
    Some(ProtocolConfig { modern: modern?, offered: offered? })
}

/// Says whether so many edits make one name of the other: a letter added, dropped, changed, or swapped with the
/// next. Takes few steps, because it gives up with the last edit.
fn is_within(edits: u8, a: &[u8], b: &[u8]) -> bool {
    let (Some((x, a_rest)), Some((y, b_rest))) = (a.split_first(), b.split_first()) else {
        // One of them is at its end, and what is left of the other was added or dropped.
        return a.len().abs_diff(b.len()) <= usize::from(edits);
    };
    if x == y {
        return is_within(edits, a_rest, b_rest);
    }
    let Some(left) = edits.checked_sub(1) else { return false };
    let is_swapped = a_rest.first() == Some(y) && b_rest.first() == Some(x);
    is_within(left, a_rest, b_rest)
        || is_within(left, a, b_rest)
        || is_within(left, a_rest, b)
        || (is_swapped
            && is_within(left, a_rest.get(1..).unwrap_or(&[]), b_rest.get(1..).unwrap_or(&[])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(variables: &[(&str, &str)]) -> Result<(ProtocolConfig, Vec<String>), Vec<String>> {
        let owned = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let shown = |problems: Vec<SettingProblem>| {
            problems.iter().map(SettingProblem::to_string).collect()
        };
        let loaded = ProtocolConfig::load(Source::of(owned));
        loaded.map(|(config, warnings)| (config, shown(warnings))).map_err(shown)
    }

    #[test]
    fn the_legacy_era_is_the_default_and_the_modern_one_is_asked_for() {
        let default = ProtocolConfig { modern: false, offered: Legacy::V2025_11_25 };
        assert_eq!(load(&[]), Ok((default, Vec::new())));
        for (text, modern) in [("true", true), ("false", false)] {
            let (config, _) = load(&[(MODERN, text)]).unwrap();
            assert_eq!(config, ProtocolConfig { modern, ..default });
        }
        for text in ["", "1", "0", "TRUE", "True", "yes", "on", " true", "2026-07-28"] {
            let problems = load(&[(MODERN, text)]).unwrap_err();
            let wanted = format!("{MODERN}: {text:?} is not allowed; use true or false");
            assert_eq!(problems, [wanted]);
        }
    }

    #[test]
    fn only_a_published_legacy_revision_is_offered() {
        for offered in Legacy::offered() {
            let (config, _) = load(&[(OFFERED, offered.as_str())]).unwrap();
            assert_eq!(config.offered, offered);
        }
        for text in ["2024-10-07", "2026-07-28", "2025-11-26", "latest", "", "2025-11-25 "] {
            let problems = load(&[(OFFERED, text)]).unwrap_err();
            let wanted = format!(
                "{OFFERED}: {text:?} is not allowed; use 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05"
            );
            assert_eq!(problems, [wanted]);
        }
        assert_eq!(load(&[(MODERN, "x"), (OFFERED, "x")]).unwrap_err().len(), 2);
    }

    #[test]
    fn a_slip_is_a_warning_with_the_right_name_and_other_names_are_not_ours() {
        for (slip, meant) in [
            ("MCP_V2_EXPERIMENTL", MODERN),
            ("MCP_V2_EXPERIMENTAL_", MODERN),
            ("MCP_V3_EXPERIMENTAL", MODERN),
            ("MCP_V2_EXPERMIENTAL", MODERN),
            ("MPC_V2_EXPERIMENTLA", MODERN),
            ("MCP_V2EXPERIMENTAL", MODERN),
            ("MCP_PROTOCOL_VERSIONS", OFFERED),
            ("MCP_PROTOCL_VERSOIN", OFFERED),
            ("CP_PROTOCOL_VERSIO", OFFERED),
        ] {
            let (config, warnings) = load(&[(slip, "true")]).unwrap();
            assert!(!config.modern, "{slip}");
            let wanted = format!("{slip}: it has no effect; did you mean {meant}?");
            assert_eq!(warnings, [wanted]);
        }
        for other in [
            "MCP",
            "MCP_",
            "MCP_SERVER_URL",
            "MCP_V2",
            "MCP_EXPERIMENTAL",
            "MCP_PROTOCOL",
            "SERVICE_V2_EXPERIMENTAL",
            "MCP_PROTOCOL_NEGOTIATION",
        ] {
            assert_eq!(load(&[(other, "x")]).unwrap().1, [""; 0], "{other}");
        }
    }
}
