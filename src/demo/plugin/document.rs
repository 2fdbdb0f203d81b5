//! The file that is open in the plugin's design tool: pages and nodes in memory, and every action on them.

mod act;

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

words! {
    /// What a node is.
    Kind {
        /// It contains others.
        Frame => "frame",
        Rectangle => "rectangle",
        Text => "text",
    }
}

/// A node. Lengths are in the file's own unit; the position is that of its upper left corner on the page.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    pub name: String,
    /// The id of its page.
    pub page: String,
    /// The id of the frame that contains it.
    pub parent: Option<String>,
    /// From the left edge of the page.
    pub x: f64,
    /// From the upper edge of the page.
    pub y: f64,
    /// Its width, more than 0.
    pub width: f64,
    /// Its height, more than 0.
    pub height: f64,
    /// Its colour, `#rrggbb`.
    pub fill: Option<String>,
    /// From 0 to 1; `None` without a colour.
    pub opacity: Option<f64>,
    /// Its characters, of a text.
    pub text: Option<String>,
}

/// Nodes as they were before a change; `None` for a node that the change made.
type Step = Vec<(String, Option<Node>)>;

/// How many changes can be undone.
const UNDOS_MAX: usize = 100;

/// A file. Each change is one step that can be undone.
#[derive(Clone, Debug)]
pub struct Document {
    /// Ids and names of the pages. The first one is open.
    pages: Vec<(String, String)>,
    nodes: BTreeMap<String, Node>,
    /// Ids of what the person has selected.
    selection: Vec<String>,
    /// The last changes, the oldest first.
    undos: VecDeque<Step>,
    /// The number of the last node that was made.
    last: u64,
}

impl Document {
    /// Returns a file with a frame that contains a title, a rectangle beside it, and a second, empty page. The title
    /// is selected.
    #[must_use]
    pub fn sample() -> Self {
        let page = "0:1".to_owned();
        let pages =
            vec![(page.clone(), "Login".to_owned()), ("0:2".to_owned(), "Archive".to_owned())];
        let node =
            |kind, name: &str, parent: Option<&str>, place: [f64; 4], text: Option<&str>| Node {
                kind,
                name: name.to_owned(),
                page: page.clone(),
                parent: parent.map(ToOwned::to_owned),
                x: place[0],
                y: place[1],
                width: place[2],
                height: place[3],
                fill: Some("#ffffff".to_owned()),
                opacity: Some(1.0),
                text: text.map(ToOwned::to_owned),
            };
        let nodes = BTreeMap::from([
            (
                Self::FRAME.to_owned(),
                node(Kind::Frame, "Form", None, [0.0, 0.0, 320.0, 480.0], None),
            ),
            (
                Self::TITLE.to_owned(),
                node(
                    Kind::Text,
                    "Title",
                    Some(Self::FRAME),
                    [24.0, 24.0, 272.0, 32.0],
                    Some("Log in"),
                ),
            ),
            (
                Self::RECTANGLE.to_owned(),
                node(Kind::Rectangle, "Banner", None, [360.0, 0.0, 200.0, 80.0], None),
            ),
        ]);
        Self {
            pages,
            nodes,
            selection: vec![Self::TITLE.to_owned()],
            undos: VecDeque::new(),
            last: 3,
        }
    }

    /// The frame of [`Document::sample`].
    pub const FRAME: &'static str = "1:1";
    /// The title in that frame.
    pub const TITLE: &'static str = "1:2";
    /// The rectangle beside it.
    pub const RECTANGLE: &'static str = "1:3";

    /// Returns a node.
    #[must_use]
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.get(id)
    }

    /// Returns how many nodes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Says whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Changes the characters of a text, as the person does by hand.
    pub fn type_text(&mut self, id: &str, text: &str) {
        if let Some(node) = self.nodes.get_mut(id) {
            node.text = Some(text.to_owned());
        }
    }

    /// Takes the last change back, as Ctrl+Z does. Returns whether there was one.
    pub fn undo(&mut self) -> bool {
        let Some(step) = self.undos.pop_back() else { return false };
        for (id, before) in step {
            match before {
                Some(node) => drop(self.nodes.insert(id, node)),
                None => drop(self.nodes.remove(&id)),
            }
        }
        true
    }

    fn remember(&mut self, step: Step) {
        if self.undos.len() == UNDOS_MAX {
            self.undos.pop_front();
        }
        self.undos.push_back(step);
    }

    /// Returns what a card must be compared with before the act: everything of a node that a person can see.
    #[must_use]
    pub fn fingerprint(&self, id: &str) -> Option<Value> {
        let node = self.nodes.get(id)?;
        let Node { kind, name, parent, fill, opacity, text, .. } = node;
        Some(json!({
            "id": id, "name": name, "kind": kind.as_str(), "parent": parent, "box": area(node),
            "text": text, "fill": fill, "opacity": opacity, "inside": self.below(id).len(),
        }))
    }

    /// Returns the ids of what a node contains, at any depth.
    #[must_use]
    pub fn below(&self, id: &str) -> Vec<String> {
        let mut found: Vec<String> = self.children(id).map(ToOwned::to_owned).collect();
        let mut next = 0;
        while let Some(one) = found.get(next) {
            let inside: Vec<String> = self.children(one).map(ToOwned::to_owned).collect();
            found.extend(inside);
            next += 1;
        }
        found
    }

    fn children(&self, id: &str) -> impl Iterator<Item = &str> {
        let inside = self.nodes.iter().filter(move |(_, node)| node.parent.as_deref() == Some(id));
        inside.map(|(child, _)| child.as_str())
    }
}

fn area(node: &Node) -> Value {
    json!({"x": node.x, "y": node.y, "width": node.width, "height": node.height})
}
