//! Payloads as they come, and as they should not.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const SHA: &str = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d";
const OWNER: i64 = 12;
const OTHER_SHA: &str = "ffffffffffffffffffffffffffffffffffffffff";

fn rules() -> PayloadRules {
    PayloadRules { release_tag_pattern: glob::Pattern::new("v*").expect("the pattern is valid") }
}

/// Normalises `payload` with an installation and a repository added.
fn of_tenant(event: &str, mut payload: Value) -> Result<Normalised, Unusable> {
    payload["installation"] =
        json!({"id": 42, "node_id": "MDIz", "account": {"login": "octo-org"}});
    payload["repository"] =
        json!({"id": 7, "full_name": "octo-org/app", "owner": {"login": "octo-org", "id": OWNER}});
    payload["sender"] = json!({"login": "someone", "id": 1});
    normalise(event, payload.to_string().as_bytes(), &rules())
}

fn action(event: &str, payload: Value) -> Option<Action> {
    of_tenant(event, payload).expect("the payload is an object").action
}

fn repository(id: i64, name: &str) -> RepositoryRef {
    RepositoryRef {
        id: id.try_into().expect("the id is positive"),
        full_name: name.parse().expect("the name is plain"),
    }
}

fn release(tag: &str, sha: &str) -> Option<Action> {
    Some(Action::Release {
        git_ref: GitRef::new(&format!("refs/tags/{tag}"))?,
        head_sha: CommitSha::new(sha)?,
        owner: Some(OWNER.try_into().ok()?),
    })
}

#[test]
fn a_tag_push_asks_for_a_release() {
    let push = |git_ref: &str| json!({"ref": git_ref, "deleted": false, "after": SHA});
    let normalised = of_tenant("push", push("refs/tags/v1.2.3")).expect("it is an object");
    assert_eq!(normalised.event, "push");
    assert_eq!(normalised.installation.map(InstallationId::get), Some(42));
    assert_eq!(normalised.repository, Some(repository(7, "octo-org/app")));
    assert_eq!(normalised.action, release("v1.2.3", SHA));
    for (git_ref, wanted) in [
        ("refs/tags/v1/rc", release("v1/rc", SHA)),
        ("refs/tags/nightly", None),
        ("refs/tags/", None),
        ("refs/heads/v1", None),
        ("v1", None),
    ] {
        assert_eq!(action("push", push(git_ref)), wanted, "{git_ref}");
    }
}

#[test]
fn a_release_stands_on_the_commit_and_not_on_the_tag_object() {
    let push = |head: Value, after: Value, deleted: Value| {
        let payload = json!({
            "ref": "refs/tags/v1", "head_commit": head, "after": after, "deleted": deleted,
        });
        action("push", payload)
    };
    let no = json!(false);
    assert_eq!(push(json!({"id": SHA}), json!(OTHER_SHA), no.clone()), release("v1", SHA));
    assert_eq!(push(Value::Null, json!(OTHER_SHA), no.clone()), release("v1", OTHER_SHA));
    assert_eq!(push(Value::Null, json!("0".repeat(40)), no.clone()), None);
    assert_eq!(push(Value::Null, Value::Null, no), None);
    assert_eq!(push(json!({"id": SHA}), json!(SHA), json!(true)), None);
}

#[test]
fn a_click_on_our_check_run_asks_for_another_attempt() {
    let click = |action: &str, check_run: Value| json!({"action": action, "check_run": check_run});
    let run = json!({"id": 5, "head_sha": SHA, "app": {"id": 3}, "check_suite": {"id": 9}});
    let wanted = Action::Rerequest {
        check_run: 5.try_into().expect("the id is positive"),
        app: 3.try_into().expect("the id is positive"),
        head_sha: CommitSha::new(SHA).expect("it is a commit"),
    };
    assert_eq!(action("check_run", click("rerequested", run.clone())), Some(wanted));
    assert_eq!(action("check_run", click("created", run)), None);
    for broken in [
        json!({"id": 5, "head_sha": SHA, "app": null}),
        json!({"id": "5", "head_sha": SHA, "app": {"id": 3}}),
        json!({"id": 5.0, "head_sha": SHA, "app": {"id": 3}}),
        json!([5, {"id": 3}, SHA]),
        Value::Null,
    ] {
        assert_eq!(action("check_run", click("rerequested", broken.clone())), None, "{broken}");
    }
}

