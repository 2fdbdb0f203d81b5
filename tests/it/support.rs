//! What in-process tests stand on: a world with a temporary store, a fake forge, a manual clock and a
//! seeded source of chance. No test sleeps: it moves the clock and steps the workers.

mod backend;
pub(crate) mod campaign;
pub(crate) mod clock;
pub(crate) mod forge;
pub(crate) mod keys;
pub(crate) mod log;
pub(crate) mod pty;
pub(crate) mod reconciliation;
pub(crate) mod relay;
pub(crate) mod world;

pub(crate) use backend::NoBackend;
pub(crate) use clock::{ManualClock, SeededRandom};
pub(crate) use world::World;
