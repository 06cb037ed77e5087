use std::cmp::Ordering;
use std::sync::Arc;

use jiff::SignedDuration;

use super::operators;
use crate::cel::budget::Budget;
use crate::cel::compare::{distinct, has_all, intersects, order, position, sort, text_length};
use crate::cel::evaluate::Evaluated;
use crate::cel::problem::Fault;
use crate::cel::value::Value;

pub(super) fn call(name: &str, args: &[Value], budget: &mut Budget) -> Option<Evaluated> {
    match (name, args) {
        ("size", [Value::Bytes(bytes)]) => Some(Ok(Value::count(bytes.len()))),
        ("size", [Value::Map(entries)]) => Some(Ok(Value::count(entries.len()))),
        ("lists.range", [Value::Int(end)]) => Some(range(*end, budget)),
        (_, [Value::List(one, _), Value::List(two, _)]) if name.starts_with("sets.") => {
            sets(name, one, two, budget)
        }
        (_, [Value::List(items, _), rest @ ..]) => of_list(name, items, rest, budget),
        _ => None,
    }
}

fn range(end: i64, budget: &mut Budget) -> Evaluated {
    budget.items(usize::try_from(end).unwrap_or_default())?;
    Ok(Value::list((0..end).map(Value::Int).collect()))
}

fn sets(name: &str, one: &[Value], two: &[Value], budget: &mut Budget) -> Option<Evaluated> {
    let holds = match name {
        "sets.contains" => has_all(one, two, budget),
        "sets.equivalent" => match has_all(one, two, budget) {
            Ok(true) => has_all(two, one, budget),
            other => other,
        },
        "sets.intersects" => intersects(one, two, budget),
        _ => return None,
    };
    Some(holds.map(Value::Bool))
}

fn of_list(name: &str, items: &[Value], rest: &[Value], budget: &mut Budget) -> Option<Evaluated> {
    let optional = |item: Option<&Value>| Value::Optional(item.map(|item| Arc::new(item.clone())));
    let place = |found: Option<usize>| found.map_or(Value::Int(-1), Value::count);
    Some(match (name, rest) {
        ("size", []) => Ok(Value::count(items.len())),
        ("isSorted", []) => is_sorted(items, budget).map(Value::Bool),
        ("sum", []) => sum(items),
        ("min", []) => outermost(items, "min", Ordering::is_lt, budget),
        ("max", []) => outermost(items, "max", Ordering::is_gt, budget),
        ("indexOf", [wanted]) => position(items, wanted, budget).map(place),
        ("lastIndexOf", [wanted]) => {
            let last = position(items.iter().rev(), wanted, budget);
            last.map(|found| place(found.map(|from_end| items.len() - 1 - from_end)))
        }
        ("first", []) => Ok(optional(items.first())),
        ("last", []) => Ok(optional(items.last())),
        ("reverse", []) => Ok(Value::list(items.iter().rev().cloned().collect())),
        ("distinct", []) => distinct(items, budget).map(Value::list),
        ("sort", []) => sorted(items, budget),
        ("slice", [Value::Int(start), Value::Int(end)]) => slice(items, *start, *end),
        ("flatten", []) => flat(items, 1, budget),
        ("flatten", [Value::Int(depth)]) => match depth {
            ..0 => Err(Fault::new("level must be non-negative")),
            depth => flat(items, *depth, budget),
        },
        _ => return None,
    })
}

fn sum(items: &[Value]) -> Evaluated {
    let zero = match items.first() {
        Some(Value::Uint(_)) => Value::Uint(0),
        Some(Value::Double(_)) => Value::Double(0.0),
        Some(Value::Duration(_)) => Value::Duration(SignedDuration::ZERO),
        _ => Value::Int(0),
    };
    let add = |sum: Value, item: &Value| {
        let sum = operators::plus(&sum, item);
        sum.unwrap_or_else(|| Err(Fault::no_overload()))
    };
    items.iter().try_fold(zero, add)
}

fn is_sorted(items: &[Value], budget: &mut Budget) -> Result<bool, Fault> {
    for pair in items.windows(2) {
        if let [one, two] = pair
            && order(one, two, budget)?.is_some_and(Ordering::is_gt)
        {
            return Ok(false);
        }
    }
    Ok(true)
}

fn outermost(
    items: &[Value],
    name: &str,
    wins: impl Fn(Ordering) -> bool,
    budget: &mut Budget,
) -> Evaluated {
    let mut items = items.iter();
    let mut best = items
        .next()
        .ok_or_else(|| Fault::new(format!("{name} called on empty list")))?;
    for item in items {
        if order(item, best, budget)?.is_some_and(&wins) {
            best = item;
        }
    }
    Ok(best.clone())
}

fn sorted(items: &[Value], budget: &mut Budget) -> Evaluated {
    let has_order = |item: &Value| {
        items
            .first()
            .is_some_and(|first| first.order(item).is_some())
    };
    budget.bytes(items.iter().map(text_length).sum())?;
    if !items.iter().all(has_order) {
        return Err(Fault::new("list elements must have the same type"));
    }
    let mut sorted = items.to_vec();
    sort(&mut sorted, |item| item, budget)?;
    Ok(Value::list(sorted))
}

fn slice(items: &[Value], start: i64, end: i64) -> Evaluated {
    let refuse = |why: &str| Err(Fault::new(format!("cannot slice({start}, {end}), {why}")));
    if start < 0 || end < 0 {
        return refuse("negative indexes not supported");
    }
    if start > end {
        return refuse("start index must be less than or equal to end index");
    }
    let at = |index: i64| usize::try_from(index).unwrap_or(usize::MAX);
    match items.get(at(start)..at(end)) {
        Some(part) => Ok(Value::list(part.to_vec())),
        None => refuse(&format!("list is length {}", items.len())),
    }
}

fn flat(items: &[Value], depth: i64, budget: &mut Budget) -> Evaluated {
    let mut flat = Vec::new();
    flatten(items, depth, &mut flat, budget)?;
    Ok(Value::list(flat))
}

fn flatten(
    items: &[Value],
    depth: i64,
    flat: &mut Vec<Value>,
    budget: &mut Budget,
) -> Result<(), Fault> {
    budget.items(items.len())?;
    for item in items {
        match item {
            Value::List(inner, _) if depth > 0 => flatten(inner, depth - 1, flat, budget)?,
            other => flat.push(other.clone()),
        }
    }
    Ok(())
}
