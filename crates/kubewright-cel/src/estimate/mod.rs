//! Estimates the maximum cost of an expression from the sizes that its schema allows
//! (cel-go/checker/cost.go, k8s.io/apiserver/pkg/cel/library/cost.go).
//!
//! The estimate decides which CustomResourceDefinitions a server accepts. Its unit is that of
//! Kubernetes and its numbers are exact, unlike those of the [`Budget`](crate::Budget) of an
//! evaluation.

mod comprehensions;
mod estimator;
mod node_estimate;
mod size_limits;

pub(crate) use estimator::estimate;
pub use size_limits::SizeLimits;
