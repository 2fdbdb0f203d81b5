//! `docs/openapi.json` is written by hand and held to the code: the same routes on the same surfaces,
//! the same field names, the same stable words, and examples that are what they are examples of.

pub(crate) mod answers;
mod cards;
mod lists;
mod mcp;
mod relay;
mod schemas;

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value, json};
use svc::api;
use svc::domain::dead_letter::{
    DeadLetterReason, ErrorClass, FailureCause, ItemType, ReplayClass, Resolution,
};
use svc::domain::event::{Action, InstallationState};
use svc::domain::outbox::EffectKind;
use svc::domain::release::Decision;
use svc::domain::slo::{Gate, Health, Severity, Side, Signal, SignalState, Unit};
use svc::domain::time::Timestamp;
use svc::http::routes;

/// The only place of outcomes, read as text because only this test needs them as a list.
const PROBLEMS: &str = include_str!("../../src/http/error.rs");

fn document() -> Value {
    serde_json::from_str(include_str!("../../docs/openapi.json")).unwrap()
}

/// Says whether a value fits a schema of the document, as JSON Schema has it.
fn fits(document: &Value, schema: &Value, value: &Value) -> bool {
    let mut whole = json!({ "components": document["components"] });
    whole.as_object_mut().unwrap().extend(schema.as_object().unwrap().clone());
    let options = jsonschema::draft202012::options().should_validate_formats(true);
    options.build(&whole).unwrap().is_valid(value)
}

fn operations(document: &Value) -> impl Iterator<Item = (&String, &String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    paths.iter().flat_map(|(path, methods)| {
        methods
            .as_object()
            .unwrap()
            .iter()
            .map(move |(method, operation)| (path, method, operation))
    })
}

