//! The marker of Kubernetes' own types in a schema.

/// The keyword with the name of a schema's Kubernetes type, from
/// [`inline_references`](crate::inline_references) to [`tidy_crd`](crate::tidy_crd), which removes
/// it.
///
/// `JSONSchemaProps` has this field and no definition may use it, so kube's types preserve it and it
/// conflicts with nothing.
pub(crate) const TYPE_NAME: &str = "id";

/// The prefix of the names of Kubernetes' own types.
pub(crate) const KUBERNETES: &str = "io.k8s.";
