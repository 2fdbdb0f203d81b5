//! What verbs share: the parts of their transactions that more than one needs, one file per noun. No file
//! here uses a verb.

pub(in crate::store) mod action;
pub(in crate::store) mod attempts;
pub(in crate::store) mod audit;
pub(in crate::store) mod backlog;
pub(in crate::store) mod changes;
pub(in crate::store) mod dead_letters;
pub(in crate::store) mod effect;
pub(in crate::store) mod forge_limits;
pub(in crate::store) mod inbox;
pub(in crate::store) mod installations;
pub(in crate::store) mod items;
pub(in crate::store) mod lease;
pub(in crate::store) mod listing;
pub(in crate::store) mod operations;
pub(in crate::store) mod outbox;
pub(in crate::store) mod publication;
pub(in crate::store) mod relay;
pub(in crate::store) mod release_end;
pub(in crate::store) mod release_steps;
pub(in crate::store) mod releases;
pub(in crate::store) mod row;
pub(in crate::store) mod settlement;
pub(in crate::store) mod subject;
pub(in crate::store) mod target;
pub(in crate::store) mod ticks;
pub(in crate::store) mod turns;