fn strings(list: &Value) -> BTreeSet<&str> {
    list.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

#[test]
fn the_document_has_the_routes_of_the_table_and_no_others() {
    let document = document();
    let written: BTreeSet<_> = operations(&document)
        .map(|(path, method, operation)| {
            let surfaces = strings(&operation["x-surfaces"]);
            (path.clone(), method.to_uppercase(), surfaces)
        })
        .collect();
    let served: BTreeSet<_> = routes::listing()
        // No build that is installed has the fixture.
        .filter(|(_, _, path)| !path.starts_with("/fixture/"))
        .map(|(surfaces, method, path)| {
            let surfaces = surfaces.iter().map(|surface| surface.as_str()).collect();
            (path.to_owned(), method.to_string(), surfaces)
        })
        .collect();
    assert_eq!(written, served);
}

#[test]
fn only_operators_need_the_token() {
    for (path, method, operation) in operations(&document()) {
        let expected = match path.as_str() {
            "/api/v1/agent-cards/{name}" if method != "get" => {
                json!([{ "operatorToken": [] }])
            }
            path if path.starts_with("/api/v1/operator/") => json!([{ "operatorToken": [] }]),
            "/webhooks/forge" => json!([{ "forgeSignature": [] }]),
            // Where no issuer is configured, no client needs a token.
            "/mcp" | "/relay/v1/pairings/claim" => json!([{ "mcpToken": [] }, {}]),
            path if path.ends_with("/result") => {
                json!([{ "runToken": [] }, { "runSignature": [] }])
            }
            _ => json!([]),
        };
        assert_eq!(operation["security"], expected, "{path}");
    }
}

#[test]
fn every_operation_lists_what_any_request_may_be_answered() {
    for (path, method, operation) in operations(&document()) {
        let listed: Vec<_> = operation["responses"].as_object().unwrap().keys().collect();
        let has = |status: &str| listed.iter().any(|listed| *listed == status);
        let case = format!("{method} {path}: {listed:?}");
        assert!(!has("default"), "{case}");
        // 101 is the success of a WebSocket.
        assert!(listed.iter().any(|status| status.starts_with('2') || *status == "101"), "{case}");
        assert!(["400", "405", "413", "500", "503"].into_iter().all(has), "{case}");
        // The socket takes bodies without a length.
        let is_over_tcp = operation["x-surfaces"] != json!(["control"]);
        assert_eq!(has("411"), is_over_tcp, "{case}");
        assert!(operation.get("requestBody").is_none() || has("408"), "{case}");
        let schemes = operation["security"].as_array().unwrap();
        assert_eq!(has("401"), !schemes.is_empty(), "{case}");
    }
}

#[test]
fn path_parameters_are_those_of_the_path() {
    let document = document();
    for (path, _, operation) in operations(&document) {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let named: Vec<_> = parameters
            .map(|parameter| resolved(&document, parameter))
            .filter(|parameter| parameter["in"] == "path")
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        let variables =
            path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        assert_eq!(named, variables.collect::<Vec<_>>(), "{path}");
    }
}

#[test]
fn schemas_have_the_fields_of_the_api() {
    let checks = Fields { document: document(), seen: BTreeSet::new() };
    let text = || Some("2026-11-21T09:30:00.000000Z".to_owned());
    let matching = api::MatchingIds { ids: Vec::new(), has_more: false };
    let page = |next_before| api::PageBody { items: vec![dead_letter(None)], next_before };
    let installation = |account| api::Installation {
        installation_id: 1.try_into().unwrap(),
        account,
        state: Cow::Borrowed("active"),
        paused_until: Some(time()),
    };
    let installations = |next_after| api::PageAfter { items: vec![installation(None)], next_after };
    let applied = |outcome| api::AppliedBody {
        outcome: Cow::Borrowed(outcome),
        audit_event_id: "0198c0de-0000-7000-8000-0000000000a1".parse().unwrap(),
    };
    let why = api::CloseBody { reason: "not needed".to_owned() };
    let intake = api::Intake { outcome: Cow::Borrowed("ignored") };
    let problem = |detail, replay_class, report| api::Problem {
        kind: "urn:svc:problem:not_replayable".to_owned(),
        title: Cow::Borrowed("The item must not be replayed"),
        status: 409,
        outcome: Cow::Borrowed("not_replayable"),
        detail,
        replay_class,
        report,
    };
    let receipt = api::ResultReceipt {
        outcome: Cow::Borrowed("recorded"),
        release_run_id: "0198c0de-0000-7000-8000-000000000011".to_owned(),
        attempt_id: "0198c0de-0000-7000-8000-000000000012".to_owned(),
    };
    let report = Some(Box::new(cards::report(true)));
    let live = api::Liveness { status: "live".into() };
    sums(relay::hold(cards::hold(lists::hold(checks))))
        .hold("DeadLetter", &dead_letter(text()), &dead_letter(None))
        .hold("DeadLetterDetail", &detail(text()), &detail(None))
        .hold("DeadLetterEvent", &event(true), &event(false))
        .hold("DeadLetterPage", &page(text()), &page(None))
        .hold("MatchingIds", &matching, &matching)
        .hold("Installation", &installation(text()), &installation(None))
        .hold("InstallationPage", &installations(text()), &installations(None))
        .hold("Replayed", &applied("replayed"), &applied("replayed"))
        .hold("Closed", &applied("closed"), &applied("already_applied"))
        .hold("CloseRequest", &why, &why)
        .hold("Reloaded", &reloaded(), &reloaded())
        .hold("Readiness", &readiness(Some(time())), &readiness(None))
        .hold("Intake", &intake, &intake)
        .hold("Slo", &slo(Some(time())), &slo(None))
        .hold("SloSignal", &slo_signal(Some(time())), &slo_signal(None))
        .hold("SloGate", &slo_gate(Some(1)), &slo_gate(None))
        .hold(
            "Problem",
            &problem(text(), Some("not_dead".into()), report),
            &problem(None, None, None),
        )
        .hold("Liveness", &live, &live)
        .hold("ResultReceipt", &receipt, &receipt)
        .hold("ProtectedResource", &protected_resource(), &protected_resource())
        .hold("McpStatus", &mcp::status(true), &mcp::status(false))
        .hold("ReleaseResult", &result(true), &result(false))
        .were_all();
}

fn dead_letter(repository: Option<String>) -> api::DeadLetter {
    api::DeadLetter {
        item_type: Cow::Borrowed("job"),
        item_id: "0198c0de-0000-7000-8000-000000000001".to_owned(),
        repository,
        reason_code: Cow::Borrowed("job_failed"),
        error_class: Cow::Borrowed("state"),
        cause: Some(Cow::Borrowed("refused")),
        attempt_count: 1,
        failed_at: time(),
        replay_safe: true,
        replay_class: Cow::Borrowed("job_transaction"),
        effect_kind: Some(Cow::Borrowed("workflow_dispatch")),
        release_run_id: Some("0198c0de-0000-7000-8000-000000000011".parse().unwrap()),
    }
}

fn event(full: bool) -> api::DeadLetterEvent {
    api::DeadLetterEvent {
        event: Cow::Borrowed("closed"),
        at: time(),
        reason_code: full.then(|| "job_failed".to_owned()),
        attempt_count: full.then_some(1),
        actor: full.then(|| "ops:me".to_owned()),
        reason: full.then(|| "not needed".to_owned()),
        audit_event_id: full.then(|| "0198c0de-0000-7000-8000-0000000000a1".parse().unwrap()),
    }
}

fn detail(repository: Option<String>) -> api::DeadLetterDetail {
    api::DeadLetterDetail {
        job_action: repository.as_ref().map(|_| "release".to_owned()),
        attempt_id: repository
            .as_ref()
            .map(|_| "0198c0de-0000-7000-8000-000000000012".parse().unwrap()),
        attempt_number: repository.as_ref().map(|_| 1),
        git_ref: repository.as_ref().map(|_| "refs/tags/v1".to_owned()),
        status: repository.as_ref().map(|_| "dead_letter".to_owned()),
        allowed: vec![Cow::Borrowed("replay"), Cow::Borrowed("close")],
        history: vec![event(false)],
        dead_letter: dead_letter(repository),
    }
}

fn protected_resource() -> api::ProtectedResource {
    api::ProtectedResource {
        resource: "https://svc.example/mcp".to_owned(),
        authorization_servers: vec!["https://issuer.example".to_owned()],
        scopes_supported: vec![Cow::Borrowed("mcp:read")],
        bearer_methods_supported: vec![Cow::Borrowed("header")],
    }
}

fn reloaded() -> api::Reloaded {
    api::Reloaded {
        changed: vec![Cow::Borrowed("SVC_OPERATOR_API_TOKEN")],
        unchanged: vec![Cow::Borrowed("SVC_WEBHOOK_SECRET")],
    }
}

/// An instant, whichever.
fn time() -> Timestamp {
    Timestamp::from_micros(1_795_253_400_000_000)
}

fn slo(time: Option<Timestamp>) -> api::Slo {
    api::Slo {
        policy_version: Cow::Borrowed("forge-cloud-ga-v1"),
        health: Cow::Borrowed("unknown"),
        evaluated_at: time,
        signals: vec![slo_signal(None)],
    }
}

fn slo_signal(time: Option<Timestamp>) -> api::SloSignal {
    api::SloSignal {
        name: Cow::Borrowed("disk_free"),
        meaning: Cow::Borrowed("what is measured"),
        severity: Cow::Borrowed("critical"),
        gate: slo_gate(None),
        state: Cow::Borrowed("inactive"),
        value: time.as_ref().map(|_| 1),
        since: time,
        unit: Cow::Borrowed("bytes"),
        bad_side: Cow::Borrowed("low"),
        threshold: 1,
        healthy_value: 2,
        owner: Cow::Borrowed("platform"),
        next_check: Cow::Borrowed("what to look at"),
    }
}

fn slo_gate(count: Option<u32>) -> api::SloGate {
    let kind = Cow::Borrowed("consecutive_snapshots");
    api::SloGate { kind, seconds: count.map(u64::from), snapshots: count }
}

/// A result, which only workflow runs write; it must be one that is read.
fn result(with_artifact: bool) -> Value {
    let mut body = json!({
        "version": 1,
        "decision": if with_artifact { "accepted" } else { "rejected" },
        "headCommit": "a".repeat(40),
        "findings": {"critical": 0, "high": 1, "medium": 2, "low": 3},
    });
    if with_artifact {
        body["artifact"] = json!({"digest": format!("sha256:{}", "0".repeat(64))});
    }
    assert!(svc::forge::result::read(&body.to_string()).is_ok(), "{body}");
    body
}

fn readiness(time: Option<Timestamp>) -> api::Readiness {
    api::Readiness {
        status: Cow::Borrowed("ready"),
        reconciliation_configuration_valid: true,
        last_workflow_reconciliation_poll_at: time,
        last_successful_workflow_reconciliation_at: time,
        last_check_run_reconciliation_poll_at: time,
        last_successful_check_run_reconciliation_at: time,
        last_lifecycle_reconciliation_poll_at: time,
        last_successful_lifecycle_reconciliation_at: time,
        store: Cow::Borrowed("ok"),
        schema_version: 1,
        draining: false,
        slo_health: Some(Cow::Borrowed("healthy")),
        slo_active_signals: vec![Cow::Borrowed("disk_free")],
    }
}

#[test]
fn stable_words_are_those_of_the_code() {
    let document = document();
    let words = |schema: &str, field: &str, keyword: &str| -> BTreeSet<String> {
        let schema = flattened(&document, &document["components"]["schemas"][schema]);
        strings(&schema["properties"][field][keyword]).into_iter().map(str::to_owned).collect()
    };
    let set = |words: &mut dyn Iterator<Item = &'static str>| -> BTreeSet<String> {
        words.map(str::to_owned).collect()
    };
    let open = "x-extensible-enum";
    let reasons = set(&mut DeadLetterReason::ALL.iter().map(|word| word.as_str()));
    assert_eq!(words("DeadLetter", "reasonCode", open), reasons);
    let classes = set(&mut ErrorClass::ALL.iter().map(|word| word.as_str()));
    assert_eq!(words("DeadLetter", "errorClass", open), classes);
    let causes = set(&mut FailureCause::ALL.iter().map(|word| word.as_str()));
    assert_eq!(words("DeadLetter", "cause", open), causes);
    let replay = set(&mut ReplayClass::ALL.iter().map(|word| word.as_str()));
    assert_eq!(words("DeadLetterDetail", "replayClass", open), replay);
    let actions = set(&mut Action::WORDS.into_iter());
    assert_eq!(words("DeadLetterDetail", "jobAction", open), actions);
    let kinds = set(&mut EffectKind::ALL.iter().map(|word| word.as_str()));
    assert_eq!(words("DeadLetter", "effectKind", open), kinds);
    let resolutions = Resolution::ALL.iter().map(|word| word.as_str());
    let events = set(&mut ["died"].into_iter().chain(resolutions));
    assert_eq!(words("DeadLetterEvent", "event", open), events);
    assert_eq!(words("ReleaseStep", "step", open), set(&mut api::ReleaseStep::CODES.into_iter()));
    let types = set(&mut ItemType::ALL.iter().map(|word| word.as_str()));
    assert_eq!(words("DeadLetter", "itemType", "enum"), types);
    let states = set(&mut InstallationState::ALL.iter().map(|word| word.as_str()));
    assert_eq!(words("Installation", "state", "enum"), states);
    let signals = set(&mut Signal::ALL.iter().map(|word| word.as_str()));
    assert_eq!(words("SloSignal", "name", open), signals);
    for (field, of_code) in [
        ("severity", set(&mut Severity::ALL.iter().map(|word| word.as_str()))),
        ("state", set(&mut SignalState::ALL.iter().map(|word| word.as_str()))),
        ("unit", set(&mut Unit::ALL.iter().map(|word| word.as_str()))),
        ("badSide", set(&mut Side::ALL.iter().map(|word| word.as_str()))),
    ] {
        assert_eq!(words("SloSignal", field, "enum"), of_code);
    }
    assert_eq!(words("SloGate", "kind", "enum"), set(&mut Gate::KINDS.into_iter()));
    let health = set(&mut Health::ALL.iter().map(|word| word.as_str()).chain(["unknown"]));
    assert_eq!(words("Slo", "health", "enum"), health);
    let decisions = set(&mut Decision::ALL.iter().map(|word| word.as_str()));
    assert_eq!(words("ReleaseResult", "decision", "enum"), decisions);
    let unsafe_classes = ReplayClass::ALL.iter().filter(|class| !class.is_safe());
    let refused = set(&mut unsafe_classes.map(|class| class.as_str()).chain([
        "not_dead",
        "closed",
        "died_again",
        "unknown",
    ]));
    assert_eq!(words("Problem", "replayClass", "enum"), refused);
}

