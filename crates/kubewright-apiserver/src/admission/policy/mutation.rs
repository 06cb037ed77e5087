//! One mutation of a policy.

use kubewright_cel::{Budget, LazyVariables, OUT_OF_BUDGET, Value as CelValue};
use kubewright_wire::status::Status;
use serde_json::Value;

use super::apply_configuration::{laid_over, schema_of};
use super::compiled::{Expression, Mutation, Mutations};
use super::input::Input;
use super::operations::operations;
use crate::admission::attributes::Attributes;
use crate::admission::json_patch::{NotPatched, patched};

/// Why a mutation changed nothing.
pub(super) enum NotMutated {
    /// What the failure policy is for.
    Failed(String),
    /// The request ends, whatever the policy says.
    Final(Status),
}

/// The object of the input, as a mutation wants it.
pub(super) fn mutated(
    mutation: &Mutation,
    compiled: &Mutations,
    input: Input<'_>,
    object: &Value,
) -> Result<Value, NotMutated> {
    let failed = NotMutated::Failed;
    let mut budget = Budget::default();
    match mutation {
        Mutation::JsonPatch(expression) => {
            let made = evaluate(expression, compiled, input, &mut budget)?;
            let operations = operations(&made, &mut budget).map_err(failed)?;
            let changed = match patched(object, &operations) {
                Ok(changed) => changed,
                // A test that fails leaves the object as it is.
                Err(NotPatched::TestFailed(_)) => object.clone(),
                Err(NotPatched::Inapplicable(why)) => {
                    return Err(failed(format!("JSON Patch: {why}")));
                }
            };
            check_kind(object, &changed)?;
            Ok(changed)
        }
        Mutation::ApplyConfiguration(expression) => {
            let kind = &input.invocation.kind;
            let Some(schema) = schema_of(&input.invocation.served, kind) else {
                return Err(NotMutated::Final(Status::not_implemented(format!(
                    "ApplyConfiguration of {kind} is not implemented yet: its fields are not known"
                ))));
            };
            let made = evaluate(expression, compiled, input, &mut budget)?;
            laid_over(object, &made, &mut budget, schema, kind).map_err(failed)
        }
    }
}

/// Makes a changed object conform to its kind again. What a patch adds must belong to the kind.
pub(super) fn conform(
    mutation: &Mutation,
    changed: &mut Value,
    attributes: &Attributes,
) -> Result<(), NotMutated> {
    let Attributes { resource, kind, .. } = attributes;
    match mutation {
        Mutation::JsonPatch(_) => resource
            .conform_strictly(changed, kind)
            .map_err(|status| NotMutated::Final(Status::internal(status.message))),
        Mutation::ApplyConfiguration(_) => resource
            .conform_patched(changed, kind)
            .map_err(|status| NotMutated::Failed(status.message)),
    }
}

fn evaluate(
    expression: &Expression,
    compiled: &Mutations,
    input: Input<'_>,
    budget: &mut Budget,
) -> Result<CelValue, NotMutated> {
    let variables = input.for_expressions().map_err(NotMutated::Final)?;
    let lazy = LazyVariables::new(compiled.variables());
    let made = expression.evaluate(&lazy, &variables, budget);
    if budget.is_exhausted() {
        return Err(NotMutated::Failed(OUT_OF_BUDGET.to_owned()));
    }
    made.map_err(NotMutated::Failed)
}

/// No policy makes an object of another kind.
fn check_kind(object: &Value, changed: &Value) -> Result<(), NotMutated> {
    for field in ["apiVersion", "kind"] {
        if changed.get(field) != object.get(field) {
            return Err(NotMutated::Final(Status::internal(format!(
                "failed to convert object: {field} was changed from {} to {}",
                object[field], changed[field]
            ))));
        }
    }
    Ok(())
}
