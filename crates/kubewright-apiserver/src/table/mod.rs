//! Representations other than the object itself: tables, and metadata only.

mod form;
mod rows;

pub use form::{Form, Included};
pub(crate) use rows::Shaper;