#[test]
fn the_closed_set_of_outcomes_is_that_of_the_code() {
    // Each is declared as `("word", StatusCode::NAME, "Title")`, on one line or on four.
    let code = PROBLEMS.split_whitespace().collect::<Vec<_>>().join(" ").replace("( ", "(");
    let declared: BTreeSet<&str> = code
        .split("(\"")
        .skip(1)
        .filter_map(|rest| rest.split_once('"'))
        .filter(|(_, rest)| rest.starts_with(", StatusCode::"))
        .map(|(word, _)| word)
        .collect();
    let document = document();
    let problem = &document["components"]["schemas"]["Problem"]["properties"];
    assert_eq!(strings(&problem["outcome"]["enum"]), declared);
}

#[test]
fn every_reference_leads_somewhere_and_every_example_is_one() {
    let document = document();
    let mut count = 0;
    walk(&document, &mut |node| {
        if node.contains_key("$ref") {
            resolved(&document, &Value::Object(node.clone()));
        }
        if let (Some(schema), Some(example)) = (node.get("schema"), node.get("example")) {
            check(&document, schema, example);
            count += 1;
        }
    });
    assert!(count > 15, "only {count} examples were found");
}

/// Holds the schemas of counts and sums to their shapes.
fn sums(checks: Fields) -> Fields {
    let name = || Some("job_failed".to_owned());
    checks
        .hold("DeadLetterSummary", &summary(Some(time())), &summary(None))
        .hold("DeadLetterCount", &dead_letter_count(name()), &dead_letter_count(None))
        .hold("ServiceStatus", &status(Some(time())), &status(None))
        .hold("StatusBacklog", &backlog(Some(time())), &backlog(None))
        .hold("BacklogQueue", &queue(Some(time())), &queue(None))
        .hold("ForgeStatus", &forge(Some(time())), &forge(None))
}

