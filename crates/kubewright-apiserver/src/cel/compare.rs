//! Comparing values within a budget: a value that is small because its parts are shared is not when
//! it is walked over.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::budget::Budget;
use super::problem::Fault;
use super::types::ListShape;
use super::value::{Key, Value};

/// Whether two values are equal, as the language has it: numbers across types, lists by what tells
/// their items apart.
pub(super) fn equal(one: &Value, two: &Value, budget: &mut Budget) -> Result<bool, Fault> {
    match (one, two) {
        (Value::List(one, shape), Value::List(two, _)) => {
            if one.len() != two.len() {
                return Ok(false);
            }
            match &**shape {
                ListShape::Atomic => {
                    budget.items(one.len())?;
                    all_equal(one.iter().zip(two.iter()), budget)
                }
                shape => same_items(one, two, shape, budget),
            }
        }
        (Value::Map(one), Value::Map(two)) => {
            budget.items(one.len())?;
            if !one.keys().eq(two.keys()) {
                return Ok(false);
            }
            all_equal(one.values().zip(two.values()), budget)
        }
        (Value::Made(one), Value::Made(two)) => {
            budget.items(one.fields.len())?;
            if one.name != two.name || !one.fields.keys().eq(two.fields.keys()) {
                return Ok(false);
            }
            all_equal(one.fields.values().zip(two.fields.values()), budget)
        }
        (Value::Optional(Some(one)), Value::Optional(Some(two))) => equal(one, two, budget),
        (one, two) => {
            charge_text(one, two, budget)?;
            Ok(one == two)
        }
    }
}

/// The order of two values; none where they have no order.
pub(super) fn order(
    one: &Value,
    two: &Value,
    budget: &mut Budget,
) -> Result<Option<Ordering>, Fault> {
    charge_text(one, two, budget)?;
    Ok(one.order(two))
}

