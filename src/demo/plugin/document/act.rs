//! The actions, as a design tool carries them out.

use serde_json::{Map, Value, json};

use super::{Document, Kind, Node, area};
use crate::relay::action::DesignAction;

/// A picture of one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
/// The beginning of a picture.
const JPEG: &str = "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////2Q==";
/// `<svg xmlns="http://www.w3.org/2000/svg"/>`.
const SVG: &str = "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=";
/// Most pages and selected nodes of an answer.
const ENTRIES_MAX: usize = 500;
/// How many nodes are found when the arguments do not say.
const FOUND: u64 = 50;

/// Arguments that fit the action's schema, with no reference to a step left.
#[derive(Clone, Copy)]
struct Arguments<'a>(&'a Map<String, Value>);

impl<'a> Arguments<'a> {
    fn text(self, name: &str) -> Option<&'a str> {
        self.0.get(name).and_then(Value::as_str)
    }

    fn number(self, name: &str) -> f64 {
        self.0.get(name).and_then(Value::as_f64).unwrap_or_default()
    }

    fn count(self, name: &str, otherwise: u64) -> usize {
        // JavaScript has only doubles, and `as_u64` refuses 50.0.
        let count = self.0.get(name).and_then(Value::as_f64).map(|count| format!("{count:.0}"));
        let count = count.and_then(|count| count.parse().ok()).unwrap_or(otherwise);
        usize::try_from(count).unwrap_or(usize::MAX)
    }
}