fn status(at: Option<Timestamp>) -> api::ServiceStatus {
    api::ServiceStatus {
        readiness: readiness(at),
        version: "0.1.0".into(),
        store_id: at.map(|_| "0198c0de-0000-4000-a000-0000000000a1".to_owned()),
        started_at: time(),
        backlog: at.map(|at| backlog(Some(at))),
        forge: at.map(|at| forge(Some(at))),
    }
}

fn backlog(at: Option<Timestamp>) -> api::StatusBacklog {
    api::StatusBacklog {
        webhooks: queue(at),
        jobs: queue(at),
        outbox: queue(at),
        reconciliation_items: queue(at),
        reconciliation_items_given_up: queue(at),
        dead_letters: queue(at),
        dead_letters_replay_safe: 1,
        installations_paused: 1,
    }
}

const fn queue(oldest_at: Option<Timestamp>) -> api::BacklogQueue {
    api::BacklogQueue { count: 1, oldest_at }
}

fn forge(at: Option<Timestamp>) -> api::ForgeStatus {
    api::ForgeStatus {
        last_answer_at: at,
        last_failure_at: at,
        last_failure_cause: at.map(|_| "refused".into()),
        paused: true,
    }
}

fn summary(oldest_failed_at: Option<Timestamp>) -> api::DeadLetterSummary {
    api::DeadLetterSummary {
        count: 1,
        replay_safe_count: 1,
        oldest_failed_at,
        truncated: false,
        reasons: vec![dead_letter_count(Some("job_failed".to_owned()))],
        repositories: vec![dead_letter_count(None)],
        repository_count: 1,
        replay_classes: Vec::new(),
    }
}

