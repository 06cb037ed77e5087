//! MutatingWebhookConfiguration: webhooks that change requests.

use kubewright_core::WebhookKind;
use serde_json::Value;

use super::reserved_name::warn_reserved_name;
use super::webhook::{COLUMNS, unsupported_webhooks, validate_webhooks};
use crate::error_list::ErrorList;
use crate::groups;
use crate::kind::{BuiltinKind, FinalizerRule, Generation, Permission, Validation};

/// Webhooks that change requests.
pub static MUTATING_WEBHOOK_CONFIGURATION: BuiltinKind = BuiltinKind {
    finalizers: FinalizerRule::QualifiedName,
    unconditional_update: Permission::Denied,
    generation: Generation::Content,
    declared_columns: COLUMNS,
    validation: Validation::Rules(validate),
    warnings: warn_reserved_name,
    unsupported: unsupported_webhooks,
    ..BuiltinKind::new(
        groups::ADMISSION_REGISTRATION,
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
    )
};

fn validate(object: &Value, _: Option<&Value>, errors: &mut ErrorList) {
    validate_webhooks(WebhookKind::Mutating, object, errors);
}
