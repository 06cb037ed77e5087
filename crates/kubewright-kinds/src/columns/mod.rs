//! The columns of tables: how a column is declared, and the columns that definitions declare.

mod age;
mod cell;
mod column;
mod custom;

pub(crate) use age::human_duration;
pub use cell::Row;
pub(crate) use cell::{Cell, first_three, or_none};
pub(crate) use column::{AGE, DEFAULT_COLUMNS, NAME_AND_AGE};
pub use column::{Column, NAME};
pub use custom::CustomColumn;