fn dead_letter_count(name: Option<String>) -> api::DeadLetterCount {
    api::DeadLetterCount { name, count: 1, replay_safe_count: 1, oldest_failed_at: time() }
}

/// Compares schemas with values.
struct Fields {
    document: Value,
    seen: BTreeSet<String>,
}

impl Fields {
    /// Holds a schema to a value with everything set, and one with as little as there can be.
    fn hold<T: Serialize>(mut self, name: &str, full: &T, bare: &T) -> Self {
        let [full, bare] = [full, bare].map(|value| serde_json::to_value(value).unwrap());
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect();
        let named = &self.document["components"]["schemas"][name];
        let schema = flattened(&self.document, named);
        let fields: BTreeSet<String> = keys(&full);
        assert_eq!(fields, keys(&schema["properties"]), "fields of {name}");
        let always: BTreeSet<String> = keys(&bare);
        let required = strings(&schema["required"]).into_iter().map(str::to_owned).collect();
        assert_eq!(always, required, "required fields of {name}");
        check(&self.document, named, &full);
        check(&self.document, named, &bare);
        self.seen.insert(name.to_owned());
        self
    }

    /// Refuses schemas that were held to nothing.
    fn were_all(&self) {
        let schemas = self.document["components"]["schemas"].as_object().unwrap();
        assert_eq!(self.seen, schemas.keys().cloned().collect());
    }
}

