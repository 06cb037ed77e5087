//! The evaluator of a checked expression.

use std::collections::BTreeMap;
use std::fmt;

use super::select::{has_field, optional_select, select};
use crate::budget::Budget;
use crate::check::{
    ComposedAccess, TypedCall, TypedEntry, TypedExpr, TypedItem, TypedNode, TypedObject,
};
use crate::error::EvaluationError;
use crate::syntax::LogicOperator;
use crate::values::{EvaluationResult, Value, create_object};

/// The values of the variables of an expression.
pub type Variables = BTreeMap<&'static str, Value>;

/// The fields of the composed variable, which other expressions compute when they are first used.
pub(crate) trait ComposedVariables: fmt::Debug {
    fn value(&self, name: &str, variables: &Variables, budget: &mut Budget) -> EvaluationResult;
}

/// The evaluation of one expression.
#[derive(Debug)]
pub(crate) struct Evaluation<'a> {
    variables: &'a Variables,
    composed: Option<&'a dyn ComposedVariables>,
    pub(super) budget: &'a mut Budget,
    /// The variables of the comprehensions around the current node.
    pub(super) locals: Vec<Value>,
}

impl<'a> Evaluation<'a> {
    pub(crate) fn new(
        variables: &'a Variables,
        composed: Option<&'a dyn ComposedVariables>,
        budget: &'a mut Budget,
    ) -> Self {
        Self {
            variables,
            composed,
            budget,
            locals: Vec::new(),
        }
    }

    /// The value of an expression. Each node costs one step.
    pub(crate) fn expr(&mut self, expr: &TypedExpr) -> EvaluationResult {
        self.budget.step()?;
        match &expr.node {
            TypedNode::Literal(value) => Ok(value.clone()),
            TypedNode::Variable(name) => self.variable(name),
            TypedNode::Local(index) => self.local(*index),
            TypedNode::TypeName(name) => Ok(Value::Type((*name).into())),
            TypedNode::Select(operand, field) => {
                let operand = self.expr(operand)?;
                select(&operand, field)
            }
            TypedNode::OptionalSelect(operand, key) => {
                let operand = self.expr(operand)?;
                let key = self.expr(key)?;
                Ok(optional_select(&operand, &key))
            }
            TypedNode::Has(operand, field) => match self.expr(operand)? {
                Value::Optional(None) => Ok(Value::Bool(false)),
                Value::Optional(Some(value)) => has_field(&value, field),
                value => has_field(&value, field),
            },
            TypedNode::Composed(access, name) => self.composed(*access, name),
            TypedNode::Call(call) => self.call(call),
            TypedNode::Logic(operator, args) => self.logic(*operator, args),
            TypedNode::Conditional(parts) => {
                let [condition, then, otherwise] = &**parts;
                match self.expr(condition)? {
                    Value::Bool(true) => self.expr(then),
                    Value::Bool(false) => self.expr(otherwise),
                    _ => Err(EvaluationError::no_such_overload()),
                }
            }
            TypedNode::List(items) => self.list(items),
            TypedNode::Map(entries) => self.map(entries),
            TypedNode::Comprehension(comprehension) => self.comprehension(comprehension),
            TypedNode::Object(object) => self.object(object),
        }
    }

    fn variable(&self, name: &str) -> EvaluationResult {
        let value = self.variables.get(name);
        value
            .cloned()
            .ok_or_else(|| EvaluationError::new(format!("no such attribute(s): {name}")))
    }

    fn local(&self, index: usize) -> EvaluationResult {
        let value = self.locals.get(index);
        value.cloned().ok_or_else(EvaluationError::no_such_overload)
    }

    fn composed(&mut self, access: ComposedAccess, name: &str) -> EvaluationResult {
        if access == ComposedAccess::OptionalSelect {
            // The name is a node of its own.
            self.budget.step()?;
        }
        let value = match self.composed {
            Some(composed) => composed.value(name, self.variables, self.budget)?,
            None => return Err(EvaluationError::new(format!("no such key: {name}"))),
        };
        Ok(match access {
            ComposedAccess::Select => value,
            ComposedAccess::OptionalSelect => Value::some(value),
            ComposedAccess::Has => Value::Bool(true),
        })
    }

    fn call(&mut self, call: &TypedCall) -> EvaluationResult {
        let resolution = &call.resolution;
        match call.args.as_slice() {
            // Most calls have one or two arguments, which need no allocation.
            [only] => {
                let args = [self.expr(only)?];
                resolution.call(&args, self.budget)
            }
            [first, second] => {
                let args = [self.expr(first)?, self.expr(second)?];
                resolution.call(&args, self.budget)
            }
            exprs => {
                let args: Vec<Value> = exprs
                    .iter()
                    .map(|arg| self.expr(arg))
                    .collect::<Result<_, _>>()?;
                resolution.call(&args, self.budget)
            }
        }
    }

    /// An operand that decides the result outweighs the error of another, before or after it.
    fn logic(&mut self, operator: LogicOperator, args: &[TypedExpr]) -> EvaluationResult {
        let deciding = operator.deciding_value();
        let mut error = None;
        for arg in args {
            match self.expr(arg) {
                Ok(Value::Bool(value)) if value == deciding => return Ok(Value::Bool(value)),
                Ok(Value::Bool(_)) => {}
                Ok(_) => error = error.or_else(|| Some(EvaluationError::no_such_overload())),
                Err(EvaluationError::BudgetExceeded) => {
                    return Err(EvaluationError::BudgetExceeded);
                }
                Err(failed) => error = error.or(Some(failed)),
            }
        }
        match error {
            Some(error) => Err(error),
            None => Ok(Value::Bool(!deciding)),
        }
    }

    fn list(&mut self, items: &[TypedItem]) -> EvaluationResult {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            values.extend(self.element(&item.value, item.is_optional)?);
        }
        Ok(Value::list(values))
    }

    fn map(&mut self, entries: &[TypedEntry]) -> EvaluationResult {
        let mut values = BTreeMap::new();
        for entry in entries {
            let key = self
                .expr(&entry.key)?
                .key()
                .ok_or_else(|| EvaluationError::new("unsupported key type"))?;
            let Some(value) = self.element(&entry.value, entry.is_optional)? else {
                continue;
            };
            if values.insert(key.clone(), value).is_some() {
                let shown = Value::from(&key).shown();
                return Err(EvaluationError::new(format!(
                    "Failed with repeated key {shown}"
                )));
            }
        }
        Ok(Value::map(values))
    }

    fn object(&mut self, object: &TypedObject) -> EvaluationResult {
        let mut fields = BTreeMap::new();
        for member in &object.members {
            if let Some(value) = self.element(&member.value, member.is_optional)? {
                fields.insert(member.name.clone(), value);
            }
        }
        create_object(&object.type_name, fields)
    }

    /// An element of a list, map or object; `None` if it is optional and has no value.
    fn element(
        &mut self,
        expr: &TypedExpr,
        is_optional: bool,
    ) -> Result<Option<Value>, EvaluationError> {
        match self.expr(expr)? {
            value if !is_optional => Ok(Some(value)),
            Value::Optional(value) => Ok(value.map(|value| (*value).clone())),
            _ => Err(EvaluationError::no_such_overload()),
        }
    }
}
