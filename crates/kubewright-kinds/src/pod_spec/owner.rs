//! The two places of a PodSpec.

/// What contains a PodSpec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpecOwner {
    Pod,
    Template,
}
