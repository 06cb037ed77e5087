//! Compiled expressions.

use crate::budget::Budget;
use crate::check::{Checked, Environment, check};
use crate::error::{CompileError, EvaluationError};
use crate::estimate::{SizeLimits, estimate};
use crate::evaluate::{ComposedVariables, Evaluation, Variables};
use crate::syntax::{parse, render};
use crate::values::{Type, Value};

/// An expression that is parsed and checked.
#[derive(Clone, Debug)]
pub struct Program {
    checked: Checked,
    height: usize,
}

impl Program {
    /// Compiles an expression.
    pub fn compile(source: &str, environment: &Environment) -> Result<Self, CompileError> {
        let parsed =
            parse(source).map_err(|error| CompileError::Invalid(render(source, vec![error])))?;
        let checked = check(source, &parsed, environment)?;
        Ok(Self {
            checked,
            height: parsed.height,
        })
    }

    /// Compiles an expression that must have one of these types, or any type if there are none
    /// (`CompileCELExpression` of k8s.io/apiserver/pkg/admission/plugin/cel).
    pub fn compile_as(
        source: &str,
        environment: &Environment,
        expected: &[Type],
    ) -> Result<Self, CompileError> {
        let program = Self::compile(source, environment)
            .map_err(|error| error.with_prefix("compilation failed: "))?;
        let actual = program.result_type();
        if expected.is_empty() || expected.contains(actual) {
            return Ok(program);
        }
        let names: Vec<String> = expected.iter().map(Type::declared_name).collect();
        let expected_names = match names.as_slice() {
            [name] => name.clone(),
            names => format!("one of [{}]", names.join(" ")),
        };
        Err(CompileError::Invalid(format!(
            "must evaluate to {expected_names} but got {}",
            actual.declared_name()
        )))
    }

    /// The type of the expression, [`Type::Dyn`] if it is known only after the evaluation.
    pub fn result_type(&self) -> &Type {
        &self.checked.expr.of
    }

    /// Whether the expression uses a variable.
    pub fn uses(&self, variable: &str) -> bool {
        self.checked.variables.contains(variable)
    }

    /// The maximum cost of the expression in units of Kubernetes. `limits` are those of the schema
    /// of the variable `self`.
    pub fn cost(&self, limits: &SizeLimits) -> u64 {
        estimate(&self.checked.expr, limits)
    }

    /// Evaluates the expression.
    pub fn evaluate(
        &self,
        variables: &Variables,
        budget: &mut Budget,
    ) -> Result<Value, EvaluationError> {
        self.evaluate_with(variables, None, budget)
    }

    /// Evaluates the expression where a variable is composed of other expressions.
    pub(crate) fn evaluate_with(
        &self,
        variables: &Variables,
        composed: Option<&dyn ComposedVariables>,
        budget: &mut Budget,
    ) -> Result<Value, EvaluationError> {
        budget.start_expression();
        Evaluation::new(variables, composed, budget).expr(&self.checked.expr)
    }

    /// The fields of the composed variable that the expression uses.
    pub(crate) fn composed(&self) -> impl Iterator<Item = &str> {
        self.checked.composed.iter().map(String::as_str)
    }

    /// The height of the tree of the expression.
    pub(crate) fn height(&self) -> usize {
        self.height
    }
}
