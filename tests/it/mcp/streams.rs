//! Streams of the legacy era: what a request says before its result, what a session hears, and how a client comes back.

use serde_json::{Value, json};

use super::service::{Service, assert_refused};
use super::wire::EventStream;
use super::{call, initialize, request};
use crate::daemon::ask::Ask;
use crate::daemon::wait_for;

const PROGRESS: &str = "test_tool_with_progress";

fn progress(id: i64) -> Value {
    let params = json!({"name": PROGRESS, "_meta": {"progressToken": "token"}});
    request(id, "tools/call", &params)
}

fn standalone(service: &Service, session: &str) -> Ask {
    service.to_mcp("GET").header("Mcp-Session-Id", session)
}

fn text(message: &Value) -> &str {
    message["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{message}"))
}

/// Has every list announced that it changed.
fn announce(service: &Service, session: &str) {
    let call = call(1, "test_trigger_tool_change", &json!({}));
    assert_eq!(service.ask(&service.within(session, &call)).status, 200);
}

#[test]
fn progress_is_told_to_whom_asks_for_it_before_the_result() {
    let service = Service::start(&[]);
    for (revision, resumes) in [("2024-11-05", false), ("2025-06-18", false), ("2025-11-25", true)]
    {
        let session = service.begin(revision);
        let mut stream = service.open(&service.within(&session, &progress(7)));
        for header in ["mcp-session-id", "content-length"] {
            assert_eq!(stream.header(header), "");
        }
        assert_eq!(stream.header("x-accel-buffering"), "no");
        assert!(stream.header("cache-control").contains("no-transform"));
        let mut events = Vec::new();
        while let Some(event) = stream.next() {
            events.push(event);
        }
        assert_eq!(events[0].is_priming(), resumes, "older clients fail at an empty event");
        assert_eq!(events[0].retry.is_some(), resumes);
        assert!(events.iter().all(|event| event.id.is_some() == resumes), "{events:?}");
        let messages: Vec<Value> =
            events.iter().filter(|it| !it.is_priming()).map(super::wire::Event::message).collect();
        let told: Vec<Value> = messages[..3].iter().map(|it| it["params"].clone()).collect();
        let wanted = [0, 50, 100].map(|done| {
            let mut params = json!({"progressToken": "token", "progress": done, "total": 100});
            // The oldest revision has no words for it.
            if revision != "2024-11-05" {
                params["message"] = "working".into();
            }
            params
        });
        assert_eq!(told, wanted);
        assert_eq!((&messages[3]["id"], text(&messages[3])), (&json!(7), "done"));
        assert_eq!(messages.len(), 4);
        let quiet = service.open(&service.within(&session, &call(8, PROGRESS, &json!({}))));
        assert_eq!(quiet.rest().len(), 1, "nothing but the result");
    }
}

#[test]
fn an_answer_has_a_form_that_its_client_takes() {
    let service = Service::start(&[]);
    let session = service.begin("2025-06-18");
    let accepting = |message: &Value, accept: &str| {
        service.within(&session, message).without("Accept").header("Accept", accept)
    };
    let ping = request(1, "ping", &json!({}));
    for accept in ["application/json", "application/*", "*/*", "text/html, */*;q=0.1"] {
        let answer = service.ask(&accepting(&ping, accept));
        assert_eq!(answer.header("content-type"), "application/json", "{accept}");
    }
    assert_eq!(service.ask(&service.within(&session, &ping).without("Accept")).status, 200);
    let answer = service.ask(&accepting(&ping, "text/event-stream"));
    assert_eq!(answer.header("content-type"), "text/event-stream");
    assert_eq!(answer.text(), "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n");
    let list = service.ask(&accepting(&request(1, "tools/list", &json!({})), "text/event-stream"));
    assert!(list.text().starts_with("data: {") && list.text().ends_with("}\n\n"));
    // A client that takes no events hears the result alone.
    let answer = service.ask(&accepting(&progress(7), "application/json"));
    assert_eq!((answer.status, text(&answer.json())), (200, "done"));
}

#[test]
fn a_client_is_asked_and_its_answer_goes_to_the_call_that_asked() {
    let service = Service::start(&[]);
    let [session, other] = [0; 2].map(|_| service.begin("2025-11-25"));
    let ask = |id: i64, prompt: &str| {
        let call = call(id, "test_sampling", &json!({"prompt": prompt}));
        let mut stream = service.open(&service.within(&session, &call));
        let question = stream.message();
        assert_eq!(question["method"], "sampling/createMessage", "{question}");
        assert_eq!(question["params"]["messages"][0]["content"]["text"], prompt);
        (stream, question["id"].clone())
    };
    // One id for all of them, which only the client has to tell apart.
    let asked: Vec<_> = ["one", "two", "three"].map(|prompt| (ask(1, prompt), prompt)).into();
    let respond = |session: &str, id: &Value, text: &str| {
        let result = json!({"role": "assistant", "content": {"type": "text", "text": text}});
        let message = json!({"jsonrpc": "2.0", "id": id, "result": result});
        assert_eq!(service.ask(&service.within(session, &message)).status, 202);
    };
    for ((_, id), _) in &asked {
        respond(&other, id, "from another session");
    }
    for ((mut stream, id), prompt) in asked.into_iter().rev() {
        respond(&session, &id, prompt);
        respond(&session, &id, "too late");
        assert_eq!(text(&stream.message()), format!("LLM response: {prompt}"));
        assert_eq!(stream.next(), None);
    }
}

