//! The API: `apps.kruise.io/v1beta1`, field for field as OpenKruise has it, and the fields that it
//! shares with `v1alpha1`.

mod canary;
mod container;
mod schema;
mod set;
mod status;
mod strategy;
mod version;

pub(crate) use canary::{base_of, is_canary};
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
