//! The errors of an injection.

/// Why a Pod cannot get the containers of a set.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The Pod has a container of the same name itself.
    #[error(
        "put container {container:?} of SidecarSet {set:?} into the Pod: the Pod has a container of \
         that name itself; rename one of them"
    )]
    ContainerExists {
        /// The set.
        set: String,
        /// The name of both containers.
        container: String,
    },
    /// The Pod's namespace is not in the cache yet.
    #[error(
        "decide whether SidecarSet {set:?} selects namespace {namespace:?}: its labels are not known \
         here yet; create the Pod again in a moment"
    )]
    UnknownNamespace {
        /// The set.
        set: String,
        /// The namespace.
        namespace: String,
    },
    /// The revision that the set names does not exist.
    #[error(
        "put revision {revision:?} of SidecarSet {set:?} into the Pod: there is no such \
         ControllerRevision; name another one in spec.injectionStrategy.revision"
    )]
    NoRevision {
        /// The set.
        set: String,
        /// The revision that the set names.
        revision: String,
    },
    /// The Pod has no container to compute resources from.
    #[error(
        "compute the resources of container {container:?} of SidecarSet {set:?}: no container of the \
         Pod has a name that matches {pattern:?}; change targetContainersNameRegex"
    )]
    NoTarget {
        /// The set.
        set: String,
        /// The sidecar.
        container: String,
        /// The regular expression for names.
        pattern: String,
    },
    /// An expression has no value for this Pod.
    #[error(
        "compute the resources of container {container:?} of SidecarSet {set:?} by {text:?}: \
         {reason}; change resourcesExpr or the Pod"
    )]
    Expression {
        /// The set.
        set: String,
        /// The sidecar.
        container: String,
        /// The expression.
        text: String,
        /// Why it has no value.
        reason: String,
    },
    /// An annotation is not JSON and cannot be merged.
    #[error(
        "merge annotation {annotation:?} of SidecarSet {set:?} into that of the Pod: one of them is \
         not JSON; change it, or use the policy Overwrite"
    )]
    NotJson {
        /// The set.
        set: String,
        /// The annotation.
        annotation: String,
    },
}
