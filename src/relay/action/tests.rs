//! The catalogue: what is taken, what is refused and with which words.

use serde_json::{Map, json};

use super::*;

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// Arguments that each action takes.
fn good(action: DesignAction) -> Value {
    match action {
        DesignAction::ListPages | DesignAction::GetSelection | DesignAction::FindNodes => json!({}),
        DesignAction::GetNode | DesignAction::ExportImage | DesignAction::DeleteNode => {
            json!({"node": "1:2"})
        }
        DesignAction::CreateRectangle | DesignAction::CreateFrame => {
            json!({"x": 0, "y": 1.5, "width": 10, "height": 0.001})
        }
        DesignAction::CreateText => json!({"x": 0, "y": 0, "text": "a"}),
        DesignAction::SetText => json!({"node": "1:2", "text": ""}),
        DesignAction::SetFill => json!({"node": "1:2", "color": "#00ff00", "opacity": 0.5}),
        DesignAction::MoveNode => json!({"node": "1:2", "x": 1, "y": -1e6, "parent": "3:4"}),
        DesignAction::ResizeNode => json!({"node": "1:2", "width": 1, "height": 1e5}),
        DesignAction::RenameNode => json!({"node": "1:2", "name": "Card"}),
    }
}

/// Results that each action may give.
fn result(action: DesignAction) -> Value {
    let node = json!({"id": "1:2", "name": "a", "kind": "text", "text": "b",
        "box": {"x": 0, "y": -1.5, "width": 1, "height": 0}, "fill": "#000000", "opacity": 1,
        "children": []});
    match action {
        DesignAction::ListPages => {
            json!({"pages": [{"id": "1", "name": "Page 1"}], "truncated": false})
        }
        DesignAction::GetSelection => {
            json!({"nodes": [{"id": "1", "name": "", "kind": "other"}], "truncated": true})
        }
        DesignAction::GetNode => {
            let mut parent = node.clone();
            parent["children"] = json!([node]);
            json!({"node": parent, "truncated": false})
        }
        DesignAction::FindNodes => {
            let found = json!({"id": "1", "name": "a", "kind": "frame", "page": "0:1"});
            json!({"nodes": [found], "truncated": false})
        }
        DesignAction::ExportImage => json!({"mimeType": "image/png", "data": "iVBORw0="}),
        DesignAction::CreateRectangle | DesignAction::CreateFrame | DesignAction::CreateText => {
            json!({"node": "1:2"})
        }
        DesignAction::SetText | DesignAction::RenameNode => json!({"node": "1:2", "old": "a"}),
        DesignAction::SetFill => json!({"node": "1:2", "old": null}),
        DesignAction::MoveNode => json!({"node": "1:2", "old": {"x": 1.5, "y": 2}}),
        DesignAction::ResizeNode => json!({"node": "1:2", "old": {"width": 1, "height": 0}}),
        DesignAction::DeleteNode => json!({"node": "1:2", "deleted": 3}),
    }
}

fn refusal(action: DesignAction, arguments: &Value) -> String {
    match action.check(&object(arguments)) {
        Ok(_) => panic!("{action} takes {arguments}"),
        Err(refusal) => refusal.to_string(),
    }
}

/// Effect, scope and hints of every action, typed by hand from the catalogue.
#[test]
fn the_catalogue_is_this_one() {
    let expected = "list_pages read mcp:read read-only idempotent
get_selection read mcp:read read-only idempotent
get_node read mcp:read read-only idempotent
find_nodes read mcp:read read-only idempotent
export_image export mcp:invoke read-only idempotent
create_rectangle write mcp:invoke
create_frame write mcp:invoke
create_text write mcp:invoke
set_text write mcp:invoke idempotent
set_fill write mcp:invoke idempotent
move_node write mcp:invoke idempotent
resize_node write mcp:invoke idempotent
rename_node write mcp:invoke idempotent
delete_node destructive mcp:invoke destructive idempotent";
    let line = |action: &DesignAction| {
        let hints = action.annotations();
        let hints = [
            (hints.is_read_only, " read-only"),
            (hints.is_destructive, " destructive"),
            (hints.is_idempotent, " idempotent"),
        ];
        let hints: String = hints.iter().filter(|(is, _)| *is).map(|(_, hint)| *hint).collect();
        format!("{action} {} {}{hints}", action.effect(), action.scope())
    };
    let lines: Vec<String> = DesignAction::ALL.iter().map(line).collect();
    assert_eq!(lines.join("\n"), expected);
}

#[test]
fn descriptions_say_whose_data_it_is_and_who_is_asked() {
    for action in DesignAction::ALL {
        let description = action.description();
        assert!(description.contains("untrusted data"), "{description}");
        assert_eq!(
            description.contains("A person must approve"),
            action.effect() != ActionEffect::Read
        );
    }
}

