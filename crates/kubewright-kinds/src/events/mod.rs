//! The kinds of the group events.k8s.io.

mod conversion;
mod event;
mod validation;

pub use event::EVENT;
