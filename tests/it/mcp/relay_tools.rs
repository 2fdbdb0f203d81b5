//! The tools of the relay: what they say of themselves, what they ask for, and what they give.

use jsonschema::draft202012;
use serde_json::{Value, json};
use svc::mcp::Reply;
use svc::mcp::relay::Ended;
use svc::mcp::tools::Annotations;
use svc::relay::action::DesignAction;

use super::fake_relay::SESSION;
use super::in_process::InProcess;
use super::relay_site::{ERAS, Site, WAIT};
use super::request;

/// The tools besides the actions, with their scopes.
const OTHERS: [(&str, &str); 5] = [
    ("cancel_invocation", "mcp:invoke"),
    ("get_invocation", "mcp:read"),
    ("list_design_sessions", "mcp:read"),
    ("pair_design_session", "mcp:pair"),
    ("propose_design_steps", "mcp:invoke"),
];

/// Good arguments of each action, and a value that it may give.
pub(super) fn example(action: DesignAction) -> (Value, Value) {
    let node = "0:1";
    let made = json!({"node": "0:9"});
    let rectangle = json!({"x": 1, "y": 2, "width": 3, "height": 4});
    match action {
        DesignAction::ListPages => {
            (json!({}), json!({"pages": [{"id": "p", "name": "P"}], "truncated": false}))
        }
        DesignAction::GetSelection => (json!({}), json!({"nodes": [], "truncated": false})),
        DesignAction::GetNode => {
            let found = json!({
                "id": node, "name": "n", "kind": "text", "fill": null, "opacity": 1, "text": "t",
                "box": {"x": 0, "y": 0, "width": 1, "height": 1}, "children": []
            });
            (json!({"node": node, "depth": 2}), json!({"node": found, "truncated": false}))
        }
        DesignAction::FindNodes => (json!({"name": "a"}), json!({"nodes": [], "truncated": true})),
        DesignAction::ExportImage => {
            (json!({"node": node}), json!({"mimeType": "image/png", "data": "AAAA"}))
        }
        DesignAction::CreateRectangle | DesignAction::CreateFrame => (rectangle, made),
        DesignAction::CreateText => (json!({"x": 1, "y": 2, "text": "t"}), made),
        DesignAction::SetText => {
            (json!({"node": node, "text": "t"}), json!({"node": node, "old": "o"}))
        }
        DesignAction::SetFill => {
            (json!({"node": node, "color": "#000000"}), json!({"node": node, "old": "mixed"}))
        }
        DesignAction::MoveNode => {
            (json!({"node": node, "x": 1, "y": 2}), json!({"node": node, "old": {"x": 0, "y": 0}}))
        }
        DesignAction::ResizeNode => (
            json!({"node": node, "width": 1, "height": 2}),
            json!({"node": node, "old": {"width": 3, "height": 4}}),
        ),
        DesignAction::RenameNode => {
            (json!({"node": node, "name": "n"}), json!({"node": node, "old": "o"}))
        }
        DesignAction::DeleteNode => (json!({"node": node}), json!({"node": node, "deleted": 3})),
    }
}

/// Returns the tools as a client of the modern era sees them.
fn listed(site: &Site) -> Vec<Value> {
    let list = site.standalone("me", "tools/list", json!({}), &json!({})).result();
    list["tools"].as_array().unwrap().clone()
}

/// Checks that a result is as the output schema of its tool has it.
pub(super) fn assert_fits(site: &Site, tool: &str, result: &Value) {
    let tools = listed(site);
    let schema = &tools.iter().find(|it| it["name"] == tool).unwrap()["outputSchema"];
    let schema = draft202012::new(schema).unwrap();
    let structured = &result["structuredContent"];
    let faults: Vec<String> = schema.iter_errors(structured).map(|it| it.to_string()).collect();
    assert!(faults.is_empty(), "{tool}: {faults:?}: {structured}");
}

#[test]
fn there_are_no_such_tools_without_a_relay() {
    let site = InProcess::new(true, 5, 5);
    let session = site.session("me");
    let list = request(7, "tools/list", &json!({})).to_string();
    let Reply::Ready(answer) = site.send("me", Some(&session), &[], list.as_bytes()) else {
        panic!("not at once")
    };
    let listed = answer.message.unwrap();
    assert!(listed.contains("service_status"));
    for name in DesignAction::ALL.iter().map(|it| it.as_str()).chain(OTHERS.map(|it| it.0)) {
        assert!(!listed.contains(&format!("\"{name}\"")), "{name}");
    }
}

#[test]
fn every_tool_is_listed_with_schemas_that_stand_alone_and_with_its_hints() {
    let tools = listed(&Site::new());
    let hints = |tool: &Value| {
        let hint = |name: &str| tool["annotations"][name].as_bool().unwrap();
        assert!(hint("openWorldHint"), "{tool}");
        let is_read_only = hint("readOnlyHint");
        let (is_destructive, is_idempotent) = (hint("destructiveHint"), hint("idempotentHint"));
        Annotations { is_read_only, is_destructive, is_idempotent }
    };
    let find = |name: &str| tools.iter().find(|it| it["name"] == name).unwrap();
    for action in DesignAction::ALL {
        assert_eq!(hints(find(action.as_str())), action.annotations());
        assert_eq!(find(action.as_str())["description"], action.description());
    }
    let of = |name, is_read_only, is_destructive, is_idempotent| {
        let wanted = Annotations { is_read_only, is_destructive, is_idempotent };
        assert_eq!(hints(find(name)), wanted, "{name}");
    };
    of("cancel_invocation", false, false, true);
    of("get_invocation", true, false, true);
    of("list_design_sessions", true, false, true);
    of("pair_design_session", false, false, false);
    of("propose_design_steps", false, true, false);
    for tool in &tools {
        for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
            let Some(object) = schema.as_object() else { continue };
            assert!(draft202012::meta::is_valid(schema), "{tool}");
            assert_eq!(object["type"], "object", "{tool}");
            // Compiling it would fail where a reference leads nowhere.
            assert!(draft202012::new(schema).is_ok(), "{tool}");
        }
    }
}

