//! Compares, sorts and joins values within a budget. A value whose parts are shared is small in
//! memory and may still be large to traverse.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::types::ListShape;
use super::value::{Key, Value};
use crate::budget::Budget;
use crate::error::EvaluationError;

/// Whether two values are equal in CEL.
pub(crate) fn equal(
    left: &Value,
    right: &Value,
    budget: &mut Budget,
) -> Result<bool, EvaluationError> {
    match (left, right) {
        (Value::List(left, shape), Value::List(right, _)) => {
            if left.len() != right.len() {
                return Ok(false);
            }
            match &**shape {
                ListShape::Atomic => {
                    budget.charge_items(left.len())?;
                    all_equal(left.iter().zip(right.iter()), budget)
                }
                shape => has_same_items(left, right, shape, budget),
            }
        }
        (Value::Map(left), Value::Map(right)) => {
            budget.charge_items(left.len())?;
            if !left.keys().eq(right.keys()) {
                return Ok(false);
            }
            all_equal(left.values().zip(right.values()), budget)
        }
        (Value::ObjectLiteral(left), Value::ObjectLiteral(right)) => {
            budget.charge_items(left.fields.len())?;
            if left.name != right.name || !left.fields.keys().eq(right.fields.keys()) {
                return Ok(false);
            }
            all_equal(left.fields.values().zip(right.fields.values()), budget)
        }
        (Value::Optional(Some(left)), Value::Optional(Some(right))) => equal(left, right, budget),
        (left, right) => {
            charge_comparison(left, right, budget)?;
            Ok(left == right)
        }
    }
}

/// The order of two values, or `None` if their types have no order.
pub(crate) fn order(
    left: &Value,
    right: &Value,
    budget: &mut Budget,
) -> Result<Option<Ordering>, EvaluationError> {
    charge_comparison(left, right, budget)?;
    Ok(left.order(right))
}

