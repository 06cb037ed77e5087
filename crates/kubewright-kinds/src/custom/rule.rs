//! One validation rule.

use kubewright_cel::{
    Budget, CompileError, Environment, EvaluationError, OUT_OF_BUDGET, Program, SizeLimits, Type,
    Value as CelValue, Variables,
};
use kubewright_wire::status::{Cause, CauseKind};
use serde_json::Value;

use super::schema_path::{Brackets, resolve_path};
use crate::json::text;

/// The longest message that an expression may return.
const LONGEST_MESSAGE: usize = 5 * 1024;

/// The path of the object itself as Go prints it.
const ROOT: &str = "<nil>";

/// One entry of `x-kubernetes-validations`.
#[derive(Debug)]
pub(crate) struct Rule {
    source: Value,
    program: Program,
    message: Option<Program>,
    /// The path of errors, relative to the value that has the rule.
    error_path: String,
}

/// Why a rule does not compile, and which of its fields is invalid.
#[derive(Debug)]
pub(crate) struct RuleError {
    pub(crate) part: &'static str,
    pub(crate) why: CompileError,
}

/// The input of a rule.
pub(crate) struct RuleInput<'a> {
    pub(crate) value: &'a Value,
    pub(crate) old: Option<&'a Value>,
    pub(crate) of: &'a Type,
    pub(crate) path: &'a str,
    /// The type that the schema declares for the value.
    pub(crate) kind: &'a str,
}

/// The result of a rule.
pub(crate) enum Verdict {
    Passed,
    /// The value is invalid. If it is unchanged and the rule does not use the old one, this is a
    /// warning.
    Violated(Cause),
    /// The evaluation failed.
    Failed(Cause),
    /// The budget is exhausted.
    Exhausted(Cause),
}

impl Rule {
    /// Compiles a rule about values of a type.
    pub(crate) fn compile(source: &Value, of: &Type, schema: &Value) -> Result<Self, RuleError> {
        let is_optional = source["optionalOldSelf"] == true;
        let old = if is_optional {
            Type::Optional(of.clone().into())
        } else {
            of.clone()
        };
        let environment = Environment::default()
            .variable("self", of.clone())
            .variable("oldSelf", old);
        let error = |part: &'static str| move |why: CompileError| RuleError { part, why };
        let program = Program::compile(text(&source["rule"]), &environment)
            .map_err(|why| error("rule")(why.with_prefix("compilation failed: ")))?;
        if *program.result_type() != Type::Bool {
            let why = "cel expression must evaluate to a bool".to_owned();
            return Err(error("rule")(CompileError::Invalid(why)));
        }
        let message = match text(&source["messageExpression"]) {
            "" => None,
            expression => {
                let prefix = "messageExpression compilation failed: ";
                let message = Program::compile(expression, &environment)
                    .map_err(|why| error("messageExpression")(why.with_prefix(prefix)))?;
                if *message.result_type() != Type::String {
                    let why = "messageExpression must evaluate to a string".to_owned();
                    return Err(error("messageExpression")(CompileError::Invalid(why)));
                }
                Some(message)
            }
        };
        let field_path = resolve_path(text(&source["fieldPath"]), schema, Brackets::Allowed);
        Ok(Self {
            source: source.clone(),
            program,
            message,
            error_path: field_path.map(|(path, _)| path).unwrap_or_default(),
        })
    }

    /// Whether the rule uses `oldSelf`.
    pub(crate) fn uses_old(&self) -> bool {
        self.program.uses("oldSelf")
    }

    /// The estimated cost of the rule for one value, from the sizes that its schema declares.
    pub(crate) fn cost(&self, sizes: &SizeLimits) -> u64 {
        self.program.cost(sizes)
    }

    /// The estimated cost of the message expression, if there is one.
    pub(crate) fn message_cost(&self, sizes: &SizeLimits) -> Option<u64> {
        self.message.as_ref().map(|message| message.cost(sizes))
    }

