//! Near misses: which known word was probably meant. Case, underscores and hyphens do not count, nor
//! do two slips of the keyboard in a word long enough for them.

use std::cmp::Reverse;

/// Longer words are not taken for slips.
const LENGTH_MAX: usize = 48;

/// Shorter known words are found by their letters only.
const LENGTH_MIN: usize = 4;

/// What is written in other places for the same thing.
const ALIASES: [(&str, &str); 4] = [
    ("alg", "algorithm"),
    ("kid", "keyId"),
    ("binding", "protocolBinding"),
    ("docs", "documentationUrl"),
];

/// Returns the known word that is nearest to another, if one is near.
pub(super) fn nearest(
    word: &str,
    known: impl IntoIterator<Item = &'static str>,
) -> Option<&'static str> {
    if word.len() > LENGTH_MAX {
        return None;
    }
    let alias = ALIASES.iter().find(|(other, _)| *other == word).map(|(_, meant)| *meant);
    let mut best = None;
    for candidate in known {
        if is_same(candidate, word) || alias == Some(candidate) {
            return Some(candidate);
        }
        let slips = distance(word, candidate);
        let is_near =
            // Two slips need five letters: in a word of four they would be half of it.
            candidate.len() >= LENGTH_MIN && slips <= 2 && slips * 3 <= candidate.len() + 1;
        if is_near && best.is_none_or(|(least, _)| slips < least) {
            best = Some((slips, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Returns the known words that share most with another, the nearest first, for a person to choose from.
pub(super) fn most_similar(
    word: &str,
    known: impl IntoIterator<Item = &'static str>,
    count: usize,
) -> Vec<&'static str> {
    let letters: Vec<u8> = fold(word).take(LENGTH_MAX).collect();
    let mut known: Vec<_> = known.into_iter().collect();
    // Without a pair there is nothing to compare, and a card can have many such names.
    if letters.len() > 1 {
        // Stable, so that words that share as much keep their order.
        known.sort_by_cached_key(|candidate| Reverse(shared_pairs(&letters, candidate.as_bytes())));
    }
    known.truncate(count);
    known
}

/// Returns how much of two words is pairs of neighbouring letters that are in both, in thousandths.
fn shared_pairs(word: &[u8], candidate: &[u8]) -> usize {
    let is_shared =
        |pair: &&[u8]| candidate.windows(2).any(|other| other.eq_ignore_ascii_case(pair));
    let shared = word.windows(2).filter(is_shared).count();
    2_000 * shared / (word.len() + candidate.len()).max(1)
}

/// Says whether two words have the same letters.
pub(super) fn is_same(word: &str, other: &str) -> bool {
    fold(word).eq(fold(other))
}

/// Returns the letters that count.
fn fold(word: &str) -> impl Iterator<Item = u8> {
    let kept = word.bytes().filter(|byte| !matches!(byte, b'_' | b'-' | b' '));
    kept.map(|byte| byte.to_ascii_lowercase())
}

/// Counts the letters to add, drop, change or swap with their neighbours.
fn distance(a: &str, b: &str) -> usize {
    if a.len().abs_diff(b.len()) > 2 || !a.is_ascii() {
        // Larger than any distance, and still safe to add to.
        return usize::MAX / 8;
    }
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let at = |line: &[usize], place: usize| line.get(place).copied().unwrap_or(usize::MAX / 8);
    // The last three rows of the table (optimal string alignment): a swap looks back two rows.
    let (mut above, mut line, mut next) = (Vec::new(), Vec::new(), Vec::new());
    line.extend(0..=b.len());
    let mut last = None;
    for (row, x) in a.iter().enumerate() {
        next.clear();
        next.push(row + 1);
        for (column, y) in b.iter().enumerate() {
            let change = at(&line, column) + usize::from(x != y);
            let mut least = change.min(at(&line, column + 1) + 1).min(at(&next, column) + 1);
            let before = column.checked_sub(1).and_then(|place| Some((place, b.get(place)?)));
            if let Some((place, left)) = before
                && last == Some(y)
                && left == x
            {
                least = least.min(at(&above, place) + 1);
            }
            next.push(least);
        }
        std::mem::swap(&mut above, &mut line);
        std::mem::swap(&mut line, &mut next);
        last = Some(x);
    }
    at(&line, b.len())
}

/// Returns the version that was meant by another spelling: `1`, `1.0.0`, `v1.2`, `0.3.0`.
pub(super) fn version(
    text: &str,
    known: impl IntoIterator<Item = &'static str>,
) -> Option<&'static str> {
    let bare = text.trim().trim_start_matches(['v', 'V']);
    let mut parts = bare.split('.');
    let (major, minor) = (parts.next()?, parts.next().unwrap_or("0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(major) || !is_number(minor) || !parts.all(is_number) {
        return None;
    }
    known.into_iter().find(|version| version.split_once('.') == Some((major, minor)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let known = ["name", "url", "iconUrl", "in", "id", "description", "keyId", "gRPC"];
        for (word, meant) in [
            ("nmae", Some("name")),
            ("Name", Some("name")),
            ("icon_url", Some("iconUrl")),
            ("desciption", Some("description")),
            ("kid", Some("keyId")),
            ("GRPC", Some("gRPC")),
            ("mail", None),
            ("ib", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
    }

    #[test]
    fn the_most_similar_words_come_first() {
        let known = ["name", "description", "url", "iconUrl", "documentationUrl", "skills"];
        for (word, nearest) in [
            ("homepage_url", ["url", "iconUrl", "documentationUrl"]),
            ("skillList", ["skills", "name", "description"]),
            ("DOCUMENTATION", ["documentationUrl", "description", "name"]),
            ("zzz", ["name", "description", "url"]),
            ("", ["name", "description", "url"]),
        ] {
            assert_eq!(most_similar(word, known, 3), nearest, "{word}");
        }
        assert_eq!(most_similar(&"url".repeat(1 << 20), ["name", "url"], 1), ["url"]);
    }

    #[test]
    fn versions_are_read_generously() {
        let known = ["1.0", "1.2", "0.3"];
        for (text, meant) in [
            ("1", Some("1.0")),
            ("1.0.0", Some("1.0")),
            ("v1.2", Some("1.2")),
            ("0.3.0", Some("0.3")),
            ("2", None),
            ("latest", None),
            ("1.0\0", None),
        ] {
            assert_eq!(version(text, known), meant, "{text}");
        }
    }
}
