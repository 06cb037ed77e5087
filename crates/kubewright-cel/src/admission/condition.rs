//! Match conditions of webhooks and policies.

use std::sync::LazyLock;

use serde_json::Value as Json;

use super::request_types::{namespace_type, request_type};
use crate::budget::Budget;
use crate::check::Environment;
use crate::error::{CompileError, EvaluationError};
use crate::evaluate::Variables;
use crate::program::Program;
use crate::values::{Type, Value};

/// The variables of all expressions about an admission request.
pub fn request_environment() -> &'static Environment {
    static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(|| {
        Environment::default()
            .variable("object", Type::Dyn)
            .variable("oldObject", Type::Dyn)
            .variable("namespaceObject", namespace_type())
            .variable("request", request_type())
    });
    &ENVIRONMENT
}

/// The variables of the match conditions of webhooks. `authorizer` is not supported.
pub fn webhook_environment() -> &'static Environment {
    static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(|| {
        request_environment()
            .clone()
            .unsupported_variable("authorizer")
    });
    &ENVIRONMENT
}

/// A condition on an admission request, such as one of a webhook's `matchConditions`.
#[derive(Clone, Debug)]
pub struct Condition {
    program: Program,
}

/// The admission request that a condition is evaluated for: the variables `object`, `oldObject` and
/// `request`. `namespaceObject` is declared for conditions, and always null.
#[derive(Clone, Copy, Debug)]
pub struct ConditionInput<'a> {
    /// The new object; `None` for a deletion.
    pub object: Option<&'a Json>,
    /// The old object; `None` for a creation.
    pub old_object: Option<&'a Json>,
    /// The `request` of an AdmissionReview. Its objects are not visible.
    pub request: &'a Json,
}

impl ConditionInput<'_> {
    /// The values of the variables.
    pub fn variables(&self) -> Variables {
        let value = |json: Option<&Json>| {
            json.map_or(Value::Null, |json| Value::from_json(json, &Type::Dyn))
        };
        let environment = request_environment();
        let request_type = environment.find("request").unwrap_or(&Type::Dyn);
        Variables::from([
            ("object", value(self.object)),
            ("oldObject", value(self.old_object)),
            ("namespaceObject", Value::Null),
            ("request", Value::from_json(self.request, request_type)),
        ])
    }
}

impl Condition {
    /// Compiles a condition.
    pub fn compile(expression: &str, environment: &Environment) -> Result<Self, CompileError> {
        let program = Program::compile_as(expression, environment, &[Type::Bool])?;
        Ok(Self { program })
    }

    /// Whether the condition is true.
    pub fn evaluate(
        &self,
        variables: &Variables,
        budget: &mut Budget,
    ) -> Result<bool, EvaluationError> {
        match self.program.evaluate(variables, budget)? {
            Value::Bool(is_true) => Ok(is_true),
            _ => Err(EvaluationError::no_such_overload()),
        }
    }
}
