use kubewright_core::WebhookKind;
use serde_json::Value;

use crate::cel::{
    Composition, Environment, Program, Refusal, Type, patch_type, request_environment,
};

/// Compiles the expressions of one policy, in the order of its fields: variables come before what
/// builds on them.
#[derive(Clone, Debug)]
pub(crate) struct Expressions {
    /// What messages can use.
    plain: Environment,
    /// What all others can use.
    full: Environment,
    variables: Composition,
    /// Whether there is `variables` at all: a validating policy without any does not have it.
    has_variables: bool,
}

impl Expressions {
    pub(crate) fn new(kind: WebhookKind, spec: &Value) -> Self {
        let plain = request_environment().clone();
        let plain = match spec["paramKind"].is_object() {
            true => plain.variable("params", Type::Dyn),
            false => plain,
        };
        let variables = spec["variables"].as_array().map_or(0, Vec::len);
        Self {
            full: plain.clone().lacks("authorizer"),
            plain,
            variables: Composition::default(),
            has_variables: kind == WebhookKind::Mutating || variables > 0,
        }
    }

    /// What conditions can use; they come before the variables.
    pub(crate) fn conditions(&self) -> &Environment {
        &self.full
    }

    /// The variables so far.
    pub(super) fn variables(&self) -> &Composition {
        &self.variables
    }

    /// The next variable.
    pub(crate) fn add_variable(&mut self, name: &str, expression: &str) -> Result<(), Refusal> {
        self.variables.add(name, expression, &self.full)
    }

    /// All variables of a policy, whatever is wrong with them.
    pub(super) fn add_variables(&mut self, spec: &Value) {
        let variables = spec["variables"].as_array().into_iter().flatten();
        for variable in variables {
            let text = |field: &str| variable[field].as_str().unwrap_or_default();
            // What is wrong with it is told to those who use it.
            self.add_variable(text("name"), text("expression"))
                .unwrap_or_default();
        }
    }

    pub(crate) fn validation(&self, expression: &str) -> Result<Program, Refusal> {
        self.compile(expression, &self.full, &[Type::Bool])
    }

    pub(crate) fn message(&self, expression: &str) -> Result<Program, Refusal> {
        self.compile(expression, &self.plain, &[Type::String])
    }

    pub(crate) fn audit_annotation(&self, expression: &str) -> Result<Program, Refusal> {
        self.compile(expression, &self.full, &[Type::String, Type::Null])
    }

    pub(crate) fn json_patch(&self, expression: &str) -> Result<Program, Refusal> {
        let environment = self.full.clone().making_patches();
        self.compile(expression, &environment, &[Type::list(patch_type())])
    }

    pub(crate) fn apply_configuration(&self, expression: &str) -> Result<Program, Refusal> {
        let environment = self.full.clone().making_patches();
        self.compile(expression, &environment, &[Type::Made("Object".into())])
    }

    fn compile(
        &self,
        expression: &str,
        base: &Environment,
        wanted: &[Type],
    ) -> Result<Program, Refusal> {
        match self.has_variables {
            true => {
                let environment = self.variables.environment(base);
                self.variables.compile(expression, &environment, wanted)
            }
            false => Program::compile_as(expression, base, wanted),
        }
    }
}
