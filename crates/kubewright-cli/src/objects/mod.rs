//! Objects of any kind: read from YAML, located in a cluster, applied, compared, deleted.

mod apply;
mod diff;
mod leftover;
mod located;
mod policies;
mod read;
mod served_kinds;
mod text;
mod webhooks;

pub(crate) use apply::{
    DEV_FIELD_MANAGER, FIELD_MANAGER, Ownership, apply_all, apply_one, try_apply,
};
pub(crate) use diff::{Difference, difference, text_difference};
pub(crate) use kubewright_manifest::{calls_webhooks, is_converted, without_webhooks};
pub(crate) use leftover::{EarlierRuns, leftovers};
pub(crate) use located::Located;
pub(crate) use policies::{POLICY_KINDS, are_policies_served, is_policy};
pub(crate) use read::{read, read_folder};
pub(crate) use served_kinds::{KindName, ServedKinds};
pub(crate) use text::text;
pub(crate) use webhooks::{AbsentVersion, absent_versions, has_several_versions};