impl Document {
    /// Returns the nodes that an action is about, or why it cannot be carried out.
    ///
    /// # Errors
    /// A word for the result or decision.
    pub fn targets(
        &self,
        action: DesignAction,
        arguments: &Map<String, Value>,
    ) -> Result<Vec<String>, &'static str> {
        let arguments = Arguments(arguments);
        let mut targets = Vec::new();
        if let Some(id) = arguments.text("node") {
            let node = self.nodes.get(id).ok_or("no_such_node")?;
            if action == DesignAction::SetText && node.kind != Kind::Text {
                return Err("not_a_text");
            }
            targets.push(id.to_owned());
        }
        if let Some(parent) = arguments.text("parent") {
            let node = self.nodes.get(parent).ok_or("no_such_node")?;
            if node.kind != Kind::Frame {
                return Err("not_a_container");
            }
            let is_inside =
                |id: &String| id == parent || self.below(id).iter().any(|it| it == parent);
            if targets.iter().any(is_inside) {
                return Err("inside_itself");
            }
            targets.push(parent.to_owned());
        }
        Ok(targets)
    }

    /// Carries an action out.
    ///
    /// # Errors
    /// A word for the result; nothing was changed.
    pub fn act(
        &mut self,
        action: DesignAction,
        arguments: &Map<String, Value>,
    ) -> Result<Value, &'static str> {
        // Checked again, because the document may have changed since the card was made.
        self.targets(action, arguments)?;
        let arguments = Arguments(arguments);
        match action {
            DesignAction::ListPages => {
                let pages = self.pages.iter().take(ENTRIES_MAX);
                let pages: Vec<Value> =
                    pages.map(|(id, name)| json!({"id": id, "name": name})).collect();
                Ok(json!({"pages": pages, "truncated": self.pages.len() > ENTRIES_MAX}))
            }
            DesignAction::GetSelection => {
                let chosen = self.selection.iter().filter_map(|id| Some((id, self.nodes.get(id)?)));
                let nodes: Vec<Value> =
                    chosen.take(ENTRIES_MAX).map(|(id, it)| entry(id, it)).collect();
                Ok(json!({"nodes": nodes, "truncated": false}))
            }
            DesignAction::GetNode => {
                let id = arguments.text("node").ok_or("no_such_node")?;
                let node = self.whole(id, arguments.count("depth", 1)).ok_or("no_such_node")?;
                Ok(json!({"node": node, "truncated": false}))
            }
            DesignAction::FindNodes => self.find(arguments),
            DesignAction::ExportImage => {
                let (mime, data) = match arguments.text("format") {
                    Some("jpeg") => ("image/jpeg", JPEG),
                    Some("svg") => ("image/svg+xml", SVG),
                    _ => ("image/png", PNG),
                };
                Ok(json!({"mimeType": mime, "data": data}))
            }
            DesignAction::CreateRectangle => Ok(self.create(Kind::Rectangle, arguments)),
            DesignAction::CreateFrame => Ok(self.create(Kind::Frame, arguments)),
            DesignAction::CreateText => Ok(self.create(Kind::Text, arguments)),
            DesignAction::DeleteNode => self.delete(arguments),
            DesignAction::SetText
            | DesignAction::SetFill
            | DesignAction::MoveNode
            | DesignAction::ResizeNode
            | DesignAction::RenameNode => self.change(action, arguments),
        }
    }

    fn whole(&self, id: &str, depth: usize) -> Option<Value> {
        let node = self.nodes.get(id)?;
        let children: Vec<Value> = match depth.checked_sub(1) {
            Some(depth) => self.children(id).filter_map(|child| self.whole(child, depth)).collect(),
            None => Vec::new(),
        };
        let Node { fill, opacity, text, .. } = node;
        let mut whole = entry(id, node);
        let more = json!({
            "box": area(node), "fill": fill, "opacity": opacity, "text": text, "children": children,
        });
        if let (Some(whole), Value::Object(more)) = (whole.as_object_mut(), more) {
            whole.extend(more);
        }
        Some(whole)
    }

    fn find(&self, arguments: Arguments<'_>) -> Result<Value, &'static str> {
        let page = arguments.text("page");
        let is_page = |(id, name): &&(String, String)| page.is_none_or(|it| it == id || it == name);
        let pages: Vec<&str> =
            self.pages.iter().filter(is_page).map(|(id, _)| id.as_str()).collect();
        if pages.is_empty() {
            return Err("no_such_page");
        }
        let name = arguments.text("name").unwrap_or_default().to_lowercase();
        let kind = arguments.text("kind");
        let is_wanted = |node: &Node| {
            pages.contains(&node.page.as_str())
                && node.name.to_lowercase().contains(&name)
                && kind.is_none_or(|kind| kind == node.kind.as_str())
        };
        let mut found = self.nodes.iter().filter(|(_, node)| is_wanted(node));
        let mut nodes: Vec<Value> = Vec::new();
        for (id, node) in found.by_ref().take(arguments.count("limit", FOUND)) {
            let mut entry = entry(id, node);
            if let Some(entry) = entry.as_object_mut() {
                entry.insert("page".to_owned(), json!(node.page));
            }
            nodes.push(entry);
        }
        Ok(json!({"nodes": nodes, "truncated": found.next().is_some()}))
    }

    fn create(&mut self, kind: Kind, arguments: Arguments<'_>) -> Value {
        self.last += 1;
        let id = format!("1:{}", self.last);
        let parent = arguments.text("parent").map(ToOwned::to_owned);
        let open = self.pages.first().map(|(id, _)| id.clone()).unwrap_or_default();
        let page = parent.as_ref().and_then(|id| self.nodes.get(id)).map(|node| node.page.clone());
        let fill = arguments.text("fill").map(ToOwned::to_owned);
        let is_text = kind == Kind::Text;
        let node = Node {
            kind,
            name: arguments.text("name").unwrap_or(kind.as_str()).to_owned(),
            page: page.unwrap_or(open),
            parent,
            x: arguments.number("x"),
            y: arguments.number("y"),
            width: if is_text { 100.0 } else { arguments.number("width") },
            height: if is_text { 20.0 } else { arguments.number("height") },
            opacity: fill.as_ref().map(|_| 1.0),
            fill,
            text: arguments.text("text").map(ToOwned::to_owned),
        };
        self.nodes.insert(id.clone(), node);
        self.remember(vec![(id.clone(), None)]);
        json!({"node": id})
    }

    fn delete(&mut self, arguments: Arguments<'_>) -> Result<Value, &'static str> {
        let id = arguments.text("node").ok_or("no_such_node")?;
        let gone = [vec![id.to_owned()], self.below(id)].concat();
        let count = gone.len();
        let step = gone.into_iter().map(|id| (id.clone(), self.nodes.remove(&id))).collect();
        self.remember(step);
        Ok(json!({"node": id, "deleted": count}))
    }

    fn change(
        &mut self,
        action: DesignAction,
        arguments: Arguments<'_>,
    ) -> Result<Value, &'static str> {
        let id = arguments.text("node").ok_or("no_such_node")?;
        let node = self.nodes.get_mut(id).ok_or("no_such_node")?;
        let before = node.clone();
        let text = |name| arguments.text(name).unwrap_or_default().to_owned();
        let old = match action {
            DesignAction::SetText => json!(node.text.replace(text("text")).unwrap_or_default()),
            DesignAction::SetFill => {
                let has_opacity = arguments.0.contains_key("opacity");
                node.opacity = Some(if has_opacity { arguments.number("opacity") } else { 1.0 });
                json!(node.fill.replace(text("color")))
            }
            DesignAction::MoveNode => {
                (node.x, node.y) = (arguments.number("x"), arguments.number("y"));
                if let Some(parent) = arguments.text("parent") {
                    node.parent = Some(parent.to_owned());
                }
                json!({"x": before.x, "y": before.y, "parent": before.parent})
            }
            DesignAction::ResizeNode => {
                (node.width, node.height) = (arguments.number("width"), arguments.number("height"));
                json!({"width": before.width, "height": before.height})
            }
            _ => json!(std::mem::replace(&mut node.name, text("name"))),
        };
        self.remember(vec![(id.to_owned(), Some(before))]);
        Ok(json!({"node": id, "old": old}))
    }
}

fn entry(id: &str, node: &Node) -> Value {
    json!({"id": id, "name": node.name, "kind": node.kind.as_str()})
}
