//! From the schema that a Rust type has to the one that a CustomResourceDefinition takes.

mod core_type;
mod embedded;
mod inline;
mod special;

pub use core_type::core_schema;
pub(crate) use embedded::complete;
pub use inline::inline_references;

/// Where a schema names the type of Kubernetes that it describes, between
/// [`inline_references`] and [`tidy_crd`](crate::tidy_crd), which takes the name away.
///
/// `JSONSchemaProps` has this field and no definition may use it, so it survives kube's types and
/// is in nobody's way.
pub(crate) const TYPE_NAME: &str = "id";

/// How the names of Kubernetes' own types begin.
pub(crate) const KUBERNETES: &str = "io.k8s.";
