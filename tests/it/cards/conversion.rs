//! `svcctl cards convert` accounts for every member: each leaf of the old card is in the new one, in the
//! reported losses, or in the list of renames in `conversion/account.rs`. `SVC_CARDS_CONVERSIONS` says how
//! many generated cards are converted, `SVC_CARDS_SEED` from where.

mod account;
mod any_card;

use serde_json::{Value, json};
use svc::card::{self, Conversion, Variant};

use super::agreement::Chance;
use crate::support::campaign::number;

/// Generated cards of the test command.
const CARDS: u64 = 3_000;

/// Converts a card, and returns the leaves that are nowhere as well.
fn convert(card: &Value, to: Variant) -> (Conversion, Value, Vec<String>) {
    let conversion = card::convert(card.to_string().as_bytes(), to).unwrap();
    let made = serde_json::from_str(&conversion.text).unwrap();
    let lost: Vec<&str> = conversion.losses.iter().map(|loss| loss.pointer.as_str()).collect();
    let missing = account::missing(card, &made, to, &lost);
    (conversion, made, missing)
}

/// Converts what is left of a card with these members, and returns it with the pointers of its losses and
/// the leaves that are nowhere.
fn converted(rest: &Value, to: Variant) -> (Value, Vec<String>, Vec<String>) {
    let mut card =
        json!({"name": "n", "description": "d", "url": "https://a.example/", "version": "1"});
    card.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    let (conversion, made, missing) = convert(&card, to);
    let mut lost: Vec<String> = conversion.losses.into_iter().map(|loss| loss.pointer).collect();
    lost.sort_unstable();
    (made, lost, missing)
}

#[test]
fn what_has_no_place_is_reported() {
    let (current, legacy) = (Variant::Current, Variant::Legacy);
    let interface = |version: &str| {
        json!({"securityRequirements": [], "supportedInterfaces": [{
            "url": "a:b", "protocolBinding": "GRPC", "protocolVersion": version, "weight": 1,
        }]})
    };
    let wrapped =
        json!({"apiKeySecurityScheme": {"location": "header", "name": "k", "x": 1}, "note": "n"});
    let required = json!({"schemes": {"k": {"list": ["s"], "note": "n"}}, "all": true});
    let mut wrong = Vec::new();
    for (to, card, lost) in [
        (
            current,
            json!({"provider": {"organization": "o", "url": "a:b", "contact": "c"}}),
            vec!["/provider/contact"],
        ),
        (
            current,
            json!({
                "supportsAuthenticatedExtendedCard": true,
                "capabilities": {"extendedAgentCard": false},
            }),
            vec!["/supportsAuthenticatedExtendedCard"],
        ),
        (
            current,
            json!({"supportsAuthenticatedExtendedCard": true, "capabilities": []}),
            vec!["/supportsAuthenticatedExtendedCard"],
        ),
        (current, interface("1.0"), vec!["/supportedInterfaces/0/weight"]),
        (current, interface("0.2.5"), vec!["/supportedInterfaces/0"]),
        (
            current,
            json!({"securitySchemes": {"k": wrapped}}),
            vec!["/securitySchemes/k/apiKeySecurityScheme/x", "/securitySchemes/k/note"],
        ),
        (
            current,
            json!({"securityRequirements": [required]}),
            vec!["/securityRequirements/0/all", "/securityRequirements/0/schemes/k/note"],
        ),
        (legacy, json!({"defaultInputModes": []}), vec!["/defaultInputModes"]),
        (legacy, json!({"defaultOutputModes": ["a", "b"]}), vec!["/defaultOutputModes/1"]),
        (
            current,
            json!({"protocolVersion": "1.0", "signatures": [], "note": "n"}),
            vec!["/note", "/signatures"],
        ),
        (
            current,
            json!({"capabilities": {"extensions": [{"uri": "a:b", "params": {"p": 1}}]}}),
            vec!["/capabilities/extensions/0/params"],
        ),
        (
            current,
            // `Value` sorts its names, so the spelling with capitals comes first.
            json!({"default_input_modes": ["a"], "defaultInputModes": ["b"]}),
            vec!["/default_input_modes"],
        ),
    ] {
        let (made, reported, missing) = converted(&card, to);
        if reported != lost || !missing.is_empty() {
            wrong
                .push(format!("{card}\n  became {made}\n  lost {reported:?}, missing {missing:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_validate_says_how_to_keep_is_kept() {
    let card = json!({
        "protocol_version": "0.3.0",
        "preferred_transport": "JSONRPC",
        "icon_url": null,
        "default_input_modes": ["text/plain"],
        "capabilities": {
            "push_notifications": true,
            "streaming": null,
            "extensions": [{"uri": "a:b", "description": null, "required": true}],
        },
        "security_schemes": {
            "k": {"type": "apiKey", "in_": "header", "name": "X", "description": null},
            "o": {"type": "openIdConnect", "open_id_connect_url": "a:b"},
        },
        "skills": [{"id": "i", "name": "n", "description": "d", "input_modes": null, "tags": []}],
        "additional_interfaces": [{"url": "a:b", "transport": "GRPC"}],
        "supports_authenticated_extended_card": true,
        "provider": null,
    });
    let (made, lost, missing) = converted(&card, Variant::Current);
    assert_eq!((lost, missing), (Vec::new(), Vec::new()), "{made}");
    assert!(card::check(made.to_string().as_bytes()).is_valid(), "{made}");
    assert_eq!(made["protocolBinding"], "JSONRPC");
    assert_eq!(made["extensions"], json!([{"uri": "a:b", "required": true}]));
    assert_eq!(made["capabilities"], json!({"pushNotifications": true, "extendedAgentCard": true}));
    assert_eq!(
        made["supportedInterfaces"],
        json!([{"url": "a:b", "protocolBinding": "gRPC", "protocolVersion": "0.3"}])
    );
    assert_eq!(
        made["securitySchemes"][0],
        json!({"type": "apiKey", "id": "k", "in": "header", "name": "X"})
    );
}

#[test]
fn a_requirement_is_never_weakened_by_a_null() {
    let (made, _, _) = converted(&json!({"security": [{"k": null}]}), Variant::Current);
    assert_eq!(
        made["security"],
        json!([{"k": null}]),
        "an empty requirement would let everyone in"
    );
}

#[test]
fn generated_cards_are_accounted_for() {
    let mut chance = Chance::new(number("SVC_CARDS_SEED").unwrap_or(1));
    let (mut valid, mut lossless, mut wrong) = (0, 0, Vec::new());
    let cards = number("SVC_CARDS_CONVERSIONS").unwrap_or(CARDS);
    for _ in 0..cards {
        let card = any_card::card(&mut chance);
        for to in Variant::ALL.iter().copied() {
            let (conversion, made, missing) = convert(&card, to);
            valid += u64::from(conversion.report.is_valid());
            lossless += u64::from(conversion.losses.is_empty());
            if !missing.is_empty() && wrong.len() < 5 {
                let lost = conversion.losses;
                wrong.push(format!("{missing:?} of {card}\n  is not in {made}\n  nor in {lost:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Cards that are all refused would prove nothing.
    assert!(
        valid > cards / 4 && lossless > cards / 50,
        "{valid} valid, {lossless} lossless of {cards}"
    );
}
