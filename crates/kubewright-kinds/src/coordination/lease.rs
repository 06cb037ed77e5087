//! Lease: a lock with a time limit.

use serde_json::{Map, Value};

use crate::columns::{AGE, Cell, Column, NAME};
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::groups;
use crate::kind::{BuiltinKind, FinalizerRule, Permission, Validation};

/// A lock with a time limit.
pub static LEASE: BuiltinKind = BuiltinKind {
    finalizers: FinalizerRule::QualifiedName,
    create_on_update: Permission::Allowed,
    unconditional_update: Permission::Denied,
    declared_columns: COLUMNS,
    prepare_create,
    validation: Validation::Rules(validate),
    ..BuiltinKind::new(groups::COORDINATION, "Lease", "leases")
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("Holder", Cell::Text("/spec/holderIdentity")),
    AGE,
];

/// Drops the fields of the feature gate CoordinatedLeaderElection, which is off by default.
fn prepare_create(lease: &mut Map<String, Value>) {
    if let Some(Value::Object(spec)) = lease.get_mut("spec") {
        spec.remove("strategy");
        spec.remove("preferredHolder");
    }
}

/// `ValidateLeaseSpec`.
fn validate(object: &Value, _: Option<&Value>, errors: &mut ErrorList) {
    let spec = FieldPath::new(object, "spec");
    let duration = spec.field("leaseDurationSeconds");
    if duration.number().is_some_and(|seconds| seconds <= 0) {
        errors.invalid(duration, "must be greater than 0");
    }
    let transitions = spec.field("leaseTransitions");
    if transitions.number().is_some_and(|count| count < 0) {
        errors.invalid(transitions, "must be greater than or equal to 0");
    }
}
