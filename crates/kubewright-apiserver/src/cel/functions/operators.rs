use std::cmp::Ordering;
use std::sync::Arc;

use jiff::SignedDuration;

use crate::cel::budget::Budget;
use crate::cel::compare::{equal, joined, position};
use crate::cel::evaluate::Evaluated;
use crate::cel::problem::Fault;
use crate::cel::value::{Key, Value};

pub(super) fn call(name: &str, args: &[Value], budget: &mut Budget) -> Option<Evaluated> {
    match (name, args) {
        ("_==_", [one, two]) => Some(equal(one, two, budget).map(Value::Bool)),
        ("_!=_", [one, two]) => Some(equal(one, two, budget).map(|same| Value::Bool(!same))),
        ("_<_", [one, two]) => ordered(one, two, |order| order.is_some_and(Ordering::is_lt)),
        ("_<=_", [one, two]) => ordered(one, two, |order| order.is_some_and(Ordering::is_le)),
        ("_>_", [one, two]) => ordered(one, two, |order| order.is_some_and(Ordering::is_gt)),
        ("_>=_", [one, two]) => ordered(one, two, |order| order.is_some_and(Ordering::is_ge)),
        ("!_", [Value::Bool(value)]) => Some(Ok(Value::Bool(!value))),
        ("-_", [Value::Int(value)]) => Some(checked(value.checked_neg().map(Value::Int))),
        ("-_", [Value::Double(value)]) => Some(Ok(Value::Double(-value))),
        ("@in", [item, Value::List(items, _)]) => {
            let found = position(items.iter(), item, budget);
            Some(found.map(|found| Value::Bool(found.is_some())))
        }
        ("@in", [key, Value::Map(entries)]) => {
            let key = key.key();
            let is_there = key.is_some_and(|key| entries.contains_key(&key));
            Some(Ok(Value::Bool(is_there)))
        }
        ("_[_]", [of, key]) => Some(index(of, key)),
        ("_+_", [Value::List(one, shape), Value::List(two, _)]) => {
            let items = joined(one, two, shape, budget);
            Some(items.map(|items| Value::List(items.into(), Arc::clone(shape))))
        }
        ("_+_", [one, two]) => plus(one, two),
        ("_-_", [one, two]) => minus(one, two),
        ("_*_" | "_/_" | "_%_", [one, two]) => product(name, one, two),
        _ => None,
    }
}

fn ordered(
    one: &Value,
    two: &Value,
    holds: impl Fn(Option<Ordering>) -> bool,
) -> Option<Evaluated> {
    let order = one.order(two);
    // Not a number: it has no order with any number, which is no error.
    let are_numbers = one.float().is_some() && two.float().is_some();
    (order.is_some() || are_numbers).then(|| Ok(Value::Bool(holds(order))))
}

fn checked(value: Option<Value>) -> Evaluated {
    value.ok_or_else(|| Fault::new("integer overflow"))
}

fn index(of: &Value, key: &Value) -> Evaluated {
    match of {
        Value::List(items, _) => {
            let Some(Key::Int(index)) = key.key() else {
                return Err(Fault::no_overload());
            };
            let found = usize::try_from(index).ok().and_then(|at| items.get(at));
            found
                .cloned()
                .ok_or_else(|| Fault::new(format!("index out of bounds: {index}")))
        }
        Value::Map(entries) => {
            let found = key.key().and_then(|key| entries.get(&key));
            let shown = super::shown(key);
            found
                .cloned()
                .ok_or_else(|| Fault::new(format!("no such key: {shown}")))
        }
        Value::Optional(None) => Ok(Value::Optional(None)),
        Value::Optional(Some(inner)) => Ok(match index(inner, key) {
            Ok(found) => Value::some(found),
            Err(_) => Value::Optional(None),
        }),
        _ => Err(Fault::no_overload()),
    }
}

pub(super) fn plus(one: &Value, two: &Value) -> Option<Evaluated> {
    let moved = |time: &jiff::Timestamp, by: &SignedDuration| {
        let moved = time.checked_add(*by).ok();
        moved
            .map(Value::Timestamp)
            .ok_or_else(|| Fault::new("timestamp overflow"))
    };
    Some(match (one, two) {
        (Value::Int(one), Value::Int(two)) => checked(one.checked_add(*two).map(Value::Int)),
        (Value::Uint(one), Value::Uint(two)) => checked(one.checked_add(*two).map(Value::Uint)),
        (Value::Double(one), Value::Double(two)) => Ok(Value::Double(one + two)),
        (Value::String(one), Value::String(two)) => Ok(Value::text(&format!("{one}{two}"))),
        (Value::Bytes(one), Value::Bytes(two)) => Ok(Value::Bytes(
            one.iter().chain(two.iter()).copied().collect(),
        )),
        (Value::Duration(one), Value::Duration(two)) => one
            .checked_add(*two)
            .map(Value::Duration)
            .ok_or_else(|| Fault::new("integer overflow")),
        (Value::Timestamp(time), Value::Duration(by))
        | (Value::Duration(by), Value::Timestamp(time)) => moved(time, by),
        _ => return None,
    })
}

fn minus(one: &Value, two: &Value) -> Option<Evaluated> {
    Some(match (one, two) {
        (Value::Int(one), Value::Int(two)) => checked(one.checked_sub(*two).map(Value::Int)),
        (Value::Uint(one), Value::Uint(two)) => checked(one.checked_sub(*two).map(Value::Uint)),
        (Value::Double(one), Value::Double(two)) => Ok(Value::Double(one - two)),
        (Value::Duration(one), Value::Duration(two)) => {
            checked(one.checked_sub(*two).map(Value::Duration))
        }
        (Value::Timestamp(one), Value::Timestamp(two)) => {
            Ok(Value::Duration(one.duration_since(*two)))
        }
        (Value::Timestamp(time), Value::Duration(by)) => {
            let moved = time.checked_sub(*by).ok();
            moved
                .map(Value::Timestamp)
                .ok_or_else(|| Fault::new("timestamp overflow"))
        }
        _ => return None,
    })
}

fn product(name: &str, one: &Value, two: &Value) -> Option<Evaluated> {
    let by_zero = || {
        let what = if name == "_%_" { "modulus" } else { "division" };
        Fault::new(format!("{what} by zero"))
    };
    Some(match (one, two) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) if name != "_*_" => {
            Err(by_zero())
        }
        (Value::Int(one), Value::Int(two)) => {
            let result = match name {
                "_*_" => one.checked_mul(*two),
                "_/_" => one.checked_div(*two),
                _ => one.checked_rem(*two),
            };
            checked(result.map(Value::Int))
        }
        (Value::Uint(one), Value::Uint(two)) => {
            let result = match name {
                "_*_" => one.checked_mul(*two),
                "_/_" => one.checked_div(*two),
                _ => one.checked_rem(*two),
            };
            checked(result.map(Value::Uint))
        }
        (Value::Double(one), Value::Double(two)) => match name {
            "_*_" => Ok(Value::Double(one * two)),
            "_/_" => Ok(Value::Double(one / two)),
            _ => return None,
        },
        _ => return None,
    })
}
