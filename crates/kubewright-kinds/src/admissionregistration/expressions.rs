//! Compilation of the CEL expressions of a policy.

use kubewright_cel::{
    CompileError, Composition, Environment, Program, Type, patch_type, request_environment,
};
use kubewright_core::WebhookKind;
use serde_json::Value;

use crate::json::{items, text};

/// Compiles the expressions of one policy. Variables are added in order, before the expressions
/// that use them.
#[derive(Clone, Debug)]
pub struct Expressions {
    /// The environment of messages.
    without_authorizer: Environment,
    /// The environment of all other expressions.
    with_authorizer: Environment,
    variables: Composition,
    /// Whether `variables` is declared: a validating policy without variables does not have it.
    has_variables: bool,
}

impl Expressions {
    /// The environments of a policy, without its variables.
    pub fn new(kind: WebhookKind, spec: &Value) -> Self {
        let mut environment = request_environment().clone();
        if spec["paramKind"].is_object() {
            environment = environment.variable("params", Type::Dyn);
        }
        let has_variables = items(&spec["variables"]).next().is_some();
        Self {
            with_authorizer: environment.clone().unsupported_variable("authorizer"),
            without_authorizer: environment,
            variables: Composition::default(),
            has_variables: kind == WebhookKind::Mutating || has_variables,
        }
    }

    /// The environment of match conditions, which cannot use variables.
    pub fn conditions(&self) -> &Environment {
        &self.with_authorizer
    }

    /// The variables that were added.
    pub fn variables(&self) -> &Composition {
        &self.variables
    }

    /// Adds a variable.
    pub(crate) fn add_variable(
        &mut self,
        name: &str,
        expression: &str,
    ) -> Result<(), CompileError> {
        self.variables.add(name, expression, &self.with_authorizer)
    }

    /// Adds all variables of a policy, including invalid ones.
    pub fn add_variables(&mut self, spec: &Value) {
        for variable in items(&spec["variables"]) {
            let (name, expression) = (text(&variable["name"]), text(&variable["expression"]));
            // An invalid variable fails the expressions that use it.
            drop(self.add_variable(name, expression));
        }
    }

    /// Compiles the expression of a validation.
    pub fn validation(&self, expression: &str) -> Result<Program, CompileError> {
        self.compile(expression, &self.with_authorizer, &[Type::Bool])
    }

    /// Compiles a message expression.
    pub fn message(&self, expression: &str) -> Result<Program, CompileError> {
        self.compile(expression, &self.without_authorizer, &[Type::String])
    }

    /// Compiles the value expression of an audit annotation.
    pub fn audit_annotation(&self, expression: &str) -> Result<Program, CompileError> {
        self.compile(
            expression,
            &self.with_authorizer,
            &[Type::String, Type::Null],
        )
    }

    /// Compiles an expression that returns a JSON patch.
    pub fn json_patch(&self, expression: &str) -> Result<Program, CompileError> {
        let environment = self.with_authorizer.clone().with_patch_types();
        self.compile(expression, &environment, &[Type::list(patch_type())])
    }

    /// Compiles an expression that returns an apply configuration.
    pub fn apply_configuration(&self, expression: &str) -> Result<Program, CompileError> {
        let environment = self.with_authorizer.clone().with_patch_types();
        self.compile(
            expression,
            &environment,
            &[Type::ObjectLiteral("Object".into())],
        )
    }

    fn compile(
        &self,
        expression: &str,
        base: &Environment,
        types: &[Type],
    ) -> Result<Program, CompileError> {
        if !self.has_variables {
            return Program::compile_as(expression, base, types);
        }
        let environment = self.variables.environment(base);
        self.variables.compile(expression, &environment, types)
    }
}
