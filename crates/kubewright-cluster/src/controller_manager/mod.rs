//! Which controllers there are, which of them are enabled, and how they run.
//!
//! [`table`] lists every controller once: its name in Kubernetes, its identity, and how it starts.
//! Everything else reads the table.

mod entry;
mod name;
mod options;
mod run;
mod table;

pub use name::{ControllerName, UnknownController};
pub use options::Controllers;
pub(crate) use run::run;
