//! `size`, `in` and the index operator, for lists and maps and for what else has a size.

use super::arguments::Arguments;
use super::overload::{Overload, ResultItems, global, member};
use super::type_pattern::{
    A, B, BOOL, BYTES, INT, LIST_OF_A, MAP_OF_A_TO_B, OPTIONAL_OF_A, STRING, optional,
};
use crate::budget::Budget;
use crate::cost::{CallEstimate, constant};
use crate::error::EvaluationError;
use crate::values::{EvaluationResult, Key, Value, position};

pub(super) static OVERLOADS: &[Overload] = &[
    global("size", &[STRING], INT).overload("size_string", size_string, constant),
    member("size", &[STRING], INT).overload("string_size", size_string, constant),
    global("size", &[BYTES], INT).overload("size_bytes", size_bytes, constant),
    member("size", &[BYTES], INT).overload("bytes_size", size_bytes, constant),
    global("size", &[LIST_OF_A], INT).overload("size_list", size_list, constant),
    member("size", &[LIST_OF_A], INT).overload("list_size", size_list, constant),
    global("size", &[MAP_OF_A_TO_B], INT).overload("size_map", size_map, constant),
    member("size", &[MAP_OF_A_TO_B], INT).overload("map_size", size_map, constant),
    global("@in", &[A, LIST_OF_A], BOOL).overload("in_list", in_list, |operands| {
        CallEstimate::cost(operands.size(1).max)
    }),
    global("@in", &[A, MAP_OF_A_TO_B], BOOL).overload("in_map", in_map, constant),
    // The index of a list can be a number of any type, if it is an integer.
    global("_[_]", &[LIST_OF_A, INT], A)
        .overload("index_list", index, constant)
        .items(ResultItems::ItemOfFirst)
        .checks_first_argument()
        .reads_one_item(),
    global("_[_]", &[MAP_OF_A_TO_B, A], B)
        .overload("index_map", index, constant)
        .items(ResultItems::ItemOfFirst)
        .checks_first_argument()
        .reads_one_item(),
    global("_[_]", &[optional(&LIST_OF_A), INT], OPTIONAL_OF_A)
        .overload("optional_list_index_int", index, constant)
        .checks_first_argument()
        .reads_one_item(),
    global("_[_]", &[optional(&MAP_OF_A_TO_B), A], optional(&B))
        .overload("optional_map_index_value", index, constant)
        .checks_first_argument()
        .reads_one_item(),
];

/// The size of a string is the number of its characters.
fn size_string(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    Ok(Value::length(args.string(0)?.chars().count()))
}

fn size_bytes(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    Ok(Value::length(args.bytes(0)?.len()))
}

fn size_list(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    Ok(Value::length(args.list(0)?.len()))
}

fn size_map(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    Ok(Value::length(args.map(0)?.len()))
}

fn in_list(args: Arguments<'_>, budget: &mut Budget) -> EvaluationResult {
    let index = position(args.list(1)?, args.value(0)?, budget)?;
    Ok(Value::Bool(index.is_some()))
}

fn in_map(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let entries = args.map(1)?;
    let is_key = args
        .value(0)?
        .key()
        .is_some_and(|key| entries.contains_key(&key));
    Ok(Value::Bool(is_key))
}

fn index(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    item(args.value(0)?, args.value(1)?)
}

fn item(collection: &Value, key: &Value) -> EvaluationResult {
    match collection {
        Value::List(items, _) => {
            let Some(Key::Int(index)) = key.key() else {
                return Err(EvaluationError::no_such_overload());
            };
            usize::try_from(index)
                .ok()
                .and_then(|index| items.get(index))
                .cloned()
                .ok_or_else(|| EvaluationError::new(format!("index out of bounds: {index}")))
        }
        Value::Map(entries) => key
            .key()
            .and_then(|key| entries.get(&key))
            .cloned()
            .ok_or_else(|| EvaluationError::new(format!("no such key: {}", key.shown()))),
        Value::Optional(None) => Ok(Value::Optional(None)),
        Value::Optional(Some(inner)) => Ok(match item(inner, key) {
            Ok(found) => Value::some(found),
            Err(_) => Value::Optional(None),
        }),
        _ => Err(EvaluationError::no_such_overload()),
    }
}
