//! Objects of any kind: read from YAML, found in a cluster, applied, compared.

mod apply;
mod diff;
mod left_over;
mod located;
mod policies;
mod read;
mod webhooks;

pub(crate) use apply::{
    DEV_FIELD_MANAGER, FIELD_MANAGER, Ownership, apply_all, apply_one, try_apply,
};
pub(crate) use diff::{Difference, difference, text_difference};
pub(crate) use kubewright_manifest::{calls_webhooks, is_converted, without_webhooks};
pub(crate) use left_over::{Former, KindName, left_over};
pub(crate) use located::{Kinds, Located};
pub(crate) use policies::{POLICY_KINDS, are_policies_served, is_policy};
pub(crate) use read::{read, read_folder};
pub(crate) use webhooks::{AbsentVersion, absent_versions, has_several_versions};