#[test]
fn the_documents_define_every_action_and_schemas_stand_alone() {
    for action in DesignAction::ALL.iter().copied() {
        for schema in [action.arguments_schema(), action.result_schema()] {
            assert_eq!(schema["$schema"], crate::json::schema::DIALECT);
            assert_eq!(
                (&schema["type"], &schema["additionalProperties"]),
                (&json!("object"), &json!(false))
            );
            assert!(schema.get("$ref").is_none() && schema.get("$id").is_none());
            let used = schema.to_string();
            for name in schema["$defs"].as_object().into_iter().flatten().map(|(name, _)| name) {
                assert!(used.contains(&format!("\"#/$defs/{name}\"")), "{action}: {name}");
            }
        }
    }
}

#[test]
fn good_arguments_and_results_are_taken() {
    for action in DesignAction::ALL.iter().copied() {
        let checked = action.check(&object(&good(action)));
        let checked = checked.unwrap_or_else(|refusal| panic!("{action}: {refusal}"));
        assert_eq!(checked.action(), action);
        assert_eq!(
            checked.sha256(),
            crate::relay::digest::arguments(action.as_str(), &object(&good(action)))
        );
        assert_eq!(action.check_result(&result(action)), Ok(()), "{action}");
    }
}

#[test]
fn unknown_and_missing_members_are_refused_everywhere() {
    for action in DesignAction::ALL.iter().copied() {
        let mut more = good(action);
        more["cafe"] = json!(1);
        let message = refusal(action, &more);
        assert!(message.contains("no members but:") && !message.contains("cafe"), "{message}");
        for name in object(&good(action)).keys().filter(|name| {
            let required = action.arguments_schema()["required"].as_array();
            required.is_some_and(|required| required.contains(&json!(name)))
        }) {
            let mut less = object(&good(action));
            less.remove(name);
            assert!(refusal(action, &less.into()).contains("\"required\""), "{action} {name}");
        }
        let mut more = result(action);
        more["cafe"] = json!(1);
        assert_eq!(action.check_result(&more), Err(ResultFault::Bad), "{action}");
        for name in ["node", "old", "deleted", "data", "pages", "nodes", "truncated"] {
            let mut less = object(&result(action));
            if less.remove(name).is_some() {
                assert_eq!(action.check_result(&less.into()), Err(ResultFault::Bad), "{action}");
            }
        }
        for value in [Value::Null, json!([]), json!("cafe"), json!({})] {
            assert_eq!(action.check_result(&value), Err(ResultFault::Bad), "{action}");
        }
    }
}

#[test]
fn a_refusal_names_the_place_and_what_is_allowed() {
    for (action, arguments, expected) in [
        (
            DesignAction::MoveNode,
            json!({"node": "1", "x": 1e99, "y": 0}),
            "at /x the schema asks for \"maximum\": 1000000",
        ),
        (
            DesignAction::ResizeNode,
            json!({"node": "1", "width": 0.0004, "height": 1}),
            "at /width the schema asks for \"exclusiveMinimum\": 0",
        ),
        (
            DesignAction::SetText,
            json!({"node": "1", "text": "a".repeat(10_001)}),
            "at /text the schema asks for \"maxLength\": 10000",
        ),
        (
            DesignAction::SetFill,
            json!({"node": "1", "color": "red"}),
            "at /color the schema asks for \"pattern\": \"^#[0-9a-f]{6}$\"",
        ),
        (
            DesignAction::ExportImage,
            json!({"node": "1", "scale": 1.5}),
            "at /scale the schema asks for \"enum\": [0.5,1,2,3]",
        ),
        (
            DesignAction::DeleteNode,
            json!({"node": {"step": 0}}),
            "at /node/step only the number of an earlier step that creates a node is allowed",
        ),
    ] {
        assert_eq!(refusal(action, &arguments), expected);
    }
}

#[test]
fn numbers_are_rounded_before_they_are_kept() {
    let arguments = json!({"node": "1:2", "x": 0.1 + 0.2, "y": -0.0004});
    let Ok(checked) = DesignAction::MoveNode.check(&object(&arguments)) else { panic!("it fits") };
    assert_eq!(checked.arguments(), &object(&json!({"node": "1:2", "x": 0.3, "y": 0})));
}

#[test]
fn size_and_depth_are_limited() {
    // A name that the schema does not know would be refused as well; the limits come first.
    let deep = |depth: usize| {
        let arrays = "[".repeat(depth - 1) + &"]".repeat(depth - 1);
        serde_json::from_str::<Value>(&format!("{{\"node\":{arrays}}}")).unwrap()
    };
    assert!(refusal(DesignAction::DeleteNode, &deep(DEPTH_MAX)).contains("/node"));
    let message = refusal(DesignAction::DeleteNode, &deep(DEPTH_MAX + 1));
    assert_eq!(message, "arguments can be nested at most 8 levels deep");
    let sized = |bytes: usize| json!({ "node": "a".repeat(bytes - 11) });
    assert_eq!(sized(100).to_string().len(), 100);
    assert!(refusal(DesignAction::DeleteNode, &sized(ARGUMENTS_BYTES_MAX)).contains("/node"));
    let message = refusal(DesignAction::DeleteNode, &sized(ARGUMENTS_BYTES_MAX + 1));
    assert_eq!(message, "the arguments of a proposal can have at most 65536 bytes as JSON");
}

