//! Evaluates comprehensions.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::evaluation::Evaluation;
use crate::budget::Budget;
use crate::check::{TypedComprehension, TypedExpr};
use crate::error::EvaluationError;
use crate::syntax::{ComprehensionKind, LogicOperator};
use crate::values::{EvaluationResult, Key, Value, byte_length, sort};

/// One element of a range: an index or key, and its value.
struct Element {
    key: Value,
    value: Value,
}

impl Evaluation<'_> {
    pub(super) fn comprehension(&mut self, of: &TypedComprehension) -> EvaluationResult {
        let range = self.expr(&of.range)?;
        if of.kind.is_over_optional() {
            return self.over_optional(of, range);
        }
        let range = Range::new(range)?;
        match of.kind {
            ComprehensionKind::All => self.quantifier(of, &range, LogicOperator::And),
            ComprehensionKind::Exists => self.quantifier(of, &range, LogicOperator::Or),
            ComprehensionKind::ExistsOne => {
                let count = self.filtered(of, &range)?.len();
                Ok(Value::Bool(count == 1))
            }
            ComprehensionKind::Filter => {
                let filtered = self.filtered(of, &range)?.into_iter();
                let items = filtered.map(|element| range.single(&element));
                Ok(Value::list(items.collect()))
            }
            ComprehensionKind::Map | ComprehensionKind::TransformList => {
                let transformed = self.transformed(of, &range)?.into_iter();
                Ok(Value::list(
                    transformed.map(|element| element.value).collect(),
                ))
            }
            ComprehensionKind::TransformMap => {
                let mut entries = BTreeMap::new();
                for Element { key, value } in self.transformed(of, &range)? {
                    let key = key.key().ok_or_else(EvaluationError::no_such_overload)?;
                    entries.insert(key, value);
                }
                Ok(Value::map(entries))
            }
            ComprehensionKind::TransformMapEntry => {
                let transformed = self.transformed(of, &range)?;
                merge_entries(transformed, self.budget)
            }
            ComprehensionKind::SortBy => self.sorted_by(of, &range),
            ComprehensionKind::OptMap | ComprehensionKind::OptFlatMap => {
                Err(EvaluationError::no_such_overload())
            }
        }
    }

    fn over_optional(&mut self, of: &TypedComprehension, range: Value) -> EvaluationResult {
        let Value::Optional(optional) = range else {
            return Err(EvaluationError::no_such_overload());
        };
        let Some(value) = optional else {
            return Ok(Value::Optional(None));
        };
        let result = self.with_locals([(*value).clone()], &of.body)?;
        match (of.kind, result) {
            (ComprehensionKind::OptFlatMap, Value::Optional(result)) => Ok(Value::Optional(result)),
            (ComprehensionKind::OptFlatMap, _) => Err(EvaluationError::no_such_overload()),
            (_, result) => Ok(Value::some(result)),
        }
    }

    /// Evaluates the body or the filter for one element.
    fn iteration(
        &mut self,
        of: &TypedComprehension,
        range: &Range,
        element: &Element,
        expr: &TypedExpr,
    ) -> EvaluationResult {
        match of.variable_count {
            2 => self.with_locals([element.key.clone(), element.value.clone()], expr),
            _ => self.with_locals([range.single(element)], expr),
        }
    }

    fn with_locals<const N: usize>(
        &mut self,
        locals: [Value; N],
        expr: &TypedExpr,
    ) -> EvaluationResult {
        self.budget.step()?;
        let outer = self.locals.len();
        self.locals.extend(locals);
        let value = self.expr(expr);
        self.locals.truncate(outer);
        value
    }

    fn holds(
        &mut self,
        of: &TypedComprehension,
        range: &Range,
        element: &Element,
        condition: &TypedExpr,
    ) -> Result<bool, EvaluationError> {
        match self.iteration(of, range, element, condition)? {
            Value::Bool(value) => Ok(value),
            _ => Err(EvaluationError::no_such_overload()),
        }
    }

    /// The elements for which the body is true.
    fn filtered(
        &mut self,
        of: &TypedComprehension,
        range: &Range,
    ) -> Result<Vec<Element>, EvaluationError> {
        let mut filtered = Vec::new();
        for element in range.elements() {
            if self.holds(of, range, &element, &of.body)? {
                filtered.push(element);
            }
        }
        Ok(filtered)
    }

    /// `all` joins the values of the body with `&&`, `exists` with `||`. An element that decides the
    /// result outweighs the error of another.
    fn quantifier(
        &mut self,
        of: &TypedComprehension,
        range: &Range,
        operator: LogicOperator,
    ) -> EvaluationResult {
        let deciding = operator.deciding_value();
        let mut error = None;
        for element in range.elements() {
            match self.holds(of, range, &element, &of.body) {
                Ok(value) if value == deciding => return Ok(Value::Bool(deciding)),
                Ok(_) => {}
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

    /// The keys and new values of the elements that pass the filter.
    fn transformed(
        &mut self,
        of: &TypedComprehension,
        range: &Range,
    ) -> Result<Vec<Element>, EvaluationError> {
        let mut transformed = Vec::new();
        for element in range.elements() {
            if let Some(filter) = &of.filter
                && !self.holds(of, range, &element, filter)?
            {
                continue;
            }
            let value = self.iteration(of, range, &element, &of.body)?;
            let key = element.key;
            transformed.push(Element { key, value });
        }
        Ok(transformed)
    }

    /// `sortBy`: the items in the order of the values of the body.
    fn sorted_by(&mut self, of: &TypedComprehension, range: &Range) -> EvaluationResult {
        let mut keyed = Vec::new();
        for element in range.elements() {
            let key = self.iteration(of, range, &element, &of.body)?;
            let value = element.value;
            keyed.push(Element { key, value });
        }
        let first = keyed.first().map(|element| element.key.clone());
        let is_comparable = |element: &Element| {
            first
                .as_ref()
                .is_some_and(|first| first.order(&element.key).is_some())
        };
        let key_bytes = keyed.iter().map(|element| byte_length(&element.key)).sum();
        self.budget.charge_bytes(key_bytes)?;
        if !keyed.iter().all(is_comparable) {
            return Err(EvaluationError::no_such_overload());
        }
        sort(&mut keyed, |element| &element.key, self.budget)?;
        let items = keyed.into_iter().map(|element| element.value);
        Ok(Value::list(items.collect()))
    }
}

/// One map of the entries of many. A key may occur only once.
fn merge_entries(maps: Vec<Element>, budget: &mut Budget) -> EvaluationResult {
    let mut merged = BTreeMap::new();
    for element in maps {
        let Value::Map(entries) = element.value else {
            return Err(EvaluationError::no_such_overload());
        };
        budget.charge_items(entries.len())?;
        for (key, value) in entries.iter() {
            if merged.insert(key.clone(), value.clone()).is_some() {
                return Err(EvaluationError::new("insert failed: key already exists"));
            }
        }
    }
    Ok(Value::map(merged))
}

/// The range of a comprehension. Its elements are visited one by one, because a comprehension can
/// end early.
enum Range {
    List(Arc<[Value]>),
    Map(Arc<BTreeMap<Key, Value>>),
}

impl Range {
    fn new(range: Value) -> Result<Self, EvaluationError> {
        match range {
            Value::List(items, _) => Ok(Self::List(items)),
            Value::Map(entries) => Ok(Self::Map(entries)),
            _ => Err(EvaluationError::no_such_overload()),
        }
    }

    /// The value of a single variable: the item of a list, the key of a map.
    fn single(&self, element: &Element) -> Value {
        match self {
            Self::List(_) => element.value.clone(),
            Self::Map(_) => element.key.clone(),
        }
    }

    fn elements(&self) -> Box<dyn Iterator<Item = Element> + '_> {
        match self {
            Self::List(items) => Box::new(items.iter().enumerate().map(|(index, item)| Element {
                key: Value::length(index),
                value: item.clone(),
            })),
            Self::Map(entries) => Box::new(entries.iter().map(|(key, value)| Element {
                key: Value::from(key),
                value: value.clone(),
            })),
        }
    }
}
