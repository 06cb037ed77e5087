//! The API: `apps.kruise.io/v1beta1`, field for field as OpenKruise has it, and what `v1alpha1` has
//! in common with it.

mod container;
mod schema;
mod set;
mod status;
mod strategy;
mod version;

pub use container::{
    PodInjectPolicy, ResourcesExpression, ResourcesExpressions, ResourcesPolicy, SharePolicy,
    ShareVolumePolicy, SidecarContainer, SourceContainerName, TargetContainersMode, TransferEnv,
    UpgradeStrategy, UpgradeType,
};
pub(crate) use schema::{containers, is_default, secrets, selector, volumes};
pub use set::{SidecarSet, SidecarSetSpec};
pub use status::SidecarSetStatus;
pub use strategy::{
    InjectRevision, InjectionStrategy, OrderTerm, PatchPodMetadata, PatchPolicy, PriorityStrategy,
    RevisionPolicy, ScatterTerm, UpdateStrategy, UpdateType, WeightTerm,
};
pub(crate) use version::sidecar_set;
