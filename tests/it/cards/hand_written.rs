//! The cards of `tests/data/cards`, with what was expected before there was a checker. `list.txt` has
//! every case with the text of its findings: `UPDATE=1 cargo test --test it cards` writes it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use svc::card::{self, ValidationReport};

/// One line of a file.
pub(crate) struct Case {
    /// `file:line`.
    pub(crate) name: String,
    /// Heading it stands under; empty when that is no row of a table.
    row: String,
    expected: String,
    pub(crate) text: Vec<u8>,
    /// Line and column of each mark.
    marks: Vec<(u64, u64)>,
}

#[test]
fn every_case_is_decided_and_told_as_expected() {
    let mut wrong = String::new();
    for case in cases() {
        let (expected, said) = (expectation(&case), told(&card::check(&case.text)));
        if said != expected {
            writeln!(wrong, "{}\n  expected {expected}\n  said     {said}", case.name).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn there_are_enough_and_every_row_has_both_kinds() {
    let mut rows: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let cases = cases();
    assert!(cases.len() >= 300, "{}", cases.len());
    for case in &cases {
        let (valid, invalid) = rows.entry(case.row.clone()).or_default();
        *(if case.expected.starts_with("card/") { invalid } else { valid }) += 1;
    }
    rows.remove("");
    for row in ROWS.lines().flat_map(of_one_table) {
        let (valid, invalid) = rows.remove(&row).unwrap_or_default();
        assert!(valid > 0 && invalid > 0, "{row}: {valid} valid, {invalid} invalid");
    }
    assert!(rows.is_empty(), "not in the tables: {rows:?}");
}

#[test]
fn the_list_is_fresh() {
    let mut list = String::from("# Generated: every case, its verdict, and what is said of it.\n");
    for case in cases() {
        let report = card::check(&case.text);
        let variant = report.variant.map_or("no card", card::Variant::as_str);
        let verdict = if report.is_valid() { "valid" } else { "invalid" };
        writeln!(list, "\n{} {verdict}, {variant}", case.name).unwrap();
        for finding in &report.findings {
            let place = finding.place;
            writeln!(list, "  {}:{} {}", place.line, place.column, finding.code.as_str()).unwrap();
            writeln!(list, "    {:?} {}", finding.pointer, finding.message).unwrap();
            for (name, text) in [
                ("found", &finding.found),
                ("allowed", &finding.allowed),
                ("suggestion", &finding.suggestion),
            ] {
                if let Some(text) = text {
                    writeln!(list, "    {name}: {}", text.escape_debug()).unwrap();
                }
            }
            if let Some(edit) = &finding.edit {
                let (offset, length) = (edit.offset, edit.length);
                writeln!(list, "    edit: {length} bytes at {offset}, {:?}", edit.text).unwrap();
            }
        }
    }
    let file = folder().join("list.txt");
    if crate::generated::is_update() {
        std::fs::write(&file, &list).unwrap();
    }
    assert!(std::fs::read_to_string(file).unwrap_or_default() == list, "run with UPDATE=1");
}

/// The rows of the specification's tables, typed by hand.
const ROWS: &str = "\
current: protocolVersion name description url version capabilities defaultInputModes defaultOutputModes documentationUrl iconUrl modelHints protocolBinding transport provider extensions security securitySchemes signatures signedAt skills supportedInterfaces
legacy: protocolVersion name description version url authentication capabilities defaultInputMode defaultOutputMode iconUrl provider skills supportsAuthenticatedExtendedCard
skill: id name description examples inputModes outputModes tags
scheme: type apiKey http openIdConnect";

fn of_one_table(line: &str) -> Vec<String> {
    let (table, rows) = line.split_once(": ").unwrap();
    rows.split(' ').map(|row| format!("{table} / {row}")).collect()
}

/// What was found, in the words of the files, each with its line and column.
fn told(report: &ValidationReport) -> String {
    if report.is_valid() {
        return report.variant.unwrap().as_str().to_owned();
    }
    let each = report.findings.iter().map(|finding| {
        let place = finding.place;
        let (code, pointer) = (finding.code.as_str(), &finding.pointer);
        format!("{code} {pointer} {}:{}", place.line, place.column)
    });
    each.collect::<Vec<_>>().join("; ")
}

fn expectation(case: &Case) -> String {
    if !case.expected.starts_with("card/") {
        return case.expected.clone();
    }
    let findings: Vec<&str> = case.expected.split(';').map(str::trim).collect();
    assert_eq!(findings.len(), case.marks.len(), "{}: marks", case.name);
    let each = findings.iter().zip(&case.marks).map(|(finding, (line, column))| {
        let (code, pointer) = finding.split_once(' ').unwrap_or((finding, ""));
        format!("{code} {pointer} {line}:{column}")
    });
    each.collect::<Vec<_>>().join("; ")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cards")
}

/// Reads every case of every file.
pub(crate) fn cases() -> Vec<Case> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| {
        let name = file.file_name().unwrap().to_string_lossy();
        name.ends_with(".txt") && name != "list.txt"
    });
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let mut row = String::new();
        for (number, line) in std::fs::read_to_string(&file).unwrap().lines().enumerate() {
            if let Some(heading) = line.strip_prefix("## ") {
                heading.clone_into(&mut row);
            } else if let Some((expected, text)) = line.split_once(" => ") {
                let (text, marks) = unfold(text);
                let (name, row) = (format!("{name}:{}", number + 1), row.clone());
                cases.push(Case { name, row, expected: expected.trim().to_owned(), text, marks });
            }
        }
    }
    cases
}

