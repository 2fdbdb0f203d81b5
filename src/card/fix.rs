//! A card with the exact suggestions of its report carried out. Everything else stays as it stands, byte for
//! byte.

use super::finding::{Edit, Finding};
use super::{ValidationReport, check};

/// Most times that edits are carried out: they may uncover further findings, and a report holds only so many.
const ROUNDS_MAX: usize = 20;

/// What became of a card.
#[derive(Clone, Debug)]
pub struct Fixed {
    /// The text after the edits.
    pub text: String,
    /// How many edits there were.
    pub edits: usize,
    /// What is to be said of the text after them.
    pub report: ValidationReport,
}

/// Carries out the edits of a card's findings, and those of the findings that this uncovers; `None` if there are
/// none, or if the card is not UTF-8.
#[must_use]
pub fn fix(card: &[u8]) -> Option<Fixed> {
    let text = std::str::from_utf8(card).ok()?.to_owned();
    let mut fixed = Fixed { text, edits: 0, report: check(card) };
    for _ in 0..ROUNDS_MAX {
        let Some((text, edits)) = edited(&fixed.text, &fixed.report.findings) else { break };
        fixed = Fixed { report: check(text.as_bytes()), edits: fixed.edits + edits, text };
    }
    (fixed.edits > 0).then_some(fixed)
}

