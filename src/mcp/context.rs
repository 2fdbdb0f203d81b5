//! What a message comes with.

use crate::mcp::era::Header;
use crate::mcp::{Caller, VERSION_HEADER};

/// Headers of a request.
pub trait Headers {
    /// Returns a header by its name in lower case.
    fn get(&self, name: &str) -> Header<'_>;
}

/// What a message came with.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Who calls.
    pub caller: &'a Caller,
    /// The session it names.
    pub session: Header<'a>,
    /// Its other headers; nothing over a transport without any.
    pub headers: Option<&'a dyn Headers>,
}

impl<'a> Context<'a> {
    /// Returns a header.
    pub(super) fn header(&self, name: &str) -> Header<'a> {
        self.headers.map_or(Header::Absent, |headers| headers.get(name))
    }

    pub(super) fn version(&self) -> Option<Header<'a>> {
        self.headers.map(|headers| headers.get(VERSION_HEADER))
    }
}
