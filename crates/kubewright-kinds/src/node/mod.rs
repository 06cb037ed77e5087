//! The kinds of the group node.k8s.io.

mod runtime_class;

pub use runtime_class::RUNTIME_CLASS;
