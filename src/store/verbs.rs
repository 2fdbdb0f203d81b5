//! The verbs: what the rest of the house asks of the store, one file per noun, the SQL beside its
//! bindings. Each is one transaction, or one read.
//!
//! A limit is bound as `LIMIT +:limit`: `SQLite` looks into a bare parameter there while it plans, and
//! then prepares the statement anew each time it is bound.

mod agent_cards;
mod audit_list;
mod dead_letter_story;
mod dead_letter_summary;
mod dead_letters;
mod deliveries;
mod ids;
mod installations;
mod jobs;
mod outbox;
mod pauses;
mod reconciliation;
mod reconciliation_list;
mod redeliveries;
mod relay;
mod release_list;
mod request_states;
mod results;
mod retention;
mod sli;
mod status;
