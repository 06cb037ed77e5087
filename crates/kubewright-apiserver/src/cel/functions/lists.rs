use std::cmp::Ordering;
use std::sync::Arc;

use jiff::SignedDuration;

use super::operators;
use crate::cel::evaluate::Evaluated;
use crate::cel::problem::Fault;
use crate::cel::value::Value;

/// The longest list that is made out of a number.
const LONGEST_RANGE: i64 = 1_000_000;

pub(super) fn call(name: &str, args: &[Value]) -> Option<Evaluated> {
    match (name, args) {
        ("size", [Value::Bytes(bytes)]) => Some(Ok(Value::count(bytes.len()))),
        ("size", [Value::Map(entries)]) => Some(Ok(Value::count(entries.len()))),
        ("lists.range", [Value::Int(end)]) => Some(range(*end)),
        (_, [Value::List(one, _), Value::List(two, _)]) => sets(name, one, two),
        (_, [Value::List(items, _), rest @ ..]) => of_list(name, items, rest),
        _ => None,
    }
}

fn range(end: i64) -> Evaluated {
    if end > LONGEST_RANGE {
        return Err(Fault::Spent);
    }
    Ok(Value::list((0..end).map(Value::Int).collect()))
}

fn sets(name: &str, one: &[Value], two: &[Value]) -> Option<Evaluated> {
    let holds_all = |of: &[Value], items: &[Value]| items.iter().all(|item| of.contains(item));
    let answer = match name {
        "sets.contains" => holds_all(one, two),
        "sets.equivalent" => holds_all(one, two) && holds_all(two, one),
        "sets.intersects" => two.iter().any(|item| one.contains(item)),
        _ => return of_list(name, &Arc::from(one), &[Value::list(two.to_vec())]),
    };
    Some(Ok(Value::Bool(answer)))
}

fn of_list(name: &str, items: &Arc<[Value]>, rest: &[Value]) -> Option<Evaluated> {
    let optional = |item: Option<&Value>| Value::Optional(item.map(|item| Arc::new(item.clone())));
    let position = |found: Option<usize>| found.map_or(Value::Int(-1), Value::count);
    Some(match (name, rest) {
        ("size", []) => Ok(Value::count(items.len())),
        ("isSorted", []) => {
            let in_order = |pair: &[Value]| match pair {
                [one, two] => one.order(two).is_none_or(Ordering::is_le),
                _ => true,
            };
            Ok(Value::Bool(items.windows(2).all(in_order)))
        }
        ("sum", []) => sum(items),
        ("min", []) => outermost(items, "min", Ordering::is_lt),
        ("max", []) => outermost(items, "max", Ordering::is_gt),
        ("indexOf", [wanted]) => Ok(position(items.iter().position(|item| item == wanted))),
        ("lastIndexOf", [wanted]) => Ok(position(items.iter().rposition(|item| item == wanted))),
        ("first", []) => Ok(optional(items.first())),
        ("last", []) => Ok(optional(items.last())),
        ("reverse", []) => Ok(Value::list(items.iter().rev().cloned().collect())),
        ("distinct", []) => Ok(Value::list(distinct(items))),
        ("sort", []) => sort(items),
        ("slice", [Value::Int(start), Value::Int(end)]) => slice(items, *start, *end),
        ("flatten", []) => Ok(Value::list(flatten(items, 1))),
        ("flatten", [Value::Int(depth)]) => match depth {
            ..0 => Err(Fault::new("level must be non-negative")),
            depth => Ok(Value::list(flatten(items, *depth))),
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
        let sum = operators::call("_+_", &[sum, item.clone()]);
        sum.unwrap_or_else(|| Err(Fault::no_overload()))
    };
    items.iter().try_fold(zero, add)
}

fn outermost(items: &[Value], name: &str, wins: impl Fn(Ordering) -> bool) -> Evaluated {
    let mut items = items.iter();
    let first = items
        .next()
        .ok_or_else(|| Fault::new(format!("{name} called on empty list")))?;
    let best = items.fold(first, |best, item| match item.order(best) {
        Some(order) if wins(order) => item,
        _ => best,
    });
    Ok(best.clone())
}

fn distinct(items: &[Value]) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::new();
    for item in items {
        if !kept.contains(item) {
            kept.push(item.clone());
        }
    }
    kept
}

fn sort(items: &[Value]) -> Evaluated {
    let has_order = |item: &Value| {
        items
            .first()
            .is_some_and(|first| first.order(item).is_some())
    };
    if !items.iter().all(has_order) {
        return Err(Fault::new("list elements must have the same type"));
    }
    let mut sorted = items.to_vec();
    sorted.sort_by(|one, two| one.order(two).unwrap_or(Ordering::Equal));
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

fn flatten(items: &[Value], depth: i64) -> Vec<Value> {
    let mut flat = Vec::new();
    for item in items {
        match item {
            Value::List(inner, _) if depth > 0 => flat.extend(flatten(inner, depth - 1)),
            other => flat.push(other.clone()),
        }
    }
    flat
}
