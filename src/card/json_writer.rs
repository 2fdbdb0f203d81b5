//! JSON in the making: parts of a text that are kept as they stand, put together anew.

use super::node::{Node, Type};

/// A value that is to be written.
#[derive(Clone, Debug)]
pub(super) enum JsonOutput<'a> {
    /// As it stands in the text, but laid out anew.
    Kept(Node<'a>),
    /// JSON of our own.
    Own(String),
    List(Vec<Self>),
    /// Names without quotes; they need no escapes.
    Object(Vec<(&'a str, Self)>),
}

impl JsonOutput<'_> {
    /// Writes it with two spaces a level, ending with a line feed.
    pub(super) fn write(&self) -> String {
        let mut out = String::new();
        self.write_at(0, &mut out);
        out.push('\n');
        out
    }

    fn write_at(&self, depth: usize, out: &mut String) {
        match self {
            Self::Own(text) => out.push_str(text),
            Self::Kept(node) => write_node(*node, depth, out),
            Self::List(items) => {
                let parts = items.iter().map(|item| (None, item));
                write_parts(['[', ']'], parts, depth, out, Self::write_at);
            }
            Self::Object(members) => {
                let parts =
                    members.iter().map(|(name, value)| (Some(format!("\"{name}\"")), value));
                write_parts(['{', '}'], parts, depth, out, Self::write_at);
            }
        }
    }
}

fn write_node(node: Node<'_>, depth: usize, out: &mut String) {
    let write = |node: &Node<'_>, depth: usize, out: &mut String| write_node(*node, depth, out);
    match node.kind() {
        Type::Object => {
            let members: Vec<_> = node.members().collect();
            let parts =
                members.iter().map(|member| (Some(member.key.raw().to_owned()), &member.value));
            write_parts(['{', '}'], parts, depth, out, write);
        }
        Type::Array => {
            let items: Vec<_> = node.items().collect();
            write_parts(['[', ']'], items.iter().map(|item| (None, item)), depth, out, write);
        }
        Type::Null | Type::Boolean | Type::Number | Type::String => out.push_str(node.raw()),
    }
}

fn write_parts<'t, T: 't>(
    brackets: [char; 2],
    parts: impl Iterator<Item = (Option<String>, &'t T)>,
    depth: usize,
    out: &mut String,
    write: impl Fn(&T, usize, &mut String),
) {
    let [open, close] = brackets;
    out.push(open);
    let mut is_empty = true;
    for (name, part) in parts {
        out.push_str(if is_empty { "" } else { "," });
        is_empty = false;
        new_line(depth + 1, out);
        if let Some(name) = name {
            out.push_str(&name);
            out.push_str(": ");
        }
        write(part, depth + 1, out);
    }
    if !is_empty {
        new_line(depth, out);
    }
    out.push(close);
}

fn new_line(depth: usize, out: &mut String) {
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
}
