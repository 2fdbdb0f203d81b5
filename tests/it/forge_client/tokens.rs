//! Which credentials are used again, and when they no longer are.

use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;
use svc::domain::dead_letter::ErrorClass;
use svc::domain::outbox::SendResult;
use svc::forge::client::ForgeClient;
use svc::forge::{Forge as _, Permission, TokenUse};
use svc::runtime::clock::Clock as _;
use svc::runtime::notify::Notify;
use svc::simulator::{Call, Fault};

use super::double::{Double, Script, http};
use super::{dispatch, installation, repository, settings, start};
use crate::support::ManualClock;

/// Dispatches with a token that others may use; or one of its own.
fn send(client: &ForgeClient, token: TokenUse) -> SendResult {
    let permission = Permission::ActionsWrite;
    match client.open(installation(), &repository(), permission, token, &|| Ok(())) {
        Ok(mut session) => session.dispatch_workflow(&dispatch()),
        Err(result) => result,
    }
}

#[test]
fn a_token_serves_the_sessions_of_its_scope_and_no_other() {
    let (simulator, client) = start();
    let mints = || simulator.requests(Call::Mint);
    for _ in 0..3 {
        assert!(matches!(send(&client, TokenUse::Shared), SendResult::Dispatched(_)));
    }
    assert_eq!(mints(), 1);
    let open = |installation: i64, permission| {
        let installation = installation.try_into().expect("the number is positive");
        client
            .open(installation, &repository(), permission, TokenUse::Shared, &|| Ok(()))
            .map(drop)
            .expect("a token is minted");
        mints()
    };
    let first = installation().get();
    assert_eq!(open(first, Permission::ActionsWrite), 1);
    assert_eq!(open(first, Permission::ChecksWrite), 2, "another permission");
    assert_eq!(open(first + 1, Permission::ActionsWrite), 3, "another installation");
    assert_eq!(open(first, Permission::ChecksWrite), 3);
    assert!(matches!(send(&client, TokenUse::Own), SendResult::Dispatched(_)));
    assert_eq!(mints(), 4, "a session with a token of its own");
}

#[test]
fn a_token_is_minted_anew_once_a_call_was_refused_that_it_may_be_to_blame_for() {
    for (fault, wanted, mints) in [
        (Fault::Status(401), SendResult::Refused(ErrorClass::Authentication), 2),
        (Fault::Status(403), SendResult::Refused(ErrorClass::Permission), 2),
        (Fault::Status(404), SendResult::Refused(ErrorClass::NotFound), 2),
        (Fault::Validation422, SendResult::Refused(ErrorClass::Validation), 1),
        (Fault::Status(500), SendResult::Uncertain(ErrorClass::Unavailable, None), 1),
    ] {
        let (simulator, client) = start();
        simulator.plan(Call::Dispatch, fault);
        assert_eq!(send(&client, TokenUse::Shared), wanted);
        assert!(matches!(send(&client, TokenUse::Shared), SendResult::Dispatched(_)));
        assert_eq!(simulator.requests(Call::Mint), mints, "{fault:?}");
    }
}

#[test]
fn a_key_that_is_replaced_takes_along_what_was_got_with_it() {
    let (simulator, client) = start();
    send(&client, TokenUse::Shared);
    let key = SecretString::from(simulator.private_key_pem());
    client.replace_key(&key).expect("the key is one");
    send(&client, TokenUse::Shared);
    assert_eq!(simulator.requests(Call::Mint), 2);
}

#[test]
fn the_apps_credential_is_signed_once_for_its_validity_and_anew_when_it_is_refused() {
    let granted = r#"{"token":"t","expires_at":"2000-01-01T00:00:00Z",
        "permissions":{"actions":"write"},"repository_selection":"selected"}"#;
    let (minted, refused) =
        (Script::Close(http(201, "", granted)), Script::Close(http(401, "", "{}")));
    let (first, second) = (minted.clone(), minted.clone());
    let double = Double::start(vec![first, second, minted.clone(), refused, minted]);
    let clock = Arc::new(ManualClock::new());
    let shared = Arc::<ManualClock>::clone(&clock);
    let settings = settings(double.base_url());
    let client = ForgeClient::new(settings, shared, Arc::default(), Notify::new())
        .expect("the settings are good");
    let open = || {
        let permission = Permission::ActionsWrite;
        // The token has expired long ago by our clock, so each session mints another.
        client
            .open(installation(), &repository(), permission, TokenUse::Shared, &|| Ok(()))
            .map(drop)
            .expect("a token is minted");
    };
    for seconds in [0, 6 * 60, 60, 1] {
        clock.advance(Duration::from_secs(seconds));
        open();
    }
    let now = clock.now();
    let bearers: Vec<String> = double.requests().iter().map(|request| bearer(request)).collect();
    assert_eq!(bearers.len(), 5, "{now}");
    assert_eq!(bearers[0], bearers[1], "six minutes later");
    assert_ne!(bearers[1], bearers[2], "seven minutes later");
    assert_eq!(bearers[2], bearers[3], "a second after that");
    assert_ne!(bearers[3], bearers[4], "it was refused");
}

fn bearer(request: &str) -> String {
    let value = request.lines().find_map(|line| line.strip_prefix("authorization: "));
    value.expect("each request has a credential").to_owned()
}
