//! Answers in other forms than the object itself: tables for people, metadata for those who need
//! no more.

mod age;
mod cell;
mod column;
mod custom;
mod form;
mod json_path;
mod kinds;
mod rows;

pub(crate) use custom::CustomColumn;
pub use form::{Form, Included};
pub(crate) use rows::{Shaper, shape};
