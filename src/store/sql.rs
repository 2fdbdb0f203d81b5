//! The narrow interface between verbs and the engine: statements with named parameters, and rows whose
//! columns are read as the types of `domain`. No verb names the engine's crate, so that another SQL engine
//! is a driver behind these few types.

pub(in crate::store) mod column;
pub(in crate::store) mod value;

pub(in crate::store) use crate::store::sqlite::statement::{Db, Row, Tx};
pub(in crate::store) use value::params;
