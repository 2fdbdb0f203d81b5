//! What tools say of themselves is true: every schema is one, and every output is as its schema has it.

use std::fs;
use std::path::Path;

use jsonschema::draft202012;
use serde_json::{Value, json};
use svc::domain::slo::Health;

use super::service::Service;
use super::{call, request};

/// A tool that fails by its nature gives a text and nothing else.
const REVISIONS: [(&str, bool); 5] = [
    ("2024-10-07", false),
    ("2024-11-05", false),
    ("2025-03-26", false),
    ("2025-06-18", true),
    ("2025-11-25", true),
];

fn tools(service: &Service, session: &str) -> Vec<Value> {
    let list = service.ask(&service.within(session, &request(1, "tools/list", &json!({})))).json();
    list["result"]["tools"].as_array().unwrap().clone()
}

/// Texts of cards: good ones, and as many kinds of bad ones as there are files of them.
fn cards() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cards");
    let mut cards = vec![];
    for folder in ["files", "files/.well-known", "regressions", "said"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                cards.extend(fs::read_to_string(path));
            }
        }
    }
    assert!(cards.len() > 10, "the folder is read");
    let many: Vec<Value> = (0..200).map(|number| json!({"id": number})).collect();
    let wide = json!({"protocolVersion": "1.0", "name": 5, "skills": many}).to_string();
    let made =
        ["x", "{", "null", "[]", "5", "{}", "{\"name\":\"a\",\"name\":\"b\"}", "\u{feff}{}", &wide];
    cards.extend(made.map(ToOwned::to_owned));
    cards
}

/// Calls to try a tool with.
fn examples(tool: &str) -> Vec<Value> {
    match tool {
        "validate_agent_card" => cards().into_iter().map(|card| json!({"card": card})).collect(),
        "service_status" => vec![json!({})],
        _ => panic!("{tool} has an output schema, and no test tries it"),
    }
}

#[test]
fn every_schema_that_is_listed_is_one_of_2020_12_and_describes_an_object() {
    let service = Service::modern(&[]);
    let answer = service.ask(&service.standalone(1, "tools/list", json!({})));
    let mut lists = vec![answer.json()["result"]["tools"].as_array().unwrap().clone()];
    for (revision, _) in REVISIONS {
        lists.push(tools(&service, &service.begin(revision)));
    }
    for tool in lists.iter().flatten() {
        let name = tool["name"].as_str().unwrap();
        assert!(
            name.len() <= 64
                && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"_.-".contains(&it))
        );
        for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
            if schema.is_null() {
                continue;
            }
            let checked = draft202012::meta::validate(schema);
            assert!(checked.is_ok(), "{name}: {:?}", checked.err().map(|it| it.to_string()));
            assert_eq!(schema["type"], "object", "{name}: {schema}");
            // Nothing is to be fetched for it.
            assert!(!schema.to_string().contains("\"$ref\":\"http"), "{name}: {schema}");
        }
        assert!(tool["inputSchema"].is_object(), "{name}");
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{name}: {tool}");
        }
    }
}

#[test]
fn every_output_is_as_its_schema_has_it() {
    let service = Service::start(&[]);
    let session = service.begin("2025-11-25");
    let with_output: Vec<Value> = tools(&service, &session)
        .into_iter()
        .filter(|it| it.get("outputSchema").is_some())
        .collect();
    assert_eq!(with_output.len(), 2);
    let mut findings = Vec::new();
    for tool in with_output {
        let name = tool["name"].as_str().unwrap();
        let schema = draft202012::new(&tool["outputSchema"]).unwrap();
        for arguments in examples(name) {
            let answer = service.ask(&service.within(&session, &call(1, name, &arguments))).json();
            let result = &answer["result"];
            assert!(result.get("isError").is_none(), "{name}: {answer}");
            let output = &result["structuredContent"];
            let faults: Vec<String> = schema.iter_errors(output).map(|it| it.to_string()).collect();
            assert!(faults.is_empty(), "{name}: {faults:?}: {output}");
            let text = result["content"][0]["text"].as_str().unwrap();
            assert_eq!(
                serde_json::from_str::<Value>(text).unwrap(),
                *output,
                "the text is the same"
            );
            findings.push(output["findings"].as_array().map(Vec::len));
        }
        // A member that no schema knows would be a fault.
        assert!(!schema.is_valid(&json!({})));
    }
    assert!(findings.contains(&Some(0)) && findings.contains(&Some(100)), "{findings:?}");
}

#[test]
fn structured_content_is_of_the_revisions_that_have_it() {
    let service = Service::start(&[]);
    for (revision, is_structured) in REVISIONS {
        let session = service.begin(revision);
        let tool = tools(&service, &session).into_iter().find(|it| it["name"] == "service_status");
        assert_eq!(tool.unwrap().get("outputSchema").is_some(), is_structured, "{revision}");
        let answer = service.ask(&service.within(&session, &call(1, "service_status", &json!({}))));
        let result = &answer.json()["result"];
        assert_eq!(result.get("structuredContent").is_some(), is_structured, "{revision}");
        assert!(result["content"][0]["text"].as_str().unwrap().contains("\"status\""), "{result}");
    }
}

#[test]
fn a_status_may_have_every_word_that_health_has() {
    let service = Service::start(&[]);
    let session = service.begin("2025-11-25");
    let tool = tools(&service, &session).into_iter().find(|it| it["name"] == "service_status");
    let schema = draft202012::new(&tool.unwrap()["outputSchema"]).unwrap();
    let answer = service.ask(&service.within(&session, &call(1, "service_status", &json!({}))));
    let mut status = answer.json()["result"]["structuredContent"].clone();
    let words = Health::ALL.iter().map(|health| json!(health.as_str()));
    for word in words.chain([Value::Null]) {
        status["sloHealth"] = word;
        assert!(schema.is_valid(&status), "{status}");
    }
    for word in ["ready", "not_ready"] {
        status["status"] = word.into();
        assert!(schema.is_valid(&status), "{status}");
    }
    status["tenant"] = json!("x");
    assert!(!schema.is_valid(&status), "a member that the schema does not have");
}
