//! The kinds of the group scheduling.k8s.io.

mod priority_class;

pub use priority_class::PRIORITY_CLASS;