/// Where a value stands in a list; none where it does not.
pub(super) fn position<'v>(
    items: impl IntoIterator<Item = &'v Value>,
    wanted: &Value,
    budget: &mut Budget,
) -> Result<Option<usize>, Fault> {
    for (place, item) in items.into_iter().enumerate() {
        budget.step()?;
        if equal(item, wanted, budget)? {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

/// Sorts values that have an order with one another. What that may cost is known before.
pub(super) fn sort<T>(
    items: &mut [T],
    by: impl Fn(&T) -> &Value,
    budget: &mut Budget,
) -> Result<(), Fault> {
    let longest = items.iter().map(|item| text_length(by(item))).max();
    let comparisons = items.len() * items.len().checked_ilog2().unwrap_or(0) as usize;
    budget.items(comparisons)?;
    budget.bytes(comparisons.saturating_mul(longest.unwrap_or(0)))?;
    items.sort_by(|one, two| by(one).order(by(two)).unwrap_or(Ordering::Equal));
    Ok(())
}

/// The items of a list that no earlier one is equal to.
pub(super) fn distinct(items: &[Value], budget: &mut Budget) -> Result<Vec<Value>, Fault> {
    let mut seen = BTreeSet::new();
    let mut kept: Vec<Value> = Vec::new();
    for item in items {
        let is_new = match item.key() {
            Some(key) => seen.insert(key),
            None => position(&kept, item, budget)?.is_none(),
        };
        if is_new {
            kept.push(item.clone());
        }
    }
    Ok(kept)
}

/// Whether a list has all items of another.
pub(super) fn has_all(
    items: &[Value],
    wanted: &[Value],
    budget: &mut Budget,
) -> Result<bool, Fault> {
    let members = Members::of(items);
    for item in wanted {
        if !members.contains(item, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether two lists have an item in common.
pub(super) fn intersects(one: &[Value], two: &[Value], budget: &mut Budget) -> Result<bool, Fault> {
    let members = Members::of(one);
    for item in two {
        if members.contains(item, budget)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Lists one after the other; what is in a set already is not added, and an item of the same key
/// takes the place of the first.
pub(super) fn joined(
    one: &[Value],
    two: &[Value],
    shape: &ListShape,
    budget: &mut Budget,
) -> Result<Vec<Value>, Fault> {
    let mut items = one.to_vec();
    if *shape == ListShape::Atomic {
        items.extend_from_slice(two);
        return Ok(items);
    }
    let mut places: BTreeMap<Identity, usize> = BTreeMap::new();
    for (place, item) in items.iter().enumerate() {
        if let Some(identity) = Identity::of(item, shape) {
            places.entry(identity).or_insert(place);
        }
    }
    for item in two {
        let identity = Identity::of(item, shape);
        let place = match &identity {
            Some(identity) => places.get(identity).copied(),
            None => find_same(&items, item, shape, budget)?,
        };
        match place {
            Some(place) => items[place] = item.clone(),
            None => {
                if let Some(identity) = identity {
                    places.insert(identity, items.len());
                }
                items.push(item.clone());
            }
        }
    }
    Ok(items)
}

/// What tells an item of a set or map apart from the others, where that is made of plain values.
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

/// Plain values are found at once, all others by comparison.
struct Members<'v> {
    keys: BTreeSet<Key>,
    others: Vec<&'v Value>,
}

impl<'v> Members<'v> {
    fn of(items: &'v [Value]) -> Self {
        let keys = items.iter().filter_map(Value::key);
        let others = items.iter().filter(|item| item.key().is_none());
        Self {
            keys: keys.collect(),
            others: others.collect(),
        }
    }

    fn contains(&self, item: &Value, budget: &mut Budget) -> Result<bool, Fault> {
        match item.key() {
            Some(key) => {
                budget.step()?;
                Ok(self.keys.contains(&key))
            }
            None => Ok(position(self.others.iter().copied(), item, budget)?.is_some()),
        }
    }
}

/// Whether two lists of the same length have equal items, in whatever order.
fn same_items(
    one: &[Value],
    two: &[Value],
    shape: &ListShape,
    budget: &mut Budget,
) -> Result<bool, Fault> {
    let ListShape::Map(_) = shape else {
        return has_all(two, one, budget);
    };
    let mut places = BTreeMap::new();
    for item in two {
        budget.step()?;
        let Some(identity) = Identity::of(item, shape) else {
            return has_all(two, one, budget);
        };
        places.insert(identity, item);
    }
    for item in one {
        budget.step()?;
        let other = Identity::of(item, shape).and_then(|identity| places.get(&identity));
        let Some(other) = other else {
            return Ok(false);
        };
        if !equal(item, other, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn find_same(
    items: &[Value],
    wanted: &Value,
    shape: &ListShape,
    budget: &mut Budget,
) -> Result<Option<usize>, Fault> {
    let ListShape::Map(names) = shape else {
        return position(items, wanted, budget);
    };
    for (place, item) in items.iter().enumerate() {
        budget.step()?;
        let mut is_same = true;
        for name in names {
            is_same = is_same
                && match (field(item, name), field(wanted, name)) {
                    (Some(one), Some(two)) => equal(one, two, budget)?,
                    (one, two) => one.is_none() && two.is_none(),
                };
        }
        if is_same {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

fn field<'a>(of: &'a Value, name: &str) -> Option<&'a Value> {
    match of {
        Value::Map(entries) => entries.get(&Key::String(name.into())),
        _ => None,
    }
}

fn all_equal<'v>(
    pairs: impl Iterator<Item = (&'v Value, &'v Value)>,
    budget: &mut Budget,
) -> Result<bool, Fault> {
    for (one, two) in pairs {
        if !equal(one, two, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Texts are compared as far as the shorter one goes.
fn charge_text(one: &Value, two: &Value, budget: &mut Budget) -> Result<(), Fault> {
    match text_length(one).min(text_length(two)) {
        0 => Ok(()),
        length => budget.bytes(length),
    }
}

pub(super) fn text_length(value: &Value) -> usize {
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

    use super::{Budget, Fault, ListShape, Value, distinct, equal, joined, sort};
    use crate::cel::types::Type;

    fn value(json: &serde_json::Value) -> Value {
        Value::from_json(json, &Type::Dyn)
    }

    fn list(items: &serde_json::Value, shape: ListShape) -> Value {
        match value(items) {
            Value::List(items, _) => Value::List(items, Arc::new(shape)),
            other => other,
        }
    }

    fn are_equal(one: &Value, two: &Value) -> bool {
        equal(one, two, &mut Budget::default()).unwrap()
    }

    #[test]
    fn equality_is_that_of_the_language() {
        let keyed = || ListShape::Map(vec!["k".to_owned()]);
        for (one, two, shape, wanted) in [
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
            let (one, two) = (list(&one, shape.clone()), list(&two, shape));
            assert_eq!(are_equal(&one, &two), wanted, "{one:?} {two:?}");
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
    fn shared_parts_cost_what_walking_over_them_takes() {
        // Sixty levels, each with twice the level below: small in memory, endless to walk over.
        let doubled = |inside: Value, _| Value::list(vec![inside.clone(), inside]);
        let deep = (0..60).fold(Value::Int(1), doubled);
        let spent = equal(&deep, &deep, &mut Budget::default());
        assert_eq!(spent, Err(Fault::Spent));
        let text = Value::text(&"x".repeat(1_000_000));
        let mut texts = vec![text; 1000];
        let spent = sort(&mut texts, |item| item, &mut Budget::default());
        assert_eq!(spent, Err(Fault::Spent));
        let lists: Vec<Value> = (0..2000)
            .map(|n| Value::list(vec![Value::Int(n)]))
            .collect();
        assert_eq!(distinct(&lists, &mut Budget::default()), Err(Fault::Spent));
        let plain: Vec<Value> = (0..100_000).map(Value::Int).collect();
        assert!(distinct(&plain, &mut Budget::default()).is_ok());
    }

    #[test]
    fn joined_lists_keep_what_tells_their_items_apart() {
        let join = |one: serde_json::Value, two: serde_json::Value, shape: ListShape| {
            let (Value::List(one, _), Value::List(two, _)) = (value(&one), value(&two)) else {
                return Value::Null;
            };
            Value::list(joined(&one, &two, &shape, &mut Budget::default()).unwrap())
        };
        let set = join(json!([1, 2.5]), json!([2.5, 1, 3, 3]), ListShape::Set);
        assert!(are_equal(&set, &value(&json!([1, 2.5, 3]))));
        let keyed = ListShape::Map(vec!["k".to_owned()]);
        let map = join(
            json!([{"k": 1, "v": 1}, {"k": [2]}]),
            json!([{"k": 1, "v": 2}, {"k": [2], "v": 3}, {"v": 4}]),
            keyed,
        );
        let wanted = json!([{"k": 1, "v": 2}, {"k": [2], "v": 3}, {"v": 4}]);
        assert!(are_equal(&map, &value(&wanted)));
    }
}