fn steps(steps: &[(&str, Value)]) -> Result<Vec<CheckedAction>, String> {
    let steps: Vec<_> = steps.iter().map(|(name, value)| (*name, object(value))).collect();
    CheckedAction::steps(&steps).map_err(|refusal| refusal.to_string())
}

#[test]
fn steps_name_only_nodes_that_earlier_ones_make() {
    let frame = ("create_frame", good(DesignAction::CreateFrame));
    let delete = |step: usize| ("delete_node", json!({"node": {"step": step}}));
    let moved = |node: Value, parent: Value| {
        ("move_node", json!({"node": node, "x": 0, "y": 0, "parent": parent}))
    };
    let taken = steps(&[frame.clone(), moved(json!("1"), json!({"step": 0})), delete(0)]);
    let taken = taken.unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!(highest_effect(&taken), Some(ActionEffect::Destructive));
    assert_eq!(highest_effect(&taken[..2]), Some(ActionEffect::Write));
    assert_eq!(highest_effect(&[]), None);
    let only = "only the number of an earlier step that creates a node is allowed";
    for (given, place) in [
        (vec![delete(0), frame.clone()], "step 0: at /node/step "),
        (vec![frame.clone(), delete(1)], "step 1: at /node/step "),
        (vec![frame.clone(), delete(2), frame.clone()], "step 1: at /node/step "),
        (vec![("list_pages", json!({})), delete(0)], "step 1: at /node/step "),
        (
            vec![frame.clone(), moved(json!({"step": 0}), json!({"step": 1}))],
            "step 1: at /parent/step ",
        ),
    ] {
        assert_eq!(steps(&given).err(), Some(format!("{place}{only}")));
    }
}

#[test]
fn a_proposal_has_1_to_20_steps_of_known_actions_and_64_kib_together() {
    let page = ("list_pages", json!({}));
    assert_eq!(steps(&vec![page.clone(); STEPS_MAX]).map(|steps| steps.len()), Ok(STEPS_MAX));
    for count in [0, STEPS_MAX + 1] {
        let refused = steps(&vec![page.clone(); count]).err();
        assert_eq!(refused.as_deref(), Some("a proposal must have 1 to 20 steps"));
    }
    let refused = steps(&[page, ("run_code", json!({}))]).err().unwrap();
    assert!(
        refused.starts_with("step 1: at /action only these actions are allowed: list_pages, "),
        "{refused}"
    );
    let text = |characters| ("set_text", json!({"node": "1", "text": "a".repeat(characters)}));
    // 22 bytes beside the text, six times 10,000, and the rest.
    let full = |last| [vec![text(10_000); 6], vec![text(last)]].concat();
    assert!(steps(&full(65_536 - 60_000 - 7 * 22)).is_ok());
    let refused = steps(&full(65_536 - 60_000 - 7 * 22 + 1)).err();
    assert_eq!(
        refused.as_deref(),
        Some("the arguments of a proposal can have at most 65536 bytes as JSON")
    );
}

#[test]
fn results_are_limited() {
    let entry = json!({"id": "1", "name": "a", "kind": "text"});
    let selected = |count: usize| json!({"nodes": vec![entry.clone(); count], "truncated": true});
    assert_eq!(DesignAction::GetSelection.check_result(&selected(500)), Ok(()));
    assert_eq!(DesignAction::GetSelection.check_result(&selected(501)), Err(ResultFault::Bad));
    let page = |name: usize| json!({"id": "a".repeat(100), "name": "é".repeat(name)});
    let pages = |name| json!({"pages": vec![page(name); 500], "truncated": true});
    assert_eq!(DesignAction::ListPages.check_result(&pages(200)), Ok(()));
    assert_eq!(DesignAction::ListPages.check_result(&pages(201)), Err(ResultFault::Bad));
    let renamed = |bytes: usize| json!({"node": "1", "old": "a".repeat(bytes - 21)});
    assert_eq!(renamed(100).to_string().len(), 100);
    assert_eq!(DesignAction::RenameNode.check_result(&renamed(RESULT_BYTES_MAX)), Ok(()));
    let larger = renamed(RESULT_BYTES_MAX + 1);
    assert_eq!(DesignAction::RenameNode.check_result(&larger), Err(ResultFault::TooLarge));
    let image = |data: String| json!({"mimeType": "image/png", "data": data});
    let check = |data: String| DesignAction::ExportImage.check_result(&image(data));
    assert_eq!(check("A".repeat(8 << 20)), Ok(()));
    assert_eq!(check("A".repeat((8 << 20) + 1)), Err(ResultFault::Bad));
    assert_eq!(check("<svg>".to_owned()), Err(ResultFault::Bad));
}
