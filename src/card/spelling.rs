//! Near misses: which known word was probably meant. Case, underscores and hyphens do not count, nor
//! do two slips of the keyboard in a word long enough for them.

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
pub(super) fn most_similar<const COUNT: usize>(
    word: &str,
    known: impl IntoIterator<Item = &'static str>,
) -> impl Iterator<Item = &'static str> {
    let pairs = Pairs::of(word);
    let mut best = [None; COUNT];
    for candidate in known {
        let shared = pairs.shared(candidate);
        // Behind those that share as much, so that they keep their order.
        let is_less = |slot: &Option<(usize, _)>| slot.is_none_or(|(least, _)| least < shared);
        let rest = best.iter().position(is_less).and_then(|place| best.get_mut(place..));
        let Some(rest) = rest else { continue };
        rest.rotate_right(1);
        if let Some(slot) = rest.first_mut() {
            *slot = Some((shared, candidate));
        }
    }
    best.into_iter().flatten().map(|(_, candidate)| candidate)
}

/// The pairs of neighbouring letters of a word, as one bit for each letter that follows another.
struct Pairs {
    behind: [u32; 32],
    /// Letters of the word.
    length: usize,
}

impl Pairs {
    fn of(word: &str) -> Self {
        let mut pairs = Self { behind: [0; 32], length: 0 };
        let mut before = 0;
        for byte in fold(word).take(LENGTH_MAX) {
            let letter = number(byte);
            if let Some(behind) = pairs.behind.get_mut(before) {
                *behind |= 1 << letter;
            }
            before = letter;
            pairs.length += 1;
        }
        pairs
    }

    /// Returns how much of two words is pairs that are in both, in thousandths.
    fn shared(&self, candidate: &str) -> usize {
        let (mut before, mut shared) = (0, 0);
        for letter in candidate.bytes().map(number) {
            let behind = self.behind.get(before).copied().unwrap_or_default();
            shared += usize::from(before > 0 && behind >> letter & 1 == 1);
            before = letter;
        }
        2_000 * shared / (self.length + candidate.len()).max(1)
    }
}

/// Returns the place of a letter in the alphabet; 0 for any other byte.
fn number(byte: u8) -> usize {
    if byte.is_ascii_alphabetic() { usize::from(byte & 31) } else { 0 }
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
    if a.len().abs_diff(b.len()) > 2 || a.len() > LENGTH_MAX || !a.is_ascii() {
        return FAR;
    }
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let at = |line: &Line, place: usize| line.get(place).copied().unwrap_or(FAR);
    // The last three rows of the table (optimal string alignment): a swap looks back two rows.
    let (mut above, mut line, mut next) = ([FAR; WIDTH], [FAR; WIDTH], [FAR; WIDTH]);
    line.iter_mut().enumerate().for_each(|(place, cell)| *cell = place);
    let mut last = None;
    for (row, x) in a.iter().enumerate() {
        let mut least = row + 1;
        next[0] = least;
        for (column, (y, cell)) in b.iter().zip(next.iter_mut().skip(1)).enumerate() {
            let change = at(&line, column) + usize::from(x != y);
            least = change.min(at(&line, column + 1) + 1).min(least + 1);
            let before = column.checked_sub(1).and_then(|place| Some((place, b.get(place)?)));
            if let Some((place, left)) = before
                && last == Some(y)
                && left == x
            {
                least = least.min(at(&above, place) + 1);
            }
            *cell = least;
        }
        std::mem::swap(&mut above, &mut line);
        std::mem::swap(&mut line, &mut next);
        last = Some(x);
    }
    at(&line, b.len())
}

/// Cells of a row: one more than letters of the longest word that is compared.
const WIDTH: usize = LENGTH_MAX + 3;
type Line = [usize; WIDTH];
/// Larger than any distance, and still safe to add to.
const FAR: usize = usize::MAX / 8;

/// Returns the version that was meant by another spelling: `1`, `1.0.0`, `v1.2`, and also `vv1.2` and `1.0.0.7`.
pub(super) fn version(
    text: &str,
    known: impl IntoIterator<Item = &'static str>,
) -> Option<&'static str> {
    let bare = text.trim().trim_start_matches(V);
    let mut parts = bare.split('.');
    let (major, minor) = (parts.next()?, parts.next().unwrap_or("0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(major) || !is_number(minor) || !parts.all(is_number) {
        return None;
    }
    known.into_iter().find(|version| version.split_once('.') == Some((major, minor)))
}

/// Says whether a version is written as authors usually do: with at most one `v`, and with no more than a patch number.
pub(super) fn is_usual_version(text: &str) -> bool {
    let text = text.trim();
    let bare = text.strip_prefix(V).unwrap_or(text);
    !bare.starts_with(V) && bare.split('.').count() <= 3
}

/// What authors write in front of a version.
const V: [char; 2] = ['v', 'V'];

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
            assert!(most_similar::<3>(word, known).eq(nearest), "{word}");
        }
        assert!(most_similar::<1>(&"url".repeat(1 << 20), ["name", "url"]).eq(["url"]));
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
