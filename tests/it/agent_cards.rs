//! The registry of agent cards in process, over both surfaces of operators: bytes that come back, conditional
//! writes, bounds, pages, and who may do what.

use http::Method;
use http::header::{ALLOW, CONTENT_TYPE, ETAG, LOCATION};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use ring::digest::{SHA256, digest};
use serde_json::json;
use svc::card;
use svc::domain::agent_card::{BYTES_MAX, CARDS_MAX};
use svc::http::message::{Response, Surface};

use crate::support::World;
use crate::support::world::{ACTOR, TOKEN, bytes, json as body, outcome};

const LIST: &str = "/api/v1/agent-cards";
const SURFACES: [Surface; 2] = [Surface::Control, Surface::Operator];

fn at(name: &str) -> String {
    format!("{LIST}/{name}")
}

/// A valid card that differs with what it is called.
fn card(name: &str) -> Vec<u8> {
    let card = json!({"protocolVersion": "1.2", "name": name, "description": "d", "url": "a:b", "version": "1"});
    card.to_string().into_bytes()
}

fn tag(bytes: &[u8]) -> String {
    let sha256 = digest(&SHA256, bytes);
    let hex: String = sha256.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\"{hex}\"")
}

/// Asks as an operator through one surface.
fn ask(
    world: &World,
    surface: Surface,
    (method, target): (Method, &str),
    headers: &[(&str, &str)],
    bytes: &[u8],
) -> Response {
    let bearer = format!("Bearer {TOKEN}");
    let own = [
        ("host", "localhost"),
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    world.send(surface, method, target, &[&own, headers].concat(), bytes.to_vec())
}

fn put(world: &World, name: &str, headers: &[(&str, &str)], bytes: &[u8]) -> Response {
    ask(world, Surface::Control, (Method::PUT, &at(name)), headers, bytes)
}

/// Asks without a token.
fn get(world: &World, target: &str, headers: &[(&str, &str)]) -> Response {
    let own = [("host", "localhost")];
    world.send(Surface::Control, Method::GET, target, &[&own, headers].concat(), Vec::new())
}

fn header(answer: &Response, name: http::HeaderName) -> String {
    answer.headers.get(name).map_or("", |value| value.to_str().unwrap()).to_owned()
}

#[test]
fn a_card_is_registered_read_replaced_and_removed() {
    for surface in SURFACES {
        let world = World::new();
        let (first, second) = (card("one"), [b" ", card("two").as_slice(), b"\n"].concat());
        let send = |method, card: &[u8]| ask(&world, surface, (method, &at("maps")), &[], card);
        let answer = send(Method::PUT, &first);
        assert_eq!(answer.status, 201, "{:?}", body(&answer));
        assert_eq!(header(&answer, ETAG), tag(&first));
        assert_eq!(header(&answer, LOCATION), at("maps"));
        let shown = body(&answer);
        assert_eq!(
            shown,
            json!({
                "name": "maps", "variant": "current", "protocolVersion": "1.2",
                "digest": tag(&first).trim_matches('"'), "size": first.len(), "revision": 1,
                "createdAt": shown["createdAt"], "updatedAt": shown["createdAt"],
                "updatedBy": ACTOR,
            })
        );
        world.clock.advance(std::time::Duration::from_secs(1));
        let again = send(Method::PUT, &first);
        assert_eq!((again.status.as_u16(), body(&again)), (200, shown.clone()), "nothing changed");
        let answer = send(Method::PUT, &second);
        assert_eq!((answer.status.as_u16(), body(&answer)["revision"].as_u64()), (200, Some(2)));
        assert_eq!(body(&answer)["createdAt"], shown["createdAt"]);
        assert!(body(&answer)["updatedAt"].as_str() > shown["updatedAt"].as_str());
        assert_eq!(header(&answer, LOCATION), "");
        for method in [Method::GET, Method::HEAD] {
            let answer = send(method, b"");
            assert_eq!((answer.status.as_u16(), header(&answer, ETAG)), (200, tag(&second)));
            assert_eq!(header(&answer, CONTENT_TYPE), "application/json");
            assert_eq!(bytes(&answer), second, "exactly what was sent");
        }
        let answer = send(Method::DELETE, b"");
        assert_eq!((answer.status.as_u16(), bytes(&answer).len()), (204, 0));
        assert_eq!(outcome(&send(Method::GET, b"")), (404, "not_found".to_owned()));
        assert_eq!(outcome(&send(Method::DELETE, b"")), (404, "not_found".to_owned()));
        assert_eq!(body(&ask(&world, surface, (Method::GET, LIST), &[], b""))["items"], json!([]));
    }
}

#[test]
fn writes_are_conditional() {
    let world = World::new();
    let (first, second, third) = (card("one"), card("two"), card("three"));
    let (of_first, of_second) = (tag(&first), tag(&second));
    let failed = (412, "precondition_failed".to_owned());
    let refused = (400, "invalid_request".to_owned());
    for headers in [[("if-match", "*")], [("if-match", of_first.as_str())]] {
        assert_eq!(outcome(&put(&world, "a", &headers, &first)), failed, "there is none");
    }
    assert_eq!(put(&world, "a", &[("if-none-match", "*")], &first).status, 201);
    assert_eq!(outcome(&put(&world, "a", &[("if-none-match", "*")], &second)), failed);
    let weak = format!("W/{of_first}");
    let other = format!("\"mine\", {of_second}");
    for value in [of_second.as_str(), &weak, &other, "\"\""] {
        assert_eq!(outcome(&put(&world, "a", &[("if-match", value)], &second)), failed, "{value}");
    }
    let listed = format!("\"mine\", {of_first}");
    assert_eq!(put(&world, "a", &[("if-match", &listed)], &second).status, 200);
    assert_eq!(outcome(&put(&world, "a", &[("if-match", &of_first)], &third)), failed);
    assert_eq!(put(&world, "a", &[("if-match", "*")], &third).status, 200);
    for headers in [
        vec![("if-match", "a")],
        vec![("if-match", "")],
        vec![("if-none-match", of_first.as_str())],
        vec![("if-match", "*"), ("if-none-match", "*")],
    ] {
        assert_eq!(outcome(&put(&world, "a", &headers, &first)), refused, "{headers:?}");
    }
    let remove = |headers: &[(&str, &str)]| {
        ask(&world, Surface::Control, (Method::DELETE, &at("a")), headers, b"")
    };
    assert_eq!(outcome(&remove(&[("if-match", &of_first)])), failed);
    assert_eq!(outcome(&remove(&[("if-none-match", "*")])), refused);
    assert_eq!(bytes(&get(&world, &at("a"), &[])), third, "no refused write did anything");
    assert_eq!(remove(&[("if-match", &tag(&third))]).status, 204);
}

#[test]
fn reads_are_conditional() {
    let world = World::new();
    let card = card("one");
    let own = tag(&card);
    put(&world, "a", &[], &card);
    let weak = format!("\"x\", W/{own}");
    for known in [own.as_str(), &weak, "*"] {
        let answer = get(&world, &at("a"), &[("if-none-match", known)]);
        assert_eq!((answer.status.as_u16(), header(&answer, ETAG)), (304, own.clone()), "{known}");
        assert!(bytes(&answer).is_empty());
    }
    assert_eq!(get(&world, &at("a"), &[("if-none-match", "\"x\"")]).status, 200);
    assert_eq!(get(&world, &at("a"), &[("if-match", &own)]).status, 200);
    assert_eq!(get(&world, &at("a"), &[("if-match", "\"x\"")]).status, 412);
    assert_eq!(get(&world, &at("a"), &[("if-none-match", "x")]).status, 400);
}

#[test]
fn only_valid_cards_are_registered() {
    let world = World::new();
    for (text, code) in [
        ("{}", "card/missing-version"),
        ("[]", "card/not-an-object"),
        ("{", "card/not-json"),
        ("", "card/empty"),
        // Ends inside the value that is read of a valid card.
        ("{\"protocolVersion\":\"", "card/not-json"),
    ] {
        let answer = put(&world, "a", &[("if-match", "*")], text.as_bytes());
        assert_eq!(outcome(&answer), (422, "invalid_card".to_owned()), "{text}");
        assert_eq!(body(&answer)["report"]["findings"][0]["code"], code, "{text}");
    }
    let typed = [("host", "localhost"), ("authorization", &format!("Bearer {TOKEN}"))];
    for headers in [vec![], vec![("content-type", "application/x-ndjson")]] {
        let headers = [&typed[..], &headers].concat();
        let answer = world.send(Surface::Control, Method::PUT, &at("a"), &headers, card("a"));
        assert_eq!(outcome(&answer), (415, "unsupported_media_type".to_owned()));
    }
    assert_eq!(get(&world, &at("a"), &[]).status, 404);
}

#[test]
fn names_have_one_shape() {
    let world = World::new();
    for name in ["A", "a%20b", "a%2fb", "..", ".a", "ä", &"x".repeat(101)] {
        let answer = put(&world, name, &[], &card("a"));
        assert_eq!(outcome(&answer), (400, "invalid_request".to_owned()), "{name}");
        assert_eq!(outcome(&get(&world, &at(name), &[])).0, 404, "{name}");
    }
    // Has a route of its own.
    let answer = put(&world, "validate", &[], &card("a"));
    assert_eq!(outcome(&answer), (405, "method_not_allowed".to_owned()));
    assert_eq!(header(&answer, ALLOW), "POST");
    assert_eq!(put(&world, &"x".repeat(100), &[], &card("a")).status, 201);
    assert_eq!(put(&world, "a?b=1", &[], &card("a")).status, 400);
}

#[test]
fn writing_needs_the_token_and_reading_does_not() {
    let world = World::new();
    put(&world, "a", &[], &card("a"));
    for surface in SURFACES {
        for authorization in ["", "Bearer wrong-wrong-wrong-wrong-wrong-wrong", "Basic x"] {
            // An unauthenticated caller learns nothing, whatever else is wrong.
            let headers =
                [("host", "localhost"), ("authorization", authorization), ("if-match", "x")];
            for (method, name) in [
                (Method::PUT, "a"),
                (Method::DELETE, "a"),
                (Method::PUT, "B"),
                (Method::DELETE, "b"),
            ] {
                let answer = world.send(surface, method, &at(name), &headers, b"{".to_vec());
                assert_eq!(outcome(&answer), (401, "unauthenticated".to_owned()));
            }
        }
        let own = [("host", "localhost")];
        for target in [LIST, &at("a")] {
            assert_eq!(world.send(surface, Method::GET, target, &own, Vec::new()).status, 200);
        }
        let answer = world.send(surface, Method::PATCH, &at("a"), &own, Vec::new());
        assert_eq!(answer.status, 405);
        assert_eq!(header(&answer, ALLOW), "GET, HEAD, PUT, DELETE");
    }
    let strange = [("host", "elsewhere.example")];
    let answer = world.send(Surface::Operator, Method::GET, LIST, &strange, Vec::new());
    assert_eq!(answer.status, 400, "the name of the host counts");
    for target in [LIST.to_owned(), at("a"), at("validate")] {
        let own = [("host", "localhost")];
        let answer = world.send(Surface::Public, Method::GET, &target, &own, Vec::new());
        assert_eq!(answer.status, 404, "nothing of it is public");
    }
}

#[test]
fn the_list_goes_by_name_and_its_cursor_outlives_the_card() {
    let world = World::new();
    let names: Vec<String> = (0..23).map(|number| format!("card-{number:02}")).collect();
    for name in names.iter().rev() {
        put(&world, name, &[], &card(name));
    }
    let mut seen = Vec::new();
    let mut target = format!("{LIST}?limit=10");
    loop {
        let page = body(&get(&world, &target, &[]));
        let items = page["items"].as_array().unwrap();
        seen.extend(items.iter().map(|item| item["name"].as_str().unwrap().to_owned()));
        let Some(after) = page["nextAfter"].as_str() else { break };
        ask(&world, Surface::Control, (Method::DELETE, &at(after)), &[], b"");
        target = format!("{LIST}?limit=10&after={after}");
    }
    assert_eq!(seen, names);
    for query in ["limit=0", "limit=101", "after=A", "after=", "before=a", "after=a&after=b"] {
        assert_eq!(get(&world, &format!("{LIST}?{query}"), &[]).status, 400, "{query}");
    }
}

#[test]
fn the_registry_is_bounded() {
    let world = World::new();
    put(&world, "a", &[], &card("a"));
    world.tamper(&format!(
        "WITH RECURSIVE n (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n < {CARDS_MAX}) \
         INSERT INTO agent_cards (name, digest, variant, protocol_version, revision, created_at, \
             updated_at, updated_by, card) \
         SELECT 'b' || n, digest, variant, protocol_version, 1, 0, 0, 'x', card \
         FROM n, agent_cards WHERE name = 'a'"
    ));
    assert_eq!(outcome(&put(&world, "c", &[], &card("c"))), (409, "registry_full".to_owned()));
    assert_eq!(put(&world, "a", &[], &card("c")).status, 200, "a known name may change");
    ask(&world, Surface::Control, (Method::DELETE, &at("b7")), &[], b"");
    assert_eq!(put(&world, "c", &[], &card("c")).status, 201);
    let large = [card("large"), vec![b' '; BYTES_MAX]].concat();
    assert_eq!(put(&world, "c", &[], large.get(..BYTES_MAX).unwrap()).status, 200);
    assert_eq!(bytes(&get(&world, &at("c"), &[])).len(), BYTES_MAX);
}

#[test]
fn whatever_is_stored_comes_back_as_it_was() {
    let world = World::new();
    let mut runner = TestRunner::new(Config { cases: 64, ..Config::default() });
    let text = (".{0,40}", "[ \\t\\r\\n]{0,9}", 0..2_usize);
    runner
        .run(&text, |(text, space, order)| {
            let text = json!(text);
            let card = match order {
                0 => format!(r#"{space}{{"version":{text},"protocolVersion":"0.3",{space}"name":{text},"description":"d","url":"a:b"}}"#),
                _ => format!(r#"{{"url":"a:b","name":{text},"protocolVersion":"1.0","description":"d","version":"1"}}{space}"#),
            };
            prop_assert!(card::check(card.as_bytes()).is_valid());
            prop_assert!(put(&world, "a", &[], card.as_bytes()).status.is_success());
            let answer = get(&world, &at("a"), &[]);
            prop_assert_eq!(header(&answer, ETAG), tag(card.as_bytes()));
            prop_assert_eq!(bytes(&answer), card.as_bytes());
            Ok(())
        })
        .unwrap();
}

#[test]
fn of_two_who_saw_the_same_card_one_goes_on() {
    let world = World::new();
    put(&world, "a", &[], &card("zero"));
    for round in 0..20 {
        let seen = header(&get(&world, &at("a"), &[]), ETAG);
        let write = |who: &str| {
            let own = [("if-match", seen.as_str())];
            put(&world, "a", &own, &card(&format!("{who} {round}"))).status.as_u16()
        };
        let fresh = |who: &str| {
            let name = format!("fresh-{round}");
            put(&world, &name, &[("if-none-match", "*")], &card(who)).status.as_u16()
        };
        let (mut writes, mut creations) = std::thread::scope(|scope| {
            let other = scope.spawn(|| (write("other"), fresh("other")));
            let (own, new) = (write("own"), fresh("own"));
            let (other, old) = other.join().unwrap();
            ([own, other], [new, old])
        });
        writes.sort_unstable();
        creations.sort_unstable();
        assert_eq!((writes, creations), ([200, 412], [201, 412]), "round {round}");
    }
    let revision: i64 = world.ask("SELECT revision FROM agent_cards WHERE name = 'a'");
    assert_eq!(revision, 21);
}
