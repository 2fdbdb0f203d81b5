//! The Model Context Protocol, in two eras: messages in, messages out. It knows no socket.

pub mod revision;
