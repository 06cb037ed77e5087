//! Sidecars for running Pods: OpenKruise's SidecarSet, with its webhooks.
//!
//! A set is filled in and checked when it is written; its containers are put into each Pod that it
//! selects when that Pod is created; newer images get into Pods that run, a few at a time; its
//! status counts the Pods.

mod check;
mod defaults;
mod error;
mod fresh;
mod hash;
mod inject;
mod kind;
mod narrow;
mod operator;
mod place;
mod policy;
mod reconcile;
mod record;
mod revision;
mod roll_out;
mod scope;
mod selector;
mod status;
mod upgradable;
pub mod v1alpha1;

pub use check::{Neighbours, check};
pub use defaults::fill_in;
pub use error::Error;
pub use hash::{spec_hash, spec_hash_without_image};
pub use inject::{INJECTED, Surroundings, inject};
pub use kind::{
    InjectRevision, InjectionStrategy, OrderTerm, PatchPodMetadata, PatchPolicy, PodInjectPolicy,
    PriorityStrategy, ResourcesExpression, ResourcesExpressions, ResourcesPolicy, RevisionPolicy,
    ScatterTerm, SharePolicy, ShareVolumePolicy, SidecarContainer, SidecarSet, SidecarSetSpec,
    SidecarSetStatus, SourceContainerName, TargetContainersMode, TransferEnv, UpdateStrategy,
    UpdateType, UpgradeStrategy, UpgradeType, WeightTerm,
};
pub use narrow::narrowed;
pub use operator::{operator, operator_with};
pub use place::{Place, selects};
pub use policy::{
    Injection, POLICY_CONDITION, Reason, SetPolicy, UnknownInjection, Way, obstacle, set_policy,
};
pub use record::{
    HASH_ANNOTATION, HASH_WITHOUT_IMAGE_ANNOTATION, INJECTED_LIST_ANNOTATION, Injected, LastStatus,
    UPDATE_STATE_ANNOTATION, UpdateState, WORKING_ANNOTATION, injected, injected_list,
    injected_without_image, other_version_annotation, update_states, version_annotation, working,
};
pub use revision::{
    CUSTOM_VERSION_LABEL, Revised, SET_LABEL, chosen_revision, latest_revision, restore, revise,
};
pub use roll_out::{
    Member, PROGRESSING, Plan, Progress, Update, changed_fields, flipped, is_active, member, plan,
    updated,
};
pub use scope::{Scope, scopes};
pub use status::{INJECTED_CONDITION, Report, report};
pub use upgradable::UPGRADABLE;
