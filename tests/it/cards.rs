//! Agent cards: those written by hand, those made by chance, and what the command line says of them.

mod agreement;
mod command;
mod conversion;
mod fix_command;
mod fix_limits;
mod fixing;
mod hand_written;
pub(crate) mod hostile;
mod make;
mod oracle;
mod planted;
mod registry;
mod service;
mod several;
mod signatures;
mod terminal;
