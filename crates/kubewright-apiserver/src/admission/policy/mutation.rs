//! Applies one mutation of a policy to an object.

use kubewright_cel::{Budget, LazyVariables, OUT_OF_BUDGET, Value as CelValue};
use kubewright_wire::status::Status;
use serde_json::Value;

use super::apply_configuration::{apply, schema_of};
use super::compiled::{Expression, Mutation, Mutations};
use super::input::Input;
use super::operations::operations;
use crate::admission::attributes::AdmissionAttributes;
use crate::admission::json_patch::{JsonPatchFailure, patched};

/// Why a mutation was not applied.
pub(super) enum MutationFailure {
    /// The failure policy decides.
    Failed(String),
    /// The request fails, whatever the failure policy.
    Final(Status),
}

/// The object after a mutation.
pub(super) fn mutated(
    mutation: &Mutation,
    compiled: &Mutations,
    input: Input<'_>,
    object: &Value,
) -> Result<Value, MutationFailure> {
    let failed = MutationFailure::Failed;
    let mut budget = Budget::default();
    match mutation {
        Mutation::JsonPatch(expression) => {
            let patch = evaluate(expression, compiled, input, &mut budget)?;
            let operations = operations(&patch, &mut budget).map_err(failed)?;
            let changed = match patched(object, &operations) {
                Ok(changed) => changed,
                // A failed test is not an error, and nothing is patched.
                Err(JsonPatchFailure::TestFailed(_)) => object.clone(),
                Err(JsonPatchFailure::Inapplicable(why)) => {
                    return Err(failed(format!("JSON Patch: {why}")));
                }
            };
            check_kind(object, &changed)?;
            Ok(changed)
        }
        Mutation::ApplyConfiguration(expression) => {
            let kind = &input.invocation.kind;
            let Some(schema) = schema_of(&input.invocation.served, kind) else {
                return Err(MutationFailure::Final(Status::not_implemented(format!(
                    "ApplyConfiguration of {kind} is not implemented yet: its schema is not known"
                ))));
            };
            let configuration = evaluate(expression, compiled, input, &mut budget)?;
            apply(object, &configuration, &mut budget, schema, kind).map_err(failed)
        }
    }
}

/// Makes a changed object conform to its kind again. A JSON patch that adds an unknown field fails.
pub(super) fn conform(
    mutation: &Mutation,
    changed: &mut Value,
    attributes: &AdmissionAttributes,
) -> Result<(), MutationFailure> {
    let AdmissionAttributes { resource, kind, .. } = attributes;
    match mutation {
        Mutation::JsonPatch(_) => resource
            .conform_strictly(changed, kind)
            .map_err(|status| MutationFailure::Final(Status::internal(status.message))),
        Mutation::ApplyConfiguration(_) => resource
            .conform_patched(changed, kind)
            .map_err(|status| MutationFailure::Failed(status.message)),
    }
}

fn evaluate(
    expression: &Expression,
    compiled: &Mutations,
    input: Input<'_>,
    budget: &mut Budget,
) -> Result<CelValue, MutationFailure> {
    let variables = input.for_expressions().map_err(MutationFailure::Final)?;
    let lazy = LazyVariables::new(compiled.variables());
    let value = expression.evaluate(&lazy, &variables, budget);
    if budget.is_exhausted() {
        return Err(MutationFailure::Failed(OUT_OF_BUDGET.to_owned()));
    }
    value.map_err(MutationFailure::Failed)
}

/// Fails when a policy changes the kind of an object.
fn check_kind(object: &Value, changed: &Value) -> Result<(), MutationFailure> {
    for field in ["apiVersion", "kind"] {
        if changed.get(field) != object.get(field) {
            return Err(MutationFailure::Final(Status::internal(format!(
                "failed to convert object: {field} was changed from {} to {}",
                object[field], changed[field]
            ))));
        }
    }
    Ok(())
}
