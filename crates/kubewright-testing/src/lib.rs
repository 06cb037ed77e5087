//! Clusters for tests: embedded and real; polling assertions; the differential suite.

pub mod control_plane;
mod error;
mod progress;
pub mod real;
mod settings;

pub use error::Error;
pub use settings::{Choice, Settings};
