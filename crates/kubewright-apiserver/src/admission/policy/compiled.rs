//! The compiled expressions of a policy.

use kubewright_cel::{
    Budget, CompileError, Composition, LazyVariables, Program, Value as CelValue, Variables,
};
use kubewright_core::WebhookKind;
use kubewright_kinds::admissionregistration::Expressions;
use kubewright_kinds::json::{items, text};
use serde_json::Value;

use crate::admission::matching::{Conditions, condition_texts};

/// An expression with its text.
#[derive(Debug)]
pub(super) struct Expression {
    pub(super) text: String,
    program: Result<Program, CompileError>,
}

impl Expression {
    pub(super) fn new(text: &str, program: Result<Program, CompileError>) -> Self {
        Self {
            text: text.to_owned(),
            program,
        }
    }

    /// The value of the expression (`evaluationActivation.Evaluate`).
    pub(super) fn evaluate(
        &self,
        lazy: &LazyVariables<'_>,
        variables: &Variables,
        budget: &mut Budget,
    ) -> Result<CelValue, String> {
        let program = self
            .program
            .as_ref()
            .map_err(|error| format!("compilation error: {error}"))?;
        lazy.evaluate(program, variables, budget)
            .map_err(|error| format!("expression '{}' resulted in error: {error}", self.text))
    }
}

/// The expressions of a validating policy.
#[derive(Debug)]
pub(super) struct Validations {
    expressions: Expressions,
    pub(super) conditions: Conditions,
    pub(super) validations: Vec<Validation>,
    pub(super) annotations: Vec<Expression>,
}

/// A rule, and the message when it is false.
#[derive(Debug)]
pub(super) struct Validation {
    pub(super) rule: Expression,
    pub(super) message_expression: Option<Expression>,
    pub(super) message: String,
    pub(super) reason: Option<String>,
}

impl Validations {
    pub(super) fn compile(spec: &Value) -> Self {
        let mut expressions = Expressions::new(WebhookKind::Validating, spec);
        let conditions = Conditions::compile(condition_texts(spec), expressions.conditions());
        expressions.add_variables(spec);
        let validations = items(&spec["validations"])
            .map(|validation| {
                let message = text(&validation["messageExpression"]);
                let rule = text(&validation["expression"]);
                Validation {
                    rule: Expression::new(rule, expressions.validation(rule)),
                    message_expression: (!message.is_empty())
                        .then(|| Expression::new(message, expressions.message(message))),
                    message: text(&validation["message"]).to_owned(),
                    reason: validation["reason"].as_str().map(str::to_owned),
                }
            })
            .collect();
        let annotations = items(&spec["auditAnnotations"])
            .map(|annotation| {
                let value = text(&annotation["valueExpression"]);
                Expression::new(value, expressions.audit_annotation(value))
            })
            .collect();
        Self {
            expressions,
            conditions,
            validations,
            annotations,
        }
    }

    pub(super) fn variables(&self) -> &Composition {
        self.expressions.variables()
    }
}

/// The expressions of a mutating policy.
#[derive(Debug)]
pub(super) struct Mutations {
    expressions: Expressions,
    pub(super) conditions: Conditions,
    pub(super) mutations: Vec<Mutation>,
}

/// A mutation of an object.
#[derive(Debug)]
pub(super) enum Mutation {
    JsonPatch(Expression),
    ApplyConfiguration(Expression),
}

impl Mutations {
    pub(super) fn compile(spec: &Value) -> Self {
        let mut expressions = Expressions::new(WebhookKind::Mutating, spec);
        let conditions = Conditions::compile(condition_texts(spec), expressions.conditions());
        expressions.add_variables(spec);
        let mutations = items(&spec["mutations"])
            .map(|mutation| match text(&mutation["patchType"]) {
                "ApplyConfiguration" => {
                    let source = text(&mutation["applyConfiguration"]["expression"]);
                    let program = expressions.apply_configuration(source);
                    Mutation::ApplyConfiguration(Expression::new(source, program))
                }
                _ => {
                    let source = text(&mutation["jsonPatch"]["expression"]);
                    let program = expressions.json_patch(source);
                    Mutation::JsonPatch(Expression::new(source, program))
                }
            })
            .collect();
        Self {
            expressions,
            conditions,
            mutations,
        }
    }

    pub(super) fn variables(&self) -> &Composition {
        self.expressions.variables()
    }
}