const TOKENS: [(&str, &str); 10] = [
    ("$C", "{$P,$N,$D,$U,$V,"),
    ("$L", "{$3,$N,$D,$U,$V,"),
    ("$P", r#""protocolVersion":"1.0""#),
    ("$3", r#""protocolVersion":"0.3""#),
    ("$N", r#""name":"n""#),
    ("$D", r#""description":"d""#),
    ("$U", r#""url":"https://a.example/""#),
    ("$V", r#""version":"1""#),
    ("⏎", "\n"),
    ("⇥", "\t"),
];

/// Resolves what the files abbreviate, and counts out the marks.
fn unfold(text: &str) -> (Vec<u8>, Vec<(u64, u64)>) {
    let mut text = text.to_owned();
    for (token, stands_for) in TOKENS {
        text = text.replace(token, stands_for);
    }
    let (mut bytes, mut marks, mut at) = (Vec::new(), Vec::new(), (1, 1));
    let mut rest = text.as_str();
    while let Some(char) = rest.chars().next() {
        let (taken, length) = match char {
            '»' => {
                marks.push(at);
                rest = rest.get(char.len_utf8()..).unwrap();
                continue;
            }
            '$' if rest.starts_with("$x{") => of_bytes(rest),
            '$' if rest.starts_with("$r{") => repeated(rest),
            _ => (char.to_string().into_bytes(), char.len_utf8()),
        };
        for shown in String::from_utf8_lossy(&taken).chars() {
            at = if shown == '\n' { (at.0 + 1, 1) } else { (at.0, at.1 + 1) };
        }
        bytes.extend(taken);
        rest = rest.get(length..).unwrap();
    }
    (bytes, marks)
}

fn of_bytes(text: &str) -> (Vec<u8>, usize) {
    let end = text.find('}').unwrap();
    let bytes =
        text.get(3..end).unwrap().split(' ').map(|hex| u8::from_str_radix(hex, 16).unwrap());
    (bytes.collect(), end + 1)
}

fn repeated(text: &str) -> (Vec<u8>, usize) {
    let (unit, rest) = text.get(3..).unwrap().split_once('*').unwrap();
    let (count, _) = rest.split_once('}').unwrap();
    let length = "$r{*}".len() + unit.len() + count.len();
    (unit.repeat(count.parse().unwrap()).into_bytes(), length)
}