/// Follows a reference, if it is one.
fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let Some(reference) = value.get("$ref") else { return value };
    let pointer = reference.as_str().unwrap().strip_prefix('#').unwrap();
    document.pointer(pointer).unwrap_or_else(|| panic!("{pointer} leads nowhere"))
}

/// Returns a schema with the parts of its `allOf` in one.
fn flattened(document: &Value, schema: &Value) -> Value {
    let schema = resolved(document, schema);
    let Some(parts) = schema.get("allOf") else { return schema.clone() };
    let mut properties = Map::new();
    let mut required = Vec::new();
    for part in parts.as_array().unwrap() {
        let part = flattened(document, part);
        properties.extend(part["properties"].as_object().unwrap().clone());
        required.extend(part["required"].as_array().unwrap().clone());
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

/// Checks a value: JSON Schema takes it, its words are known ones, and there is no unknown field. Where a schema leaves
/// the type open, JSON Schema alone decides.
fn check(document: &Value, schema: &Value, value: &Value) {
    assert!(fits(document, schema, value), "{value} does not fit {schema}");
    check_words_and_fields(document, schema, value);
}

fn check_words_and_fields(document: &Value, schema: &Value, value: &Value) {
    let schema = flattened(document, schema);
    if schema.get("type").is_none() {
        let nullable = schema["anyOf"].as_array().filter(|_| !value.is_null());
        return nullable.map_or((), |parts| check_words_and_fields(document, &parts[0], value));
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let kinds = &schema["type"];
    assert!(kinds == kind || kinds.as_array().is_some_and(|all| all.contains(&json!(kind))));
    let words = schema["enum"].as_array().or_else(|| schema["x-extensible-enum"].as_array());
    // Whether it may be null is up to its type.
    let is_word = |words: &Vec<Value>| value.is_null() || words.contains(value);
    assert!(words.is_none_or(is_word), "{value} is none of {words:?}");
    for item in value.as_array().into_iter().flatten() {
        check_words_and_fields(document, &schema["items"], item);
    }
    let Some(fields) = value.as_object() else { return };
    for (name, field) in fields {
        let schema = schema["properties"].get(name);
        let schema = schema.unwrap_or_else(|| panic!("{name} is not in the schema"));
        check_words_and_fields(document, schema, field);
    }
    for name in strings(&schema["required"]) {
        assert!(fields.contains_key(name), "{name} is missing");
    }
}

/// Visits every object.
fn walk(value: &Value, visit: &mut dyn FnMut(&Map<String, Value>)) {
    match value {
        Value::Object(fields) => {
            visit(fields);
            fields.values().for_each(|field| walk(field, visit));
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, visit)),
        _ => {}
    }
}