    /// Evaluates the rule.
    pub(crate) fn check(&self, input: &RuleInput<'_>, budget: &mut Budget) -> Verdict {
        let is_optional = self.source["optionalOldSelf"] == true;
        if self.uses_old() && input.old.is_none() && !is_optional {
            return Verdict::Passed;
        }
        let cause = |detail: &str| {
            let path = if input.path.is_empty() {
                ROOT
            } else {
                input.path
            };
            Cause::invalid(path, &Value::String(input.kind.to_owned()), detail)
        };
        let variables = self.variables(input, is_optional);
        let outcome = self.program.evaluate(&variables, budget);
        if budget.is_exhausted() {
            return Verdict::Exhausted(cause(OUT_OF_BUDGET));
        }
        match outcome {
            Ok(CelValue::Bool(true)) => Verdict::Passed,
            Ok(_) => self.violated(input, budget),
            Err(EvaluationError::BudgetExceeded) => {
                let detail = format!(
                    "'{}': no further validation rules will be run due to call cost exceeds limit \
                     for rule: {}",
                    EvaluationError::BudgetExceeded,
                    self.name()
                );
                Verdict::Exhausted(cause(&detail))
            }
            Err(EvaluationError::Failed(why)) if why.starts_with("no such overload") => {
                let detail = format!(
                    "'{why}': call arguments did not match a supported operator, function or \
                     macro signature for rule: {}",
                    self.name()
                );
                Verdict::Failed(cause(&detail))
            }
            Err(EvaluationError::Failed(why)) => {
                Verdict::Failed(cause(&format!("{why} evaluating rule: {}", self.name())))
            }
        }
    }

    fn variables(&self, input: &RuleInput<'_>, is_optional: bool) -> Variables {
        let value = |json: &Value| CelValue::from_json(json, input.of);
        let mut variables = Variables::from([("self", value(input.value))]);
        let old = input.old.map(value);
        match (old, is_optional) {
            (old, true) => {
                variables.insert("oldSelf", CelValue::Optional(old.map(Into::into)));
            }
            (Some(old), false) => {
                variables.insert("oldSelf", old);
            }
            (None, false) => {}
        }
        variables
    }

    fn violated(&self, input: &RuleInput<'_>, budget: &mut Budget) -> Verdict {
        let joined = format!("{}{}", input.path, self.error_path);
        let path = match (input.path, joined.as_str()) {
            (_, "") => ROOT,
            ("", relative) => relative.strip_prefix('.').unwrap_or(relative),
            (_, absolute) => absolute,
        };
        let detail = self.evaluated_message(input, budget).unwrap_or_else(|| {
            match text(&self.source["message"]).trim() {
                "" => format!("failed rule: {}", text(&self.source["rule"]).trim()),
                message => message.to_owned(),
            }
        });
        let shown = Some(input.value).filter(|_| !matches!(input.kind, "object" | "array"));
        Verdict::Violated(match self.source["reason"].as_str() {
            Some("FieldValueForbidden") => Cause::forbidden(path, &detail),
            Some("FieldValueRequired") => Cause::required(path, &detail),
            Some("FieldValueDuplicate") => {
                Cause::new(CauseKind::FieldValueDuplicate, path, shown, "")
            }
            _ => Cause::new(CauseKind::FieldValueInvalid, path, shown, &detail),
        })
    }

    /// The result of the message expression, if it is a valid message.
    fn evaluated_message(&self, input: &RuleInput<'_>, budget: &mut Budget) -> Option<String> {
        let message = self.message.as_ref()?;
        let result = message.evaluate(&self.variables(input, false), budget);
        let CelValue::String(evaluated) = result.ok()? else {
            return None;
        };
        let trimmed = evaluated.trim();
        let is_valid =
            !trimmed.is_empty() && trimmed.len() <= LONGEST_MESSAGE && !trimmed.contains('\n');
        is_valid.then(|| trimmed.to_owned())
    }

    /// The name of the rule in errors of its evaluation.
    fn name(&self) -> &str {
        match text(&self.source["message"]).trim() {
            "" => text(&self.source["rule"]).trim(),
            message => message,
        }
    }
}
