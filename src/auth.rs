//! Who asks. Credentials come in, a principal comes out, or nothing: pure checks, no state, no store.
//! A principal can only be made here, so holding one is proof of the check.

pub mod access_token;

mod jwt;

pub mod operator;

pub mod shared_secret;

pub mod workload;
