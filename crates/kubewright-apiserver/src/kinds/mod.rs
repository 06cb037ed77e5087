//! What only some built-in kinds do, as small values and functions beside the generic request
//! steps: which kinds PUT may create, what a delete answers, a Pod's grace, a Namespace's phase.

mod amounts;
mod defaults;
mod endpoint_slice;
mod event;
mod fields;
mod label_selector;
mod names;
mod namespace;
mod notice;
mod place;
mod pod;
mod role_binding;
mod secret;
mod service_address;
mod status_write;
mod strategy;
mod validation;
mod warnings;

pub(crate) use amounts::{pod_amounts, quality_of_service};
pub(crate) use defaults::fill_in;
pub(crate) use endpoint_slice::drop_topology;
pub(crate) use event::{is_newer_event, newer_event, stored_event, stored_kind};
pub(crate) use fields::{matches_fields, selectable_fields};
pub(crate) use label_selector::{label_selector, plain_selector};
pub(crate) use names::{NameRule, finalizers_need_domain, is_label, name_rule};
pub(crate) use namespace::{is_undeletable, keep_finalizers};
pub(crate) use notice::{notices, refusal};
pub(crate) use pod::{bind, grace_period};
pub(crate) use role_binding::changed_role;
pub(crate) use secret::take_string_data;
pub(crate) use service_address::{allocate_address, keep_address};
pub(crate) use status_write::{
    keep_on_status_write, keeps_metadata_on_status_write, reset_on_status_write,
};
pub(crate) use strategy::{
    Propagation, creates_on_update, default_propagation, delete_answers_object, has_generation,
    is_convertible, keeps_status_on_create, prepare_create, requires_revision,
};
pub(crate) use validation::{formats, is_validated, validate, validate_finalized, validate_status};
pub(crate) use warnings::{status_warnings, warnings};
