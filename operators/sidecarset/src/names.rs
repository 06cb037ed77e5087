//! The names that several parts share: of the operator itself, and of labels.

/// The operator's name, and that of its webhook configuration.
pub(crate) const OPERATOR: &str = "sidecarset";

/// The label that each namespace carries its name in.
pub(crate) const NAMESPACE_NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// The label of ControllerRevisions, policies and bindings that names their set.
pub const SET_LABEL: &str = "kruise.io/sidecarset-name";

/// The label of ControllerRevisions that carries the user's name for the version.
pub const CUSTOM_VERSION_LABEL: &str = "apps.kruise.io/sidecarset-custom-version";

/// The label that marks a set as a canary: its Pods get its containers instead of its base's.
pub(crate) const CANARY_LABEL: &str = "apps.kruise.io/sidecarset-canary";

/// The label of a canary that names its base.
pub(crate) const BASE_LABEL: &str = "apps.kruise.io/sidecarset-base";
