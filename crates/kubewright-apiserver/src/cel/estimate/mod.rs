//! What an expression may cost at most, told before it is evaluated: the sizes that its schema
//! allows decide (cel-go/checker/cost.go, k8s.io/apiserver/pkg/cel/library/cost.go).
//!
//! Unlike the [`Budget`](super::Budget) of an evaluation this is Kubernetes' own count, number by
//! number: it decides which definitions are accepted.

mod calls;
mod declared;
mod known;
mod library;
mod loops;
mod size;
mod walk;

pub(crate) use declared::Declared;
pub(super) use walk::estimate;
