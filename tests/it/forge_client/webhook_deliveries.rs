//! Deliveries that failed, over real sockets: what is read of their list, and asking for one again.

use svc::domain::dead_letter::ErrorClass;
use svc::domain::redelivery::FailedDelivery;
use svc::domain::time::Timestamp;
use svc::forge::WebhookDeliveries as _;
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::simulator::{Call, Fault};

use super::double::{Double, Script, http};
use super::{client, settings, start};

#[test]
fn failures_are_listed_page_by_page_and_asked_for_again() {
    let (simulator, client) = start();
    let now = SystemClock::new().now();
    for number in 0..250 {
        simulator.fail_delivery(&format!("GUID-{number}"), "push", now);
    }
    let mut found = Vec::new();
    let mut cursor = None;
    loop {
        let page = client.failed_deliveries(cursor.as_ref()).unwrap();
        found.extend(page.deliveries);
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!((found.len(), simulator.requests(Call::DeliveryFind)), (250, 3));
    let first = &found[0];
    assert!(first.is_ours && first.delivered_at <= now);
    assert_eq!(first.delivery, "guid-249".parse().unwrap());
    assert_eq!(client.redeliver(first.id), Ok(()));
    assert_eq!(simulator.ledger()[0].key, "redelivery:GUID-249");
    let unknown = client.redeliver(1.try_into().unwrap());
    assert_eq!(unknown.map_err(|why| why.class), Err(ErrorClass::NotFound));
    assert_eq!(simulator.requests(Call::Mint), 0);
}

#[test]
fn a_request_is_sent_once_whatever_comes_of_it() {
    let (simulator, client) = start();
    simulator.fail_delivery("guid", "push", SystemClock::new().now());
    let id = client.failed_deliveries(None).unwrap().deliveries[0].id;
    for (fault, class, waits) in [
        (Fault::Status(401), ErrorClass::Authentication, false),
        (Fault::Status(403), ErrorClass::Permission, false),
        (Fault::Status(404), ErrorClass::NotFound, false),
        (Fault::Status(429), ErrorClass::RateLimited, true),
        (Fault::RateLimited { retry_after: 9 }, ErrorClass::RateLimited, true),
        (Fault::Validation422, ErrorClass::Validation, false),
        (Fault::Status(503), ErrorClass::Unavailable, false),
        (Fault::Status(200), ErrorClass::Protocol, false),
        (Fault::CutBeforeEffect, ErrorClass::Unavailable, false),
        (Fault::CutAfterEffect, ErrorClass::Unavailable, false),
    ] {
        let before = simulator.requests(Call::DeliveryRepeat);
        simulator.plan(Call::DeliveryRepeat, fault);
        let why = client.redeliver(id).unwrap_err();
        assert_eq!((why.class, why.wait_until.is_some()), (class, waits), "{fault:?}");
        simulator.plan(Call::DeliveryFind, fault);
        let why = client.failed_deliveries(None).unwrap_err();
        assert_eq!((why.class, why.wait_until.is_some()), (class, waits), "{fault:?}");
        assert_eq!(simulator.requests(Call::DeliveryRepeat) - before, 1, "{fault:?}");
    }
    assert_eq!(simulator.ledger().len(), 1);
}

#[test]
fn what_cannot_be_read_is_passed_over_or_no_list_at_all() {
    let good = r#"{"id":5,"guid":"AB-1","delivered_at":"2026-11-21T09:00:00Z","event":"push"}"#;
    let list = |body: &str| {
        let double = Double::start(vec![Script::Close(http(200, "", body))]);
        client(settings(double.base_url())).failed_deliveries(None)
    };
    let wanted = FailedDelivery {
        id: 5.try_into().unwrap(),
        delivery: "ab-1".parse().unwrap(),
        delivered_at: Timestamp::from_micros(1_795_251_600_000_000),
        is_ours: true,
    };
    for other in [
        "{}",
        "5",
        "null",
        &good.replace('5', "\"5\""),
        &good.replace('5', "-5"),
        &good.replace('5', "5.0"),
        &good.replace("AB-1", "a b"),
        &good.replace("AB-1", "a/../b"),
        &good.replace("2026-11-21T09:00:00Z", "yesterday"),
        &good.replace("\"push\"", "null"),
    ] {
        let page = list(&format!("[{other},{good}]")).unwrap();
        assert_eq!(page.deliveries, std::slice::from_ref(&wanted), "{other}");
    }
    for event in ["ping", "issues", "PUSH", ""] {
        let page = list(&format!("[{}]", good.replace("push", event))).unwrap();
        assert!(!page.deliveries[0].is_ours, "{event}");
    }
    for body in ["", "{}", "<html>", "null", "[", "[{}] []", &format!("{{\"items\":[{good}]}}")] {
        let why = list(body).unwrap_err();
        assert_eq!(why.class, ErrorClass::Protocol, "{body}");
    }
}

#[test]
fn the_next_page_is_asked_of_the_same_forge_only() {
    let link = "link: <https://evil.example/app/hook/deliveries?cursor=v1_9>; rel=\"next\"\r\n";
    let script = vec![Script::Close(http(200, link, "[]")), Script::Close(http(200, "", "[]"))];
    let double = Double::start(script);
    let client = client(settings(double.base_url()));
    let cursor = client.failed_deliveries(None).unwrap().next.unwrap();
    assert_eq!(client.failed_deliveries(Some(&cursor)).unwrap().next, None);
    let requests = double.requests();
    let path = "GET /app/hook/deliveries?status=failure&per_page=100";
    assert!(requests[0].starts_with(&format!("{path} ")), "{}", requests[0]);
    assert!(requests[1].starts_with(&format!("{path}&cursor=v1_9 ")), "{}", requests[1]);
}
