//! Agent cards: those written by hand, those made by chance, and what the command line says of them.

mod agreement;
mod hand_written;
mod make;
mod oracle;
mod planted;