#[test]
fn any_move_of_a_workflow_run_asks_for_a_look() {
    let workflow_run = |id: i64| {
        Some(Action::LookAtWorkflowRun { workflow_run: id.try_into().expect("the id is positive") })
    };
    // As published: the action says completed, the run itself does not.
    let odd = json!({"action": "completed", "workflow_run": {
        "id": 30_433_642, "status": "queued", "conclusion": null, "head_sha": SHA,
    }});
    assert_eq!(action("workflow_run", odd), workflow_run(30_433_642));
    assert_eq!(action("workflow_run", json!({"workflow_run": {"id": 1}})), workflow_run(1));
    assert_eq!(action("workflow_run", json!({"workflow_run": {"id": -1}})), None);
    assert_eq!(action("workflow_run", json!({"workflow_run": []})), None);
}

#[test]
fn installations_come_go_and_reach_other_repositories() {
    let change = |state, added: &[RepositoryRef], removed: &[RepositoryRef]| {
        Some(Action::Installation {
            state,
            account: AccountName::new("octo-org"),
            added: added.to_vec(),
            removed: removed.to_vec(),
        })
    };
    let (a, b) = (repository(1, "octo-org/a"), repository(2, "octo-org/b"));
    let list = json!([
        {"id": 1, "full_name": "octo-org/a"}, {"id": 0, "full_name": "octo-org/zero"},
        {"id": 3}, null, 4, "x", {"id": 2, "full_name": "octo-org/b", "name": "b"},
    ]);
    for (word, state) in [
        ("created", Some(InstallationState::Active)),
        ("unsuspend", Some(InstallationState::Active)),
        ("new_permissions_accepted", None),
        ("suspend", Some(InstallationState::Suspended)),
        ("deleted", Some(InstallationState::Deleted)),
    ] {
        let payload = json!({"action": word, "repositories": list});
        let both = [a.clone(), b.clone()];
        assert_eq!(action("installation", payload), change(state, &both, &[]), "{word}");
    }
    assert_eq!(action("installation", json!({"action": "else", "repositories": list})), None);
    assert_eq!(action("installation", json!({"repositories": list})), None);
    let reach = json!({
        "action": "removed", "repositories_added": [], "repositories_removed": list,
        "repositories": [{"id": 9, "full_name": "octo-org/not-read"}],
    });
    let wanted = change(None, &[], &[a, b]);
    assert_eq!(action("installation_repositories", reach), wanted);
}

#[test]
fn a_repository_is_active_until_it_is_deleted() {
    for word in ["renamed", "transferred", "edited", "publicized", "privatized", "created"] {
        let wanted = Some(Action::Repository { state: RepositoryState::Active });
        assert_eq!(action("repository", json!({"action": word})), wanted, "{word}");
    }
    let wanted = Some(Action::Repository { state: RepositoryState::Deleted });
    assert_eq!(action("repository", json!({"action": "deleted"})), wanted);
    assert_eq!(action("repository", json!({"action": ["deleted"]})), None);
    assert_eq!(action("repository", json!({})), None);
}

