use kubewright_cel::{
    Budget, CompileError, Composition, LazyVariables, Program, Value as CelValue, Variables,
};
use kubewright_core::WebhookKind;
use kubewright_kinds::admissionregistration::Expressions;
use serde_json::Value;

use crate::admission::matching::Conditions;

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

    /// What it comes to (`evaluationActivation.Evaluate`).
    pub(super) fn evaluate(
        &self,
        lazy: &LazyVariables<'_>,
        variables: &Variables,
        budget: &mut Budget,
    ) -> Result<CelValue, String> {
        let program = self
            .program
            .as_ref()
            .map_err(|refusal| format!("compilation error: {refusal}"))?;
        lazy.evaluate(program, variables, budget)
            .map_err(|fault| format!("expression '{}' resulted in error: {fault}", self.text))
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

/// One rule, and what is told where it does not hold.
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
        let validations = items(spec, "validations").map(|validation| {
            let message = text(validation, "messageExpression");
            let rule = text(validation, "expression");
            Validation {
                rule: Expression::new(rule, expressions.validation(rule)),
                message_expression: (!message.is_empty())
                    .then(|| Expression::new(message, expressions.message(message))),
                message: text(validation, "message").to_owned(),
                reason: validation["reason"].as_str().map(str::to_owned),
            }
        });
        let validations = validations.collect();
        let annotations = items(spec, "auditAnnotations").map(|annotation| {
            let value = text(annotation, "valueExpression");
            Expression::new(value, expressions.audit_annotation(value))
        });
        let annotations = annotations.collect();
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

/// How an object is changed.
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
        let mutations =
            items(spec, "mutations").map(|mutation| match text(mutation, "patchType") {
                "ApplyConfiguration" => {
                    let source = text(&mutation["applyConfiguration"], "expression");
                    let program = expressions.apply_configuration(source);
                    Mutation::ApplyConfiguration(Expression::new(source, program))
                }
                _ => {
                    let source = text(&mutation["jsonPatch"], "expression");
                    let program = expressions.json_patch(source);
                    Mutation::JsonPatch(Expression::new(source, program))
                }
            });
        let mutations = mutations.collect();
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

fn condition_texts(spec: &Value) -> impl Iterator<Item = &str> {
    items(spec, "matchConditions").map(|condition| text(condition, "expression"))
}

/// The items of a list of a policy.
pub(super) fn items<'a>(spec: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    spec[field].as_array().into_iter().flatten()
}

/// A text of a part of a policy; empty where it is not there.
pub(super) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}
