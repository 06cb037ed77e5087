//! Sidecars for running Pods: OpenKruise's SidecarSet, with its webhooks.
//!
//! A set gets its defaults and is validated when it is written. Its containers are injected into
//! each Pod that it selects when that Pod is created. Newer images are rolled out to running Pods, a
//! few at a time, and the status of the set counts its Pods.

mod check;
mod defaults;
mod error;
mod hash;
mod inject;
mod kind;
mod names;
mod operator;
mod pod_annotations;
mod pod_namespace;
mod policy;
mod reconcile;
mod revision;
mod roll_out;
mod scope;
mod selector;
mod status;
mod upgradable;
pub mod v1alpha1;
mod webhook_configuration;
mod written_pods;

pub use check::{ValidationContext, check};
pub use defaults::fill_in;
pub use error::Error;
pub use hash::{spec_hash, spec_hash_without_image};
pub use inject::{INJECTED, InjectionContext, inject};
pub use kind::{
    InjectRevision, InjectionStrategy, OrderTerm, PatchPodMetadata, PatchPolicy, PodInjectPolicy,
    PriorityStrategy, ResourcesExpression, ResourcesExpressions, ResourcesPolicy, RevisionPolicy,
    ScatterTerm, SharePolicy, ShareVolumePolicy, SidecarContainer, SidecarSet, SidecarSetSpec,
    SidecarSetStatus, SourceContainerName, TargetContainersMode, TransferEnv, UpdateStrategy,
    UpdateType, UpgradeStrategy, UpgradeType, WeightTerm,
};
pub use names::{CUSTOM_VERSION_LABEL, SET_LABEL};
pub use operator::{operator, operator_with};
pub use pod_annotations::{
    HASH_ANNOTATION, HASH_WITHOUT_IMAGE_ANNOTATION, INJECTED_LIST_ANNOTATION, Injection,
    LastStatus, UPDATE_STATE_ANNOTATION, UpdateState, WORKING_ANNOTATION, injected_sets,
    injections, injections_without_image, other_version_annotation, update_states,
    version_annotation, working_containers,
};
pub use pod_namespace::{PodNamespace, selects};
pub use policy::{
    InjectedBy, Injector, POLICY_CONDITION, SetPolicy, UnknownInjector, WebhookReason, set_policy,
    webhook_requirement,
};
pub use revision::{RevisionPlan, chosen_revision, latest_revision, plan_revisions, restore};
pub use roll_out::{
    InjectedPod, PROGRESSING, Plan, Progress, Update, changed_fields, flipped, injected_pod,
    is_active, plan, updated,
};
pub use scope::{Scope, scopes};
pub use status::{INJECTED_CONDITION, ObservedState, report};
pub use upgradable::UPGRADABLE;
pub use webhook_configuration::scoping_patch;
