//! Kubernetes events that an operator writes about the objects it reconciles.

pub use kubewright_runtime::events::{Event, EventKind, Regarding};
