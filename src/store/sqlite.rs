//! The engine on `SQLite`: how the file is opened and migrated, the one thread that writes, and the queue
//! in front of it.

pub(in crate::store) mod check;
pub(in crate::store) mod checkpoint;
pub(in crate::store) mod command;
pub(in crate::store) mod connection;
mod failure;
pub(in crate::store) mod in_use;
pub(in crate::store) mod migrate;
pub(in crate::store) mod place;
mod progress;
pub(in crate::store) mod queue;
pub(in crate::store) mod readers;
pub(in crate::store) mod statement;
pub(in crate::store) mod writer;