#[test]
fn each_action_is_proposed_with_its_arguments_and_gives_its_value() {
    for era in ERAS {
        for action in DesignAction::ALL {
            let site = Site::new();
            let (mut arguments, value) = example(*action);
            let given = arguments.clone();
            arguments["session"] = SESSION.into();
            let sent = site.call(era, "me", action.as_str(), &arguments);
            assert!(sent.is_late && !sent.is_answered(), "{action}");
            let proposed = site.relay.proposed();
            assert_eq!(proposed.len(), 1, "{action}");
            assert_eq!(proposed[0].session.as_deref(), Some(SESSION));
            assert_eq!((proposed[0].steps[0].0, proposed[0].steps.len()), (action.as_str(), 1));
            assert_eq!(proposed[0].steps[0].1, *given.as_object().unwrap(), "{action}");
            assert_eq!(site.relay.waits(), [WAIT]);
            site.relay.succeed(&value);
            site.relay.end(Ended::Settled);
            let result = sent.result();
            assert_fits(&site, action.as_str(), &result);
            assert_eq!(result.get("isError"), None, "{result}");
            let structured = &result["structuredContent"];
            let told = |name: &str| structured[name].as_str().unwrap().to_owned();
            assert_eq!(told("invocation"), site.relay.last());
            assert_eq!([told("action"), told("state")], [action.as_str(), "succeeded"]);
            assert_eq!([told("session"), told("file")], [SESSION, "Login"]);
            let text = result["content"][0]["text"].as_str().unwrap();
            assert_eq!(serde_json::from_str::<Value>(text).unwrap(), *structured);
            match *action {
                DesignAction::ExportImage => {
                    assert_eq!(structured["value"], json!({"mimeType": "image/png"}));
                    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
                    assert_eq!(result["content"][1], image);
                }
                _ => assert_eq!(structured["value"], value),
            }
        }
    }
}

#[test]
fn steps_are_proposed_together_and_each_has_its_end() {
    let steps = json!([
        {"action": "create_frame", "arguments": {"x": 0, "y": 0, "width": 10, "height": 10}},
        {"action": "create_text", "arguments": {"parent": {"step": 0}, "x": 1, "y": 1, "text": "t"}},
        {"action": "export_image", "arguments": {"node": {"step": 0}}}
    ]);
    for era in ERAS {
        let site = Site::new();
        let sent = site.call(era, "me", "propose_design_steps", &json!({"steps": steps}));
        let proposed = site.relay.proposed();
        assert_eq!((proposed.len(), proposed[0].session.clone()), (1, None));
        let actions: Vec<&str> = proposed[0].steps.iter().map(|it| it.0).collect();
        assert_eq!(actions, ["create_frame", "create_text", "export_image"]);
        assert_eq!(proposed[0].steps[1].1["parent"], json!({"step": 0}));
        site.relay.change(|step| {
            step.state = "succeeded".into();
            let action = DesignAction::from_word(&step.action).unwrap();
            step.value = Some(example(action).1);
        });
        site.relay.end(Ended::Settled);
        let result = sent.result();
        assert_fits(&site, "propose_design_steps", &result);
        assert_eq!(result.get("isError"), None);
        let ended = result["structuredContent"]["steps"].as_array().unwrap();
        let values: Vec<&Value> = ended.iter().map(|it| &it["value"]).collect();
        assert_eq!(
            values,
            [&json!({"node": "0:9"}), &json!({"node": "0:9"}), &json!({"mimeType": "image/png"})]
        );
        assert_eq!(result["content"][1]["type"], "image");
    }
}

#[test]
fn an_invocation_of_another_subject_is_one_that_does_not_exist() {
    for era in ERAS {
        for tool in ["get_invocation", "cancel_invocation"] {
            let site = Site::new();
            drop(site.call(era, "alice", "list_pages", &json!({})));
            let own = json!({"invocation": site.relay.last()});
            let none = json!({"invocation": "0199f3a0-0000-7000-8000-ffffffffffff"});
            let [foreign, unknown] =
                [own, none].map(|id| site.call(era, "bob", tool, &id).answer());
            assert_eq!(foreign, unknown, "{tool}");
            assert_eq!(foreign["result"]["isError"], true);
            let code = &foreign["result"]["structuredContent"]["code"];
            assert_eq!(*code, "no_such_invocation");
            assert_eq!(site.relay.cancelled(), []);
        }
    }
}

#[test]
fn sessions_are_listed_and_a_code_is_claimed() {
    for era in ERAS {
        let site = Site::new();
        let result = site.call(era, "me", "list_design_sessions", &json!({})).result();
        assert_fits(&site, "list_design_sessions", &result);
        assert_eq!(result["structuredContent"]["sessions"][0]["session"], SESSION);
        let result =
            site.call(era, "me", "pair_design_session", &json!({"code": "7K2M-9QXV"})).result();
        assert_fits(&site, "pair_design_session", &result);
        assert_eq!(result["structuredContent"]["state"], "claimed");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("confirm in the plugin"), "{text}");
        let wrong = site.call(era, "me", "pair_design_session", &json!({"code": "x"})).result();
        assert_eq!(wrong["isError"], true);
        assert_eq!(wrong["structuredContent"]["code"], "not_found");
    }
}
