use kubewright_cel::{Budget, LazyVariables, OUT_OF_BUDGET, Value, Variables};
use kubewright_core::FailurePolicy;
use kubewright_wire::status::Status;

use super::compiled::{Validation, Validations};
use super::definition::Policy;
use super::input::Input;

/// The longest message that an expression may make.
const LONGEST_MESSAGE: usize = 5 * 1024;

/// What a policy says of a request with one of its params.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// What the actions of the binding are for.
    pub(super) failures: Vec<Failure>,
    /// What denies the request whatever the actions are.
    pub(super) denials: Vec<Failure>,
}

/// A rule that does not hold, or could not be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) message: String,
    /// None for what could not be asked.
    pub(super) reason: Option<String>,
}

impl Verdict {
    /// What could not be asked, where the policy does not forgive that.
    fn error(policy: &Policy, message: String) -> Self {
        Self {
            failures: error(policy, message).into_iter().collect(),
            denials: Vec::new(),
        }
    }
}

fn error(policy: &Policy, message: String) -> Option<Failure> {
    let is_fault = policy.failure_policy == FailurePolicy::Fail;
    is_fault.then_some(Failure {
        message,
        reason: None,
    })
}

/// Asks a policy (`validator.Validate`).
pub(super) fn judge(
    policy: &Policy,
    compiled: &Validations,
    input: Input<'_>,
) -> Result<Verdict, Status> {
    let held = match compiled.conditions.is_empty() {
        true => Ok(true),
        false => compiled.conditions.hold(&input.for_conditions()?),
    };
    match held {
        Ok(true) => {}
        Ok(false) => return Ok(Verdict::default()),
        Err(why) => return Ok(Verdict::error(policy, why)),
    }
    let variables = input.for_expressions()?;
    let mut budget = Budget::default();
    let Some(results) = evaluate_rules(compiled, &variables, &mut budget) else {
        return Ok(Verdict::error(policy, OUT_OF_BUDGET.to_owned()));
    };
    let messages = evaluate_messages(compiled, &variables, &mut budget);
    let mut verdict = Verdict::default();
    for (place, (validation, result)) in compiled.validations.iter().zip(results).enumerate() {
        let failure = match (result, &messages) {
            (Err(why), _) => error(policy, why),
            (Ok(_), None) => error(policy, format!("failed messageExpression: {OUT_OF_BUDGET}")),
            (Ok(Value::Bool(true)), Some(_)) => None,
            (Ok(_), Some(messages)) => {
                let made = messages.get(place).and_then(Option::as_ref);
                Some(broken(validation, made))
            }
        };
        verdict.failures.extend(failure);
    }
    match annotation_errors(compiled, &variables) {
        None => Ok(Verdict::error(policy, OUT_OF_BUDGET.to_owned())),
        Some(errors) => {
            let errors = errors.into_iter().filter_map(|why| error(policy, why));
            verdict.denials.extend(errors);
            Ok(verdict)
        }
    }
}

/// What each rule comes to; none when all together cost too much.
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

/// What the rules have to say, whether they hold or not; none when that costs too much.
fn evaluate_messages(
    compiled: &Validations,
    variables: &Variables,
    budget: &mut Budget,
) -> Option<Vec<Option<String>>> {
    let lazy = LazyVariables::new(compiled.variables());
    let mut messages = Vec::with_capacity(compiled.validations.len());
    for validation in &compiled.validations {
        let made = validation.message_expression.as_ref();
        let made = made.map(|made| made.evaluate(&lazy, variables, budget));
        messages.push(match made {
            Some(Ok(Value::String(text))) => Some(text.to_string()),
            _ => None,
        });
        if budget.is_exhausted() {
            return None;
        }
    }
    Some(messages)
}

/// A rule that does not hold: its own message, else the written one, else the rule itself.
fn broken(validation: &Validation, made: Option<&String>) -> Failure {
    let made = made.map_or("", |made| made.trim());
    let is_fit = made.len() <= LONGEST_MESSAGE && !made.contains('\n');
    let written = validation.message.trim();
    let message = match (made, written) {
        (made, _) if !made.is_empty() && is_fit => made.to_owned(),
        (_, "") => format!("failed expression: {}", validation.rule.text.trim()),
        (_, written) => written.to_owned(),
    };
    let reason = validation.reason.clone();
    Failure {
        message,
        reason: Some(reason.unwrap_or_else(|| "Invalid".to_owned())),
    }
}

/// What is wrong with annotations for the audit log, of which there is none here; none when they
/// cost too much.
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
