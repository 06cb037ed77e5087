/// Why a Pod cannot get the containers of a set.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The Pod has a container of that name itself.
    #[error(
        "put container {container:?} of SidecarSet {set:?} into the Pod: the Pod has a container of \
         that name itself; rename one of them"
    )]
    Taken {
        /// The set.
        set: String,
        /// The container that both have.
        container: String,
    },
    /// Nothing is known of the Pod's namespace yet.
    #[error(
        "decide whether SidecarSet {set:?} is for namespace {namespace:?}: its labels are not known \
         here yet; create the Pod again in a moment"
    )]
    UnknownNamespace {
        /// The set.
        set: String,
        /// The namespace.
        namespace: String,
    },
    /// The version that the set names is not there.
    #[error(
        "put revision {revision:?} of SidecarSet {set:?} into the Pod: there is no such \
         ControllerRevision; name another one in spec.injectionStrategy.revision"
    )]
    NoRevision {
        /// The set.
        set: String,
        /// What the set names.
        revision: String,
    },
    /// No container is there to compute resources from.
    #[error(
        "compute the resources of container {container:?} of SidecarSet {set:?}: no container of the \
         Pod has a name like {pattern:?}; change targetContainersNameRegex"
    )]
    NoTarget {
        /// The set.
        set: String,
        /// The sidecar.
        container: String,
        /// What the names should be like.
        pattern: String,
    },
    /// An expression has no value for this Pod.
    #[error(
        "compute the resources of container {container:?} of SidecarSet {set:?} by {text:?}: {why}; \
         change resourcesExpr or the Pod"
    )]
    Expression {
        /// The set.
        set: String,
        /// The sidecar.
        container: String,
        /// The expression.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// An annotation cannot be merged into.
    #[error(
        "merge annotation {annotation:?} of SidecarSet {set:?} into that of the Pod: one of them is \
         no JSON; change it, or use the policy Overwrite"
    )]
    NotJson {
        /// The set.
        set: String,
        /// The annotation.
        annotation: String,
    },
}