#[test]
fn a_cancelled_request_ends_without_an_answer_and_no_other_does() {
    let service = Service::start(&[]);
    let [session, other] = [0; 2].map(|_| service.begin("2025-11-25"));
    let open = |id: Value| {
        let mut stream = service
            .open(&service.within(&session, &call(id, "test_sampling", &json!({"prompt": "x"}))));
        let question = stream.message();
        (stream, question)
    };
    let (mut cancelled, _) = open(json!("7"));
    let (mut kept, question) = open(json!(7));
    let cancel = |session: &str, id: Value| {
        let params = json!({"requestId": id, "reason": "none"});
        let message =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        assert_eq!(service.ask(&service.within(session, &message)).status, 202);
    };
    cancel(&other, json!("7"));
    cancel(&session, json!("8"));
    cancel(&session, json!("7"));
    assert_eq!(cancelled.next(), None, "an id is a number or a text, and not both");
    let result = json!({"content": {"type": "text", "text": "kept"}});
    let message = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
    assert_eq!(service.ask(&service.within(&session, &message)).status, 202);
    assert_eq!(text(&kept.message()), "LLM response: kept");
}

#[test]
fn the_stream_of_a_session_is_kept_alive_and_hears_what_changed() {
    let service = Service::start(&[]);
    let session = service.begin("2025-06-18");
    let mut stream = service.open(&standalone(&service, &session));
    let comment = stream.next_of_any_kind().unwrap();
    assert_eq!(comment, super::wire::Event::default(), "a comment, and no event before it");
    announce(&service, &session);
    let told =
        json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {}});
    assert_eq!(stream.message(), told);
}

#[test]
fn the_newest_stream_of_a_session_replaces_the_one_before() {
    let service = Service::start(&[]);
    let session = service.begin("2025-11-25");
    let call = call(1, "test_sampling", &json!({"prompt": "x"}));
    let mut under_way = service.open(&service.within(&session, &call));
    let question = under_way.message();
    let mut older = service.open(&standalone(&service, &session));
    assert!(older.next().unwrap().is_priming());
    let mut newer = service.open(&standalone(&service, &session));
    assert!(newer.next().unwrap().is_priming());
    assert_eq!(older.next(), None);
    announce(&service, &session);
    assert_eq!(newer.message()["method"], "notifications/tools/list_changed");
    // Calls are not tied to it.
    let message = json!({"jsonrpc": "2.0", "id": question["id"], "result": {}});
    assert_eq!(service.ask(&service.within(&session, &message)).status, 202);
    assert_eq!(under_way.message()["id"], 1);
}

#[test]
fn a_client_comes_back_to_a_stream_that_broke_and_hears_the_rest_once() {
    let service = Service::start(&[]);
    let [session, other] = [0; 2].map(|_| service.begin("2025-11-25"));
    let resume = |session: &str, event_id: &str| {
        service.open(&standalone(&service, session).header("Last-Event-ID", event_id))
    };
    // The server lets go of the client.
    let reconnection = call(7, "test_reconnection", &json!({}));
    let mut stream = service.open(&service.within(&session, &reconnection));
    let priming = stream.next().unwrap();
    assert!(priming.is_priming() && priming.retry.is_some(), "{priming:?}");
    assert_eq!(stream.next(), None);
    let event_id = priming.id.unwrap();
    let mut foreign = resume(&other, &event_id);
    assert!(foreign.next().unwrap().is_priming(), "a stream of its own session");
    let rest = resume(&session, &event_id).rest();
    assert_eq!((rest.len(), &rest[0]["id"], text(&rest[0])), (1, &json!(7), "reconnected"));
    announce(&service, &other);
    assert_eq!(foreign.message()["method"], "notifications/tools/list_changed");
    // The client goes, which cancels nothing.
    let mut stream = service.open(&service.within(&session, &progress(8)));
    let (first, second) = (stream.next().unwrap(), stream.next().unwrap());
    assert!(first.is_priming() && second.message()["params"]["progress"] == 0);
    drop(stream);
    let rest = resume(&session, &second.id.unwrap()).rest();
    let told: Vec<&Value> = rest.iter().map(|it| &it["params"]["progress"]).collect();
    assert_eq!(told, [&json!(50), &json!(100), &Value::Null]);
    assert_eq!((&rest[2]["id"], text(&rest[2])), (&json!(8), "done"));
    // The stream of the session.
    let mut stream = service.open(&standalone(&service, &session));
    let event_id = stream.next().unwrap().id.unwrap();
    drop(stream);
    announce(&service, &session);
    let mut stream = resume(&session, &event_id);
    assert_eq!(stream.message()["method"], "notifications/tools/list_changed");
    drop(stream);
    // What names no stream of the session begins a new one.
    for event_id in ["99-0", "x", "1-", "-1", "18446744073709551616-0", ""] {
        assert!(resume(&session, event_id).next().unwrap().is_priming(), "{event_id}");
    }
}