/// Returns a text after the edits of its findings, and their number; `None` if there are none. Of two that
/// overlap, the first is carried out: the other is about a text that is gone by then.
fn edited(text: &str, findings: &[Finding]) -> Option<(String, usize)> {
    let mut edits: Vec<&Edit> =
        findings.iter().filter_map(|finding| finding.edit.as_ref()).collect();
    // Findings are in the order of their places, which is not always that of their edits.
    edits.sort_by_key(|edit| edit.offset);
    let (mut new, mut at, mut count) = (String::with_capacity(text.len()), 0, 0);
    for edit in edits {
        let end = edit.offset.saturating_add(edit.length);
        // Both parts exist only if the edit begins behind the last one and ends in the text.
        if let (Some(before), Some(_)) = (text.get(at..edit.offset), text.get(edit.offset..end)) {
            new.push_str(before);
            new.push_str(&edit.text);
            at = end;
            count += 1;
        }
    }
    new.push_str(text.get(at..).unwrap_or_default());
    (count > 0).then_some((new, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::code::FindingCode;
    use crate::card::finding::FindingBuilder;
    use crate::card::position::Reader;

    fn finding(offset: usize, length: usize, text: &str) -> Finding {
        let builder = FindingBuilder::new(FindingCode::WrongType, offset, length);
        builder.write(offset..offset + length, text.to_owned()).finish(&mut Reader::new(""))
    }

    #[test]
    fn of_edits_that_overlap_one_is_carried_out() {
        let edited = |findings: &[Finding]| edited("abcdef", findings);
        let (first, over, beside) = (finding(1, 2, "X"), finding(2, 2, "Y"), finding(3, 1, "Z"));
        assert_eq!(edited(&[first.clone(), beside]), Some(("aXZef".to_owned(), 2)));
        assert_eq!(edited(&[over.clone(), first]), Some(("aXdef".to_owned(), 1)));
        assert_eq!(edited(&[over, finding(5, 2, "Z")]), Some(("abYef".to_owned(), 1)));
        assert_eq!(edited(&[]), None);
    }

    #[test]
    fn what_leaves_nothing_to_decide_is_written_and_the_rest_stays() {
        let card = "\u{feff}{ \"iconUrl\": null,\t\"modelHints\" : null,\r\n  \"protocolVersion\":\t1, \
            \"Name\":\"n\",\n\"description\" : [ \"d\" ],\n \"documentation_url\": null, \"url\": \
            \"a:\\u00fc b\" , \"version\": 1.50,\"defaultInputMode\" :\n \"text/plain\", \"skills\": \
            [{\"id\":7,\"name\":\"n\",\"description\":\"d\",\"tag\":\"x\"}], \"security\": null }\n";
        let expected = "{ \"protocolVersion\":\t\"1.0\", \
            \"name\":\"n\",\n\"description\" : \"d\", \"url\": \
            \"a:%C3%BC%20b\" , \"version\": \"1.50\",\"defaultInputModes\" :\n [\"text/plain\"], \"skills\": \
            [{\"id\":\"7\",\"name\":\"n\",\"description\":\"d\",\"tags\":[\"x\"]}] }\n";
        let fixed = fix(card.as_bytes()).unwrap();
        assert_eq!(fixed.text, expected);
        assert!(fixed.report.is_valid(), "{fixed:?}");
        assert!(fix(fixed.text.as_bytes()).is_none());
    }

    #[test]
    fn what_is_to_be_decided_is_left() {
        for member in [
            r#""name":"n","Name":"m""#,
            r#""name":"n","skils":[],"skillls":[]"#,
            r#""name":"n","name":"n""#,
            r#""name":"n","iconUrl":null,"iconUrl":"a:c""#,
            r#""name":"n","iconUrl":"a:c d","\u0069conUrl":"a:e""#,
            r#""name":null"#,
            r#""name":"n","security":[{"a":null}]"#,
            r#""name":"n","transport":"https""#,
            r#""name":"n","iconUrl":"a.example""#,
            r#""name":"n","unheardOf":1"#,
            r#""name":"n","authentication":[],"securitySchemes":[]"#,
            r#""name":"n","defaultInputMode":7"#,
            r#""name":"n","iconUrl":7"#,
            r#""name":"n","signedAt":1795251600"#,
            r#""name":"n","transport":7"#,
            r#""name":"n","iconUrl":"a:/{id}""#,
            r#""name":"n","iconUrl":"a:/x|y z""#,
            r#""name":"n","iconUrl":"a:\\\\x""#,
            r#""name":"n","iconUrl":"a:/<x>^\"""#,
            r#""name":"n","iconUrl":"a:/x\n""#,
            r#""name":"n","iconUrl":"a:/x\u0085""#,
        ] {
            let card = format!(
                r#"{{"protocolVersion":"1.0","description":"d","url":"a:b","version":"1",{member}}}"#
            );
            let fixed = fix(card.as_bytes());
            assert!(!check(card.as_bytes()).is_valid() && fixed.is_none(), "{card}: {fixed:?}");
        }
    }

    #[test]
    fn only_the_usual_spellings_of_a_version_are_written() {
        for (version, suggestion, is_written) in [
            ("1", "1.0", true),
            ("v1.0", "1.0", true),
            ("1.2.7", "1.2", true),
            ("1.2.9.9", "1.2", false),
            ("vvv1", "1.0", false),
            ("vV1.2", "1.2", false),
            ("1.9", "1.0", false),
        ] {
            let card = format!(
                r#"{{"protocolVersion":"{version}","name":"n","description":"d","url":"a:b","version":"1"}}"#
            );
            let report = check(card.as_bytes());
            let suggested = report.findings.first().and_then(|found| found.suggestion.clone());
            assert_eq!(suggested, Some(format!("write \"{suggestion}\"")), "{version}");
            assert_eq!(fix(card.as_bytes()).is_some(), is_written, "{version}");
        }
    }

    #[test]
    fn what_must_be_a_certain_string_is_not_a_number_in_quotes() {
        for (member, suggestion) in [
            (r#""protocolVersion":1"#, Some(r#"write "1.0""#)),
            (r#""protocolVersion":"1.0","transport":1"#, None),
            (r#""protocolVersion":"1.0","iconUrl":true"#, None),
            (r#""protocolVersion":"1.0","signedAt":1795251600"#, None),
        ] {
            let card =
                format!(r#"{{{member},"name":"n","description":"d","url":"a:b","version":"1"}}"#);
            let report = check(card.as_bytes());
            let [finding] = report.findings.as_slice() else { panic!("{report:?}") };
            assert_eq!(finding.suggestion.as_deref(), suggestion, "{member}");
            assert_ne!(finding.allowed.as_deref(), Some("a string"), "{member}");
        }
    }
}
