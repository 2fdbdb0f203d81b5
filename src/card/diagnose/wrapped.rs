//! A card inside something else, such as an answer or a list: its author is told where it is. The findings stay
//! those of the whole text, of which only the advice would mislead.
//!
//! Why they stay: `docs/decisions/110-wrapped-cards.md`.

use super::{FindingBuilder, FindingCode, Member, Node, Type};
use crate::card::dialect;
use crate::card::finding::push_step;
use crate::card::position::Reader;

/// How deep a card is looked for: in the result of an answer, in a list that has a name.
const DEPTH_MAX: usize = 3;
/// Objects and arrays that are looked into, and values that are passed in one of them, so that the search in a long list
/// ends.
const VISITS_MAX: usize = 1_000;

/// Says in the findings that lead astray where the card is, if the text only contains one.
pub(super) fn tell(root: Node<'_>, text: &str, builders: &mut [FindingBuilder]) {
    let is_of_whole = |builder: &FindingBuilder| {
        matches!(builder.code(), FindingCode::NotAnObject | FindingCode::MissingVersion)
    };
    // One that resembles a card is meant to be one.
    if !builders.iter().any(is_of_whole) || dialect::resembles_card(root) {
        return;
    }
    let mut search = Search { pointer: String::new(), visits: 0 };
    let Some(card) = search.below(root, 1) else { return };
    let pointer = search.pointer;
    let place = Reader::new(text).place(card.begin());
    let (line, column) = (place.line, place.column);
    let several = if root.kind() == Type::Array { ", or one card per line (NDJSON)" } else { "" };
    let advice = format!(
        "the card seems to be at {pointer} (line {line}, column {column}): write only that object{several}"
    );
    let is_around = |builder: &FindingBuilder| {
        let rest = pointer.strip_prefix(builder.pointer_text());
        builder.code() == FindingCode::UnknownProperty
            && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    for builder in builders.iter_mut().filter(|builder| is_of_whole(builder) || is_around(builder))
    {
        builder.set_suggestion(advice.clone());
    }
}

struct Search {
    /// Of what was found last.
    pointer: String,
    visits: usize,
}

impl Search {
    /// Finds the first card below a value.
    fn below<'a>(&mut self, node: Node<'a>, depth: usize) -> Option<Node<'a>> {
        let items = node.items().map(|item| (None, item));
        let members = node.members().map(|member| (Some(member), member.value));
        for (number, (member, part)) in items.chain(members).enumerate().take(VISITS_MAX) {
            if !part.is_container() {
                continue;
            }
            self.visits += 1;
            if self.visits > VISITS_MAX {
                return None;
            }
            let length = self.pointer.len();
            let step = member.map_or_else(|| number.to_string().into(), Member::name);
            push_step(&mut self.pointer, &step);
            let found = if dialect::resembles_card(part) {
                Some(part)
            } else if depth < DEPTH_MAX {
                self.below(part, depth + 1)
            } else {
                None
            };
            if found.is_some() {
                return found;
            }
            self.pointer.truncate(length);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use crate::card::check;

    #[test]
    fn the_place_of_the_card_is_told() {
        const CARD: &str =
            r#"{"protocolVersion":"1.0","name":"n","description":"d","url":"a:b","version":"1"}"#;
        let advice = |text: &str| -> Vec<(String, String)> {
            let found = check(text.as_bytes()).findings.into_iter();
            let told = |finding: crate::card::Finding| Some((finding.pointer, finding.suggestion?));
            found.filter_map(told).filter(|(_, advice)| advice.contains("seems to be")).collect()
        };
        let at = |pointer: &str, line: u64, column: u64| {
            format!(
                "the card seems to be at {pointer} (line {line}, column {column}): write only that \
                object"
            )
        };
        let said = |pointer: &str, advice: &str| (pointer.to_owned(), advice.to_owned());
        let of_object =
            |name: &str, advice: String| [said("/protocolVersion", &advice), said(name, &advice)];
        let of_list = |advice: String| [said("", &(advice + ", or one card per line (NDJSON)"))];
        assert_eq!(advice(&format!("[{CARD},{CARD}]")), of_list(at("/0", 1, 2)));
        assert_eq!(advice(&format!("[[],{{}},\n {CARD}]")), of_list(at("/2", 2, 2)));
        assert_eq!(advice(&format!("{{\"card\":{CARD}}}")), of_object("/card", at("/card", 1, 9)));
        assert_eq!(
            advice(&format!("{{\"id\":1,\"result\":{{\"a/b\":[{CARD}]}}}}")),
            of_object("/result", at("/result/a~1b/0", 1, 26))
        );
        // What resembles a card is one, whatever is in it; and nothing else resembles one.
        assert_eq!(advice(&CARD.replacen('{', &format!("{{\"card\":{CARD},"), 1)), []);
        assert_eq!(advice(r#"{"tool":{"name":"n","version":"1","description":"d"}}"#), []);
        assert_eq!(advice(&format!("{{\"a\":[[[{CARD}]]]}}")), []);
        assert_eq!(advice(&format!("[{}{CARD}]", "[],".repeat(2_000))), []);
    }
}