#[test]
fn what_names_no_tenant_asks_for_nothing() {
    let read = |event, body: &str| normalise(event, body.as_bytes(), &rules());
    let ping = read("ping", r#"{"zen":"Keep it logically awesome.","hook_id":1}"#);
    assert_eq!(ping.map(|ping| (ping.event, ping.action)), Ok(("ping", None)));
    let unknown = read("sponsorship", r#"{"installation":{"id":42}}"#).expect("it is an object");
    assert_eq!((unknown.event, unknown.action), ("unknown", None));
    assert_eq!(unknown.installation.map(InstallationId::get), Some(42));
    for (event, body) in [
        ("workflow_run", r#"{"workflow_run":{"id":1}}"#),
        ("workflow_run", r#"{"workflow_run":{"id":1},"installation":{"id":0}}"#),
        ("workflow_run", r#"{"workflow_run":{"id":1},"installation":[42]}"#),
        ("installation", r#"{"action":"deleted","installation":{"id":"42"}}"#),
        ("repository", r#"{"action":"deleted","installation":{"id":42}}"#),
        ("repository", r#"{"action":"deleted","repository":{"id":7,"full_name":"a/b"}}"#),
        (
            "repository",
            r#"{"action":"deleted","installation":{"id":42},"repository":{"id":7,"full_name":"../b"}}"#,
        ),
    ] {
        assert_eq!(read(event, body).map(|it| it.action), Ok(None), "{event} {body}");
    }
}

#[test]
fn what_is_not_one_json_object_is_refused() {
    for (body, wanted) in [
        (&b"\xff{}"[..], Unusable::NotUtf8),
        (b"{\"skipped\":\"\xff\"}", Unusable::NotUtf8),
        (b"", Unusable::NotAnObject),
        (b"[]", Unusable::NotAnObject),
        (b"[\"deleted\",{\"id\":42}]", Unusable::NotAnObject),
        (b"null", Unusable::NotAnObject),
        (b"payload=%7B%7D", Unusable::NotAnObject),
        (b"\xef\xbb\xbf{}", Unusable::NotAnObject),
        (b"{", Unusable::Malformed),
        (b"{}{}", Unusable::Malformed),
        (b"{} x", Unusable::Malformed),
        (b"{\"a\":}", Unusable::Malformed),
        (b"{\"a\":{\"b\":[1,]}}", Unusable::Malformed),
        (b"{\"a\":1,}", Unusable::Malformed),
        (b"{1:1}", Unusable::Malformed),
        (b"{\"action\":\"a\",\"action\":\"a\"}", Unusable::DuplicateField),
        (b"{\"action\":null,\"\\u0061ction\":\"a\"}", Unusable::DuplicateField),
        (b"{\"installation\":{\"id\":1,\"id\":2}}", Unusable::DuplicateField),
        (b"{\"repository\":{\"id\":1,\"i\\u0064\":2}}", Unusable::DuplicateField),
    ] {
        let read = normalise("ping", body, &rules());
        assert_eq!(read, Err(wanted), "{}", String::from_utf8_lossy(body));
    }
    let twice = of_tenant("installation", json!({"action": "created"}));
    assert!(twice.is_ok());
    let list = r#"{"action":"created","installation":{"id":1},"repositories":[{"id":1,"id":2}]}"#;
    let read = normalise("installation", list.as_bytes(), &rules());
    assert_eq!(read, Err(Unusable::DuplicateField));
    // What is not read may be repeated.
    assert!(normalise("ping", br#"{"zen":1,"zen":2}"#, &rules()).is_ok());
}

#[test]
fn depth_and_length_cost_no_stack() {
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    let nested = "{\"a\":".repeat(200_000) + "1" + &"}".repeat(200_000);
    for field in ["x", "installation", "repositories", "action"] {
        for value in [&deep, &nested] {
            let body = format!("{{\"{field}\":{value}}}");
            assert!(normalise("installation", body.as_bytes(), &rules()).is_ok(), "{field}");
        }
    }
    assert_eq!(
        normalise("ping", format!("{{\"x\":{}", &deep).as_bytes(), &rules()),
        Err(Unusable::Malformed)
    );
    let many: Vec<Value> = (1..=REPOSITORIES_MAX + 10)
        .map(|id| json!({"id": id, "full_name": format!("octo-org/r{id}")}))
        .collect();
    let Some(Action::Installation { added, .. }) =
        action("installation", json!({"action": "created", "repositories": many}))
    else {
        panic!("an installation was created")
    };
    assert_eq!(added.len(), REPOSITORIES_MAX);
}

const NAMES: [&str; 17] = [
    "action",
    "installation",
    "repository",
    "ref",
    "deleted",
    "after",
    "head_commit",
    "check_run",
    "workflow_run",
    "repositories",
    "repositories_added",
    "id",
    "full_name",
    "account",
    "login",
    "app",
    "head_sha",
];

/// JSON made of the names we read, so that random payloads get past the first field.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z/.]{0,12}".prop_map(Value::from),
        Just(json!(SHA)),
        Just(json!("refs/tags/v1")),
        Just(json!("octo-org/app")),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(&NAMES[..]), inner), 0..12)
                .prop_map(|fields| fields.into_iter().collect::<Value>()),
        ]
    })
}

proptest! {
    #[test]
    fn random_bytes_never_panic(
        event in prop::sample::select(&EVENTS[..]),
        body in prop::collection::vec(any::<u8>(), 0..256),
    ) {
        drop(normalise(event, &body, &rules()));
    }

    #[test]
    fn random_objects_are_read_and_never_panic(
        event in prop::sample::select(&EVENTS[..]),
        body in any_json(),
    ) {
        let read = normalise(event, body.to_string().as_bytes(), &rules());
        prop_assert_eq!(read.is_ok(), body.is_object());
    }

    #[test]
    fn a_cut_payload_is_refused(cut in 0_usize..100) {
        let body = json!({"action": "deleted", "installation": {"id": 42}}).to_string();
        let read = normalise("installation", &body.as_bytes()[..cut.min(body.len() - 1)], &rules());
        prop_assert!(read.is_err());
    }
}
