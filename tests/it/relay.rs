//! The relay: what holds of any single decision, and of long random walks, through the rules alone and through the store
//! that carries them out.

mod properties;
mod store_walk;
mod walk;
