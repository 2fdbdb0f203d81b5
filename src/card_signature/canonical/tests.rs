//! What differs between two cards.

use serde_json::json;

use super::difference;

#[test]
fn the_first_difference_is_pointed_at() {
    let card = json!({"name": "n", "skills": [{"id": "a"}, {"id": "b"}], "a/b": {}});
    for (pointer, value, expected) in [
        ("/name", json!("m"), Some("/name")),
        ("/skills/1/id", json!("c"), Some("/skills/1/id")),
        ("/skills", json!([{"id": "a"}]), Some("/skills/1")),
        ("/a~1b", json!(0), Some("/a~1b")),
        ("/name", json!("n"), None),
    ] {
        let mut other = card.clone();
        *other.pointer_mut(pointer).unwrap() = value;
        let found = difference(card.to_string().as_bytes(), other.to_string().as_bytes());
        assert_eq!(found.as_deref(), expected);
    }
    assert_eq!(difference(b"{}", b"{\"new\":0}").as_deref(), Some("/new"));
    assert_eq!(difference(b"{}", b"no JSON"), None);
}