/// The index of the first item that is equal to a value.
pub(crate) fn position<'v>(
    items: impl IntoIterator<Item = &'v Value>,
    wanted: &Value,
    budget: &mut Budget,
) -> Result<Option<usize>, EvaluationError> {
    for (index, item) in items.into_iter().enumerate() {
        budget.step()?;
        if equal(item, wanted, budget)? {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// Sorts items by values that have an order. The maximum cost is charged before the sort.
pub(crate) fn sort<T>(
    items: &mut [T],
    by: impl Fn(&T) -> &Value,
    budget: &mut Budget,
) -> Result<(), EvaluationError> {
    let longest = items.iter().map(|item| byte_length(by(item))).max();
    let comparisons = items.len() * items.len().checked_ilog2().unwrap_or(0) as usize;
    budget.charge_items(comparisons)?;
    budget.charge_bytes(comparisons.saturating_mul(longest.unwrap_or(0)))?;
    items.sort_by(|left, right| by(left).order(by(right)).unwrap_or(Ordering::Equal));
    Ok(())
}

/// The items of a list without those that are equal to an earlier one.
pub(crate) fn distinct(
    items: &[Value],
    budget: &mut Budget,
) -> Result<Vec<Value>, EvaluationError> {
    let mut seen = BTreeSet::new();
    let mut distinct: Vec<Value> = Vec::new();
    for item in items {
        let is_new = match item.key() {
            Some(key) => seen.insert(key),
            None => position(&distinct, item, budget)?.is_none(),
        };
        if is_new {
            distinct.push(item.clone());
        }
    }
    Ok(distinct)
}

/// Whether a list contains all items of another.
pub(crate) fn contains_all(
    items: &[Value],
    wanted: &[Value],
    budget: &mut Budget,
) -> Result<bool, EvaluationError> {
    let members = Members::new(items);
    for item in wanted {
        if !members.contains(item, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether two lists have an item in common.
pub(crate) fn intersects(
    left: &[Value],
    right: &[Value],
    budget: &mut Budget,
) -> Result<bool, EvaluationError> {
    let members = Members::new(left);
    for item in right {
        if members.contains(item, budget)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Concatenates two lists. In a list of shape `set` or `map`, an item of the second list replaces
/// the item of the first that has the same identity.
pub(crate) fn concat(
    left: &[Value],
    right: &[Value],
    shape: &ListShape,
    budget: &mut Budget,
) -> Result<Vec<Value>, EvaluationError> {
    let mut items = left.to_vec();
    if *shape == ListShape::Atomic {
        items.extend_from_slice(right);
        return Ok(items);
    }
    let mut indexes: BTreeMap<Identity, usize> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        if let Some(identity) = Identity::of(item, shape) {
            indexes.entry(identity).or_insert(index);
        }
    }
    for item in right {
        let identity = Identity::of(item, shape);
        let index = match &identity {
            Some(identity) => indexes.get(identity).copied(),
            None => find_same(&items, item, shape, budget)?,
        };
        match index {
            Some(index) => items[index] = item.clone(),
            None => {
                if let Some(identity) = identity {
                    indexes.insert(identity, items.len());
                }
                items.push(item.clone());
            }
        }
    }
    Ok(items)
}

/// What identifies an item of a list of shape `set` or `map`, if it consists of scalars.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Identity(Vec<Option<Key>>);

impl Identity {
    fn of(item: &Value, shape: &ListShape) -> Option<Self> {
        match shape {
            ListShape::Map(names) => {
                let keys = names.iter().map(|name| match field(item, name) {
                    Some(value) => value.key().map(Some),
                    None => Some(None),
                });
                keys.collect::<Option<Vec<_>>>().map(Self)
            }
            ListShape::Set | ListShape::Atomic => Some(Self(vec![Some(item.key()?)])),
        }
    }
}

/// The items of a list for lookups: scalars in a set, others to be compared one by one.
struct Members<'v> {
    keys: BTreeSet<Key>,
    others: Vec<&'v Value>,
}

impl<'v> Members<'v> {
    fn new(items: &'v [Value]) -> Self {
        let keys = items.iter().filter_map(Value::key);
        let others = items.iter().filter(|item| item.key().is_none());
        Self {
            keys: keys.collect(),
            others: others.collect(),
        }
    }

    fn contains(&self, item: &Value, budget: &mut Budget) -> Result<bool, EvaluationError> {
        match item.key() {
            Some(key) => {
                budget.step()?;
                Ok(self.keys.contains(&key))
            }
            None => Ok(position(self.others.iter().copied(), item, budget)?.is_some()),
        }
    }
}

/// Whether two lists of the same length have equal items, in any order.
fn has_same_items(
    left: &[Value],
    right: &[Value],
    shape: &ListShape,
    budget: &mut Budget,
) -> Result<bool, EvaluationError> {
    let ListShape::Map(_) = shape else {
        return contains_all(right, left, budget);
    };
    let mut by_identity = BTreeMap::new();
    for item in right {
        budget.step()?;
        let Some(identity) = Identity::of(item, shape) else {
            return contains_all(right, left, budget);
        };
        by_identity.insert(identity, item);
    }
    for item in left {
        budget.step()?;
        let other = Identity::of(item, shape).and_then(|identity| by_identity.get(&identity));
        let Some(other) = other else {
            return Ok(false);
        };
        if !equal(item, other, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The index of the item that has the same identity as `wanted`.
fn find_same(
    items: &[Value],
    wanted: &Value,
    shape: &ListShape,
    budget: &mut Budget,
) -> Result<Option<usize>, EvaluationError> {
    let ListShape::Map(names) = shape else {
        return position(items, wanted, budget);
    };
    for (index, item) in items.iter().enumerate() {
        budget.step()?;
        let mut is_same = true;
        for name in names {
            is_same = is_same
                && match (field(item, name), field(wanted, name)) {
                    (Some(left), Some(right)) => equal(left, right, budget)?,
                    (left, right) => left.is_none() && right.is_none(),
                };
        }
        if is_same {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

fn field<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    match object {
        Value::Map(entries) => entries.get(&Key::String(name.into())),
        _ => None,
    }
}

fn all_equal<'v>(
    pairs: impl Iterator<Item = (&'v Value, &'v Value)>,
    budget: &mut Budget,
) -> Result<bool, EvaluationError> {
    for (left, right) in pairs {
        if !equal(left, right, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Charges the comparison of two strings: it ends with the shorter one.
fn charge_comparison(
    left: &Value,
    right: &Value,
    budget: &mut Budget,
) -> Result<(), EvaluationError> {
    match byte_length(left).min(byte_length(right)) {
        0 => Ok(()),
        length => budget.charge_bytes(length),
    }
}

/// The bytes of a string or of bytes; zero for other values.
pub(crate) fn byte_length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::{Budget, EvaluationError, ListShape, Value, concat, distinct, equal, sort};
    use crate::Type;

    fn value(json: &serde_json::Value) -> Value {
        Value::from_json(json, &Type::Dyn)
    }

    fn list(items: &serde_json::Value, shape: ListShape) -> Value {
        match value(items) {
            Value::List(items, _) => Value::List(items, Arc::new(shape)),
            other => other,
        }
    }

    fn are_equal(left: &Value, right: &Value) -> bool {
        equal(left, right, &mut Budget::default()).unwrap()
    }

    #[test]
    fn equality_follows_the_shape_of_the_list() {
        let keyed = || ListShape::Map(vec!["k".to_owned()]);
        for (left, right, shape, expected) in [
            (json!([1, 2]), json!([2, 1]), ListShape::Atomic, false),
            (json!([1, 2]), json!([2, 1]), ListShape::Set, true),
            (json!([1, 2.5]), json!([2.5, 1]), ListShape::Set, true),
            (json!([1, 2]), json!([2, 3]), ListShape::Set, false),
            (
                json!([{"k": 1, "v": 1}, {"k": 2}]),
                json!([{"k": 2}, {"k": 1, "v": 1}]),
                keyed(),
                true,
            ),
            (
                json!([{"k": 1, "v": 1}, {"k": 2}]),
                json!([{"k": 2}, {"k": 1, "v": 2}]),
                keyed(),
                false,
            ),
            (
                json!([{"k": [1]}, {"k": [2]}]),
                json!([{"k": [2]}, {"k": [1]}]),
                keyed(),
                true,
            ),
        ] {
            let (left, right) = (list(&left, shape.clone()), list(&right, shape));
            assert_eq!(are_equal(&left, &right), expected, "{left:?} {right:?}");
        }
        assert!(are_equal(
            &value(&json!({"a": [1, {"b": "c"}]})),
            &value(&json!({"a": [1.0, {"b": "c"}]}))
        ));
        assert!(!are_equal(
            &value(&json!({"a": 1})),
            &value(&json!({"b": 1}))
        ));
    }

    #[test]
    fn shared_parts_are_charged_each_time_they_are_traversed() {
        // Sixty levels, each with two copies of the level below: small in memory, 2^60 items to compare.
        let doubled = |inner: Value, _| Value::list(vec![inner.clone(), inner]);
        let deep = (0..60).fold(Value::Int(1), doubled);
        let result = equal(&deep, &deep, &mut Budget::default());
        assert_eq!(result, Err(EvaluationError::BudgetExceeded));
        let text = Value::string(&"x".repeat(1_000_000));
        let mut texts = vec![text; 1000];
        let result = sort(&mut texts, |item| item, &mut Budget::default());
        assert_eq!(result, Err(EvaluationError::BudgetExceeded));
        let lists: Vec<Value> = (0..2000)
            .map(|n| Value::list(vec![Value::Int(n)]))
            .collect();
        assert_eq!(
            distinct(&lists, &mut Budget::default()),
            Err(EvaluationError::BudgetExceeded)
        );
        let plain: Vec<Value> = (0..100_000).map(Value::Int).collect();
        assert!(distinct(&plain, &mut Budget::default()).is_ok());
    }

    #[test]
    fn items_of_one_identity_are_joined_when_lists_are_added() {
        let join = |left: serde_json::Value, right: serde_json::Value, shape: ListShape| {
            let (Value::List(left, _), Value::List(right, _)) = (value(&left), value(&right))
            else {
                return Value::Null;
            };
            Value::list(concat(&left, &right, &shape, &mut Budget::default()).unwrap())
        };
        let set = join(json!([1, 2.5]), json!([2.5, 1, 3, 3]), ListShape::Set);
        assert!(are_equal(&set, &value(&json!([1, 2.5, 3]))));
        let keyed = ListShape::Map(vec!["k".to_owned()]);
        let map = join(
            json!([{"k": 1, "v": 1}, {"k": [2]}]),
            json!([{"k": 1, "v": 2}, {"k": [2], "v": 3}, {"v": 4}]),
            keyed,
        );
        let expected = json!([{"k": 1, "v": 2}, {"k": [2], "v": 3}, {"v": 4}]);
        assert!(are_equal(&map, &value(&expected)));
    }
}
