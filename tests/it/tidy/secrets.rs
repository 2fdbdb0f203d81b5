//! How secrets are compared: in constant time, in the few files that compare any.

use super::{Source, sources};

/// A file that compares a secret, or a value made with one.
struct Comparison {
    /// Path below `src`.
    file: &'static str,
    /// What it compares with. `ring` verifies a MAC, and the tag of AES-GCM, in constant time.
    with: &'static str,
    /// What both sides are called there.
    operands: &'static [&'static str],
}

const COMPARISONS: &[Comparison] = &[
    Comparison { file: "auth/operator.rs", with: ".ct_eq(", operands: &["token", "expected"] },
    Comparison { file: "auth/workload.rs", with: ".ct_eq(", operands: &["audience", "nonce"] },
    Comparison {
        file: "auth/shared_secret.rs",
        with: "hmac::verify(",
        operands: &["mac", "message"],
    },
    Comparison { file: "crypto/aead.rs", with: ".open_in_place(", operands: &["sealed", "data"] },
    Comparison { file: "forge/signature.rs", with: "hmac::verify(", operands: &["tag", "body"] },
];

/// Comparisons that stop at the first difference.
const OTHERS: &[&str] = &["==", "!=", ".eq(", ".ne(", ".cmp(", ".starts_with(", ".strip_prefix("];

fn source(file: &str) -> Source {
    let found = sources().into_iter().find(|source| source.name == file);
    found.unwrap_or_else(|| panic!("{file} is gone; name here where its secrets are compared now"))
}

#[test]
fn secrets_are_compared_in_constant_time() {
    for Comparison { file, with, .. } in COMPARISONS {
        assert!(source(file).code.contains(with), "{file} compares without {with}");
    }
}

#[test]
fn secrets_are_compared_in_no_other_way() {
    for Comparison { file, operands, .. } in COMPARISONS {
        for line in source(file).code.lines() {
            // A length is no secret.
            let line = line.replace("token.len() == expected.len()", "");
            let other = OTHERS.iter().find(|other| line.contains(**other));
            let operand =
                operands.iter().find(|operand| words(&line).any(|word| word == **operand));
            assert!(other.is_none() || operand.is_none(), "{file}: {}", line.trim());
        }
    }
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
}
