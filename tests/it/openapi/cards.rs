//! What is told of agent cards, held to the document.

use std::borrow::Cow;

use serde_json::Value;
use svc::api::{AgentCard, CardEdit, CardFinding, CardReport, PageAfter};
use svc::card::{self, FindingCode, Variant};
use svc::domain::agent_card;

use super::{Fields, document, strings};

fn text(full: bool) -> Option<String> {
    full.then(|| "text".to_owned())
}

fn edit() -> CardEdit {
    CardEdit { offset: 32, length: 1, text: "\"1\"".to_owned() }
}

fn finding(full: bool) -> CardFinding {
    CardFinding {
        code: Cow::Borrowed("card/wrong-type"),
        pointer: "/name".to_owned(),
        line: 1,
        column: 33,
        offset: 32,
        length: 1,
        message: "text".to_owned(),
        found: text(full),
        allowed: text(full),
        suggestion: text(full),
        edit: full.then(edit),
    }
}

pub(super) fn report(full: bool) -> CardReport {
    CardReport {
        line: full.then_some(7),
        valid: false,
        variant: full.then_some(Cow::Borrowed("current")),
        findings: vec![finding(full)],
        truncated: full,
    }
}

fn agent_card() -> AgentCard {
    AgentCard {
        name: "maps".parse().unwrap(),
        variant: "legacy".to_owned(),
        protocol_version: "0.3".to_owned(),
        digest: [15; 32].into(),
        size: 1,
        revision: 1,
        created_at: super::time(),
        updated_at: super::time(),
        updated_by: "ops".to_owned(),
    }
}

fn page(next_after: Option<String>) -> PageAfter<AgentCard> {
    PageAfter { items: vec![agent_card()], next_after }
}

/// Holds their schemas to the shapes of the code, and those of cards to the published ones.
pub(super) fn hold(mut checks: Fields) -> Fields {
    for (name, variant) in
        [("CurrentAgentCard", Variant::Current), ("LegacyAgentCard", Variant::Legacy)]
    {
        let definitions = format!("#/components/schemas/{name}/$defs/");
        let text = card::schema(variant).replace("#/$defs/", &definitions);
        let mut published: Value = serde_json::from_str(&text).unwrap();
        published.as_object_mut().unwrap().remove("$schema");
        assert_eq!(checks.document["components"]["schemas"][name], published, "{name}");
        checks.seen.insert(name.to_owned());
    }
    checks
        .hold("AgentCard", &agent_card(), &agent_card())
        .hold("AgentCardPage", &page(text(true)), &page(None))
        .hold("CardReport", &report(true), &report(false))
        .hold("CardEdit", &edit(), &edit())
        .hold("CardFinding", &finding(true), &finding(false))
}

#[test]
fn their_stable_words_and_limits_are_those_of_the_code() {
    let document = document();
    let written = &document["components"]["schemas"]["CardFinding"]["properties"]["code"];
    let codes = FindingCode::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(strings(&written["x-extensible-enum"]), codes);
    let findings = &document["components"]["schemas"]["CardReport"]["properties"]["findings"];
    assert_eq!(findings["maxItems"], card::FINDINGS_MAX);
    let check = &document["paths"]["/api/v1/agent-cards/validate"]["post"];
    let (said, body) = (check["description"].as_str().unwrap(), &check["requestBody"]);
    assert!(said.contains("10,000 cards") && card::BATCH_MAX == 10_000);
    assert!(body["description"].as_str().unwrap().contains("16 MiB"));
    assert_eq!(card::BYTES_MAX, 16 << 20);
    let put = &document["paths"]["/api/v1/agent-cards/{name}"]["put"];
    let (said, body) = (put["description"].as_str().unwrap(), &put["requestBody"]);
    assert!(said.contains("10,000 cards") && agent_card::CARDS_MAX == 10_000);
    assert!(body["description"].as_str().unwrap().contains("1 MiB"));
    assert_eq!(agent_card::BYTES_MAX, 1 << 20);
}

#[test]
fn the_example_is_what_is_said() {
    let example = &document()["paths"]["/api/v1/agent-cards/validate"]["post"]["responses"];
    let card = r#"{"protocolVersion":"1.0","name":1,"description":"d","url":"a:b","version":"1"}"#;
    let report = CardReport::new(card::check(card.as_bytes()), None);
    let written = &example["200"]["content"]["application/json"]["example"];
    assert_eq!(serde_json::to_value(&report).unwrap(), *written);
    let empty = CardReport::new(card::check(b""), None);
    let written = &example["400"]["content"]["application/problem+json"]["example"]["report"];
    assert_eq!(serde_json::to_value(&empty).unwrap(), *written);
}
