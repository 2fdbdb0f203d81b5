//! The members of objects: which there are in the old card, under whatever spelling, and those of the new
//! one, where a name has one value.

use crate::card::json_writer::JsonOutput;
use crate::card::node::{Member, Node, Type};
use crate::card::shape::{Field, Shape};
use crate::card::spelling;

/// Returns the properties of an object except those that are null, which means absent.
pub(in crate::card) fn present(value: Node<'_>) -> impl Iterator<Item = Member<'_>> {
    value.members().filter(|member| member.value.kind() != Type::Null)
}

/// Returns the value of a property, in any spelling of its name.
pub(in crate::card) fn field<'a>(value: Node<'a>, name: &str) -> Option<Node<'a>> {
    present(value).find(|member| spelling::is_same(&member.name(), name)).map(|member| member.value)
}

/// Returns the property of a shape that is meant by a name.
pub(super) fn named(shape: &Shape, name: &str) -> Option<&'static Field> {
    let official = match (shape.title, name) {
        ("provider", "organization") => "name",
        ("apiKey scheme", "location") => "in",
        _ => name,
    };
    shape.fields.iter().find(|field| spelling::is_same(official, field.name))
}

/// The members of a new object.
#[derive(Default)]
pub(super) struct Members<'a> {
    list: Vec<(&'a str, JsonOutput<'a>)>,
    /// Names whose value was compared with a second one.
    compared: Vec<&'a str>,
}

impl<'a> Members<'a> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.list.iter().any(|(own, _)| *own == name)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut JsonOutput<'a>> {
        self.list.iter_mut().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    /// Adds a member, and says whether the object has it now. It has not if the name has another value.
    pub(super) fn put(&mut self, name: &'a str, value: JsonOutput<'a>) -> bool {
        let Some((_, own)) = self.list.iter().find(|(own, _)| *own == name) else {
            self.list.push((name, value));
            return true;
        };
        // Compared once only: a card that repeats a name may be large, and then each comparison is slow.
        if self.compared.contains(&name) {
            return false;
        }
        self.compared.push(name);
        own.write() == value.write()
    }
}

impl<'a> From<Members<'a>> for JsonOutput<'a> {
    fn from(members: Members<'a>) -> Self {
        Self::Object(members.list)
    }
}