#[test]
fn the_last_message_is_heard_again_by_a_client_that_it_may_not_have_reached() {
    let service = Service::start(&[]);
    let session = service.begin("2025-11-25");
    let resume = |event_id: &Option<String>| {
        let ask = standalone(&service, &session);
        service.open(&ask.header("Last-Event-ID", event_id.as_deref().unwrap()))
    };
    let finished = [7, 8].map(|id| {
        let call = call(id, "test_logging_tool", &json!({}));
        let events: Vec<_> = service.open(&service.within(&session, &call)).events().collect();
        assert!(events.len() == 2 && events[0].is_priming(), "{events:?}");
        (id, events)
    });
    // The connection may have broken with the answer on its way.
    for (id, events) in &finished {
        for again in ["once", "twice"] {
            let rest = resume(&events[0].id).rest();
            assert_eq!((rest.len(), &rest[0]["id"]), (1, &json!(id)), "{again}");
            assert_eq!(text(&rest[0]), "logged");
        }
        // Who has everything waits for what the session hears.
        assert!(resume(&events[1].id).next().unwrap().is_priming());
    }
}

#[test]
fn clients_that_do_not_come_back_do_not_use_up_their_session() {
    let service = Service::start(&[]);
    let session = service.begin("2025-11-25");
    let reconnection = call(7, "test_reconnection", &json!({}));
    for round in 0..12 {
        wait_for("a stream", || {
            let stream = service.open(&service.within(&session, &reconnection));
            // Those before may not be over yet.
            let mut events: Vec<_> = EventStream::events(stream).collect();
            (events.len() == 1 && events.remove(0).is_priming()).then_some(round)
        });
    }
}

#[test]
fn beyond_the_most_streams_is_503_until_one_of_them_ends() {
    let service = Service::start(&[("SVC_MCP_STREAMS_MAX", "1")]);
    let [session, other] = [0; 2].map(|_| service.begin("2025-11-25"));
    let stream = service.open(&standalone(&service, &session));
    let refused = service.ask(&standalone(&service, &other));
    assert_refused(&refused, 503, -32_603, None, "GET");
    assert_ne!(refused.header("retry-after"), "");
    let refused = service.ask(&service.within(&other, &progress(7)));
    assert_refused(&refused, 503, -32_603, Some(&json!(7)), "POST");
    assert_ne!(refused.header("retry-after"), "");
    let prompt = service.ask(&service.within(&other, &request(1, "ping", &json!({}))));
    assert_eq!(prompt.status, 200, "what is no stream needs no room");
    drop(stream);
    wait_for("room", || {
        let stream = EventStream::open(service.address(), &standalone(&service, &other));
        (stream.status == 200).then_some(())
    });
}

#[test]
fn one_owner_of_tokens_has_a_quarter_of_the_streams() {
    let (service, issuer) = Service::with_tokens(&[("SVC_MCP_STREAMS_MAX", "8")]);
    let stream_of = |bearer: &str| {
        let begin = service.post(&initialize("2025-11-25")).header("Authorization", bearer);
        let session = service.begin_as(begin);
        standalone(&service, &session).header("Authorization", bearer)
    };
    let [alice, bob] = ["alice", "bob"].map(|who| issuer.bearer(who));
    let of_alice = [0; 2].map(|_| service.open(&stream_of(&alice)));
    // Another client of hers is no other owner.
    for bearer in [&alice, &issuer.bearer_by("alice", "another")] {
        let refused = EventStream::open(service.address(), &stream_of(bearer));
        assert_eq!(refused.status, 503, "{refused:?}");
        assert_ne!(refused.header("retry-after"), "");
    }
    let _of_bob = [0; 2].map(|_| service.open(&stream_of(&bob)));
    drop(of_alice);
    wait_for("room", || {
        let stream = EventStream::open(service.address(), &stream_of(&alice));
        (stream.status == 200).then_some(())
    });
}

#[test]
fn streams_end_with_their_session() {
    let service = Service::start(&[]);
    let session = service.begin("2025-11-25");
    let mut own = service.open(&standalone(&service, &session));
    let sampling = call(1, "test_sampling", &json!({"prompt": "x"}));
    let mut under_way = service.open(&service.within(&session, &sampling));
    assert!(own.next().unwrap().is_priming());
    under_way.message();
    let delete = service.to_mcp("DELETE").header("Mcp-Session-Id", &session);
    assert_eq!(service.ask(&delete).status, 204);
    assert_eq!(own.next(), None);
    let last: Vec<Value> = under_way.rest();
    let codes: Vec<&Value> = last.iter().map(|message| &message["error"]["code"]).collect();
    assert_eq!(codes, [&json!(-32_603)], "it waited for an answer that cannot come any more");
    assert_refused(&service.ask(&delete), 404, -32_600, None, "again");
}
