//! Words that a technical writer would replace: in what operators read, and in the source.

use std::fs;

use super::documents::{collect, root};

/// Plain English has another sentence for each of them.
const WORDS: &[&str] = &["whoever", "whosever", "whomever", "nobody", "somebody", "oftener"];
/// The same for pairs, within a few words of each other.
const PAIRS: &[(&[&str], &str)] =
    &[(&["stand", "stands", "stood"], "twice"), (&["leave", "leaves", "leaving"], "away")];
/// How far apart the words of a pair are at most: `leave --idempotency-key away`.
const APART_MAX: usize = 4;
/// Stands for the end of a sentence, as a word of its own.
const END: &str = " | ";

/// What people read: documents, manual pages, help, the API's description, and the source with its comments.
/// Steps of the schema are never changed, so they are not among it.
const READ: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "Cargo.toml",
    "docs",
    "man",
    "completions",
    "packaging",
    "src",
    "benches",
    "tests/it",
    "tests/data/cli",
];

#[test]
fn words_are_those_of_a_technical_writer() {
    let mut files = Vec::new();
    for place in READ {
        collect(&root().join(place), &mut files);
    }
    assert!(files.len() > 500, "the files are read");
    files.retain(|path| !path.ends_with("tidy/english.rs"));
    let found: Vec<String> = files
        .iter()
        .filter_map(|path| Some((path, fs::read_to_string(path).ok()?)))
        .flat_map(|(path, text)| {
            odd(&text).into_iter().map(move |word| format!("{}: {word}", path.display()))
        })
        .collect();
    assert!(found.is_empty(), "say it in other words:\n{}", found.join("\n"));
}

#[test]
fn odd_words_are_found_across_lines_and_in_names() {
    assert_eq!(odd("/// Whoever asks\n/// nobody's name."), ["whoever", "nobody"]);
    assert_eq!(odd("fn it_waits_for_nobody() {} // Somebody."), ["nobody", "somebody"]);
    assert_eq!(odd("// a name stands\n    // twice"), ["stands twice"]);
    assert_eq!(odd("leave --idempotency-key away"), ["leave away"]);
    let plain =
        ["It stands there. Twice as often it leaves. Going away is fine.", "who ever", "turn away"];
    assert_eq!(plain.map(|text| odd(text).len()), [0; 3]);
}

/// One term for one thing, where operators read it: what is not said, what may follow it all the same, and what to say.
const TERMS: &[(&str, &[&str], &str)] = &[
    ("the service", &["-level", " manager"], "svcd"),
    ("the daemon", &[" of the svc control plane"], "svcd"),
    ("died again", &[], "became a dead letter again"),
    ("dies again", &[], "becomes a dead letter again"),
    ("re-run the check", &[" run"], "re-run the check run"),
    ("make a plan", &[], "write a plan"),
    ("make a new plan", &[], "write a new plan"),
    ("plan was made", &[], "plan was written"),
];

#[test]
fn operators_read_one_term_for_one_thing() {
    let mut files = Vec::new();
    for place in ["README.md", "man", "tests/data/cli"] {
        collect(&root().join(place), &mut files);
    }
    let pages = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    files.extend(pages.filter(|path| path.extension().is_some_and(|it| it == "md")));
    assert!(files.len() > 90, "the files are read");
    let mut found = Vec::new();
    for path in files {
        // Manual pages write a hyphen as `\-`.
        let text = fs::read_to_string(&path).unwrap().to_lowercase().replace("\\-", "-");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for (term, allowed, better) in TERMS {
            let is_other = |rest: &&str| !allowed.iter().any(|it| rest.starts_with(it));
            let count = text.split(term).skip(1).filter(is_other).count();
            if count > 0 {
                found.push(format!("{}: {term}, say {better}", path.display()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Returns the odd words of a text. A sentence may go on in the next line, behind what begins a comment.
fn odd(text: &str) -> Vec<String> {
    // A full stop ends a sentence, and code its statement; a pair does not go on behind either.
    let text =
        text.to_lowercase().replace(". ", END).replace(".\n", END).replace([';', '{', '}'], END);
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '|');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let mut found = Vec::new();
    for (place, word) in words.iter().enumerate() {
        found.extend(WORDS.iter().filter(|odd| *odd == word).map(|odd| (*odd).to_owned()));
        let behind = words.iter().skip(place + 1).take(APART_MAX).take_while(|word| **word != "|");
        for (first, second) in PAIRS {
            if first.contains(word) && behind.clone().any(|word| word == second) {
                found.push(format!("{word} {second}"));
            }
        }
    }
    found
}
