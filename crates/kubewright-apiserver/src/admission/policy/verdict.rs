//! The verdict of a validating policy about a request.

use kubewright_cel::{Budget, LazyVariables, OUT_OF_BUDGET, Value, Variables};
use kubewright_core::FailurePolicy;
use kubewright_wire::status::Status;

use super::compiled::{Validation, Validations};
use super::definition::Policy;
use super::input::Input;

/// The longest message that a message expression can return, in bytes.
const MAX_MESSAGE: usize = 5 * 1024;

/// The verdict of a policy about a request, with one of its parameter objects.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// The failures that the actions of the binding apply to.
    pub(super) failures: Vec<Failure>,
    /// The failures that deny the request whatever the actions are.
    pub(super) denials: Vec<Failure>,
}

/// A validation that is false or cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) message: String,
    /// None for a validation that cannot be evaluated.
    pub(super) reason: Option<String>,
}

impl Verdict {
    /// Evaluates a policy (`validator.Validate`).
    pub(super) fn evaluate(
        policy: &Policy,
        compiled: &Validations,
        input: Input<'_>,
    ) -> Result<Self, Status> {
        if !compiled.conditions.is_empty() {
            match compiled.conditions.hold(&input.for_conditions()?) {
                Ok(true) => {}
                Ok(false) => return Ok(Self::default()),
                Err(why) => return Ok(Self::error(policy, why)),
            }
        }
        let variables = input.for_expressions()?;
        let mut budget = Budget::default();
        let Some(results) = evaluate_rules(compiled, &variables, &mut budget) else {
            return Ok(Self::error(policy, OUT_OF_BUDGET.to_owned()));
        };
        let messages = evaluate_messages(compiled, &variables, &mut budget);
        let mut verdict = Self::default();
        for (index, (validation, result)) in compiled.validations.iter().zip(results).enumerate() {
            let failure = match (result, &messages) {
                (Err(why), _) => error(policy, why),
                (Ok(_), None) => {
                    error(policy, format!("failed messageExpression: {OUT_OF_BUDGET}"))
                }
                (Ok(Value::Bool(true)), Some(_)) => None,
                (Ok(_), Some(messages)) => {
                    let message = messages.get(index).and_then(Option::as_ref);
                    Some(failed(validation, message))
                }
            };
            verdict.failures.extend(failure);
        }
        match annotation_errors(compiled, &variables) {
            None => Ok(Self::error(policy, OUT_OF_BUDGET.to_owned())),
            Some(errors) => {
                let errors = errors.into_iter().filter_map(|why| error(policy, why));
                verdict.denials.extend(errors);
                Ok(verdict)
            }
        }
    }

    /// The verdict of a policy that cannot be evaluated.
    fn error(policy: &Policy, message: String) -> Self {
        Self {
            failures: error(policy, message).into_iter().collect(),
            denials: Vec::new(),
        }
    }
}

/// The failure of a validation that cannot be evaluated; none if the failure policy is Ignore.
fn error(policy: &Policy, message: String) -> Option<Failure> {
    let is_failure = policy.failure_policy == FailurePolicy::Fail;
    is_failure.then_some(Failure {
        message,
        reason: None,
    })
}

/// The results of all rules; none when the budget is exhausted.
fn evaluate_rules(
    compiled: &Validations,
    variables: &Variables,
    budget: &mut Budget,
) -> Option<Vec<Result<Value, String>>> {
    let lazy = LazyVariables::new(compiled.variables());
    let mut results = Vec::with_capacity(compiled.validations.len());
    for validation in &compiled.validations {
        results.push(validation.rule.evaluate(&lazy, variables, budget));
        if budget.is_exhausted() {
            return None;
        }
    }
    Some(results)
}

/// The results of all message expressions, also of rules that hold; none when the budget is
/// exhausted.
fn evaluate_messages(
    compiled: &Validations,
    variables: &Variables,
    budget: &mut Budget,
) -> Option<Vec<Option<String>>> {
    let lazy = LazyVariables::new(compiled.variables());
    let mut messages = Vec::with_capacity(compiled.validations.len());
    for validation in &compiled.validations {
        let result = validation
            .message_expression
            .as_ref()
            .map(|expression| expression.evaluate(&lazy, variables, budget));
        messages.push(match result {
            Some(Ok(Value::String(text))) => Some(text.to_string()),
            _ => None,
        });
        if budget.is_exhausted() {
            return None;
        }
    }
    Some(messages)
}

/// The failure of a false rule. The message is the result of the message expression, else the
/// `message` of the validation, else the rule itself.
fn failed(validation: &Validation, result: Option<&String>) -> Failure {
    let result = result.map_or("", |result| result.trim());
    let is_usable = !result.is_empty() && result.len() <= MAX_MESSAGE && !result.contains('\n');
    let message = if is_usable {
        result.to_owned()
    } else if validation.message.trim().is_empty() {
        format!("failed expression: {}", validation.rule.text.trim())
    } else {
        validation.message.trim().to_owned()
    };
    let reason = validation.reason.clone();
    Failure {
        message,
        reason: Some(reason.unwrap_or_else(|| "Invalid".to_owned())),
    }
}

/// The errors of audit annotations; none when the budget is exhausted. There is no audit log, so
/// that the annotations themselves are dropped.
fn annotation_errors(compiled: &Validations, variables: &Variables) -> Option<Vec<String>> {
    let lazy = LazyVariables::new(compiled.variables());
    let mut budget = Budget::default();
    let mut errors = Vec::new();
    for annotation in &compiled.annotations {
        errors.extend(annotation.evaluate(&lazy, variables, &mut budget).err());
        if budget.is_exhausted() {
            return None;
        }
    }
    Some(errors)
}
