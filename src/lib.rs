//! x
pub mod domain;
pub mod clock; pub mod random; pub mod thread; pub mod wake; pub mod secret;
pub mod api;
pub mod http { pub mod message; }
