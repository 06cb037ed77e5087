//! Functions of strings (cel-go/ext/strings.go and the standard library).

use std::sync::Arc;

use super::arguments::Arguments;
use super::overload::{Overload, global, member};
use super::type_pattern::{BOOL, INT, LIST_OF_STRING, STRING};
use crate::budget::Budget;
use crate::cost::{
    CallEstimate, Operands, STRING_CHARACTER, SizeEstimate, ceil_div, constant, search_estimate,
};
use crate::error::EvaluationError;
use crate::values::{EvaluationResult, Type, Value};

pub(super) static OVERLOADS: &[Overload] = &[
    member("contains", &[STRING, STRING], BOOL).overload(
        "contains_string",
        |args, _| Ok(Value::Bool(args.string(0)?.contains(args.string(1)?))),
        |operands| CallEstimate::cost(operands.traversal(0).saturating_mul(operands.traversal(1))),
    ),
    member("endsWith", &[STRING, STRING], BOOL).overload(
        "ends_with_string",
        |args, _| Ok(Value::Bool(args.string(0)?.ends_with(args.string(1)?))),
        affix_estimate,
    ),
    member("startsWith", &[STRING, STRING], BOOL).overload(
        "starts_with_string",
        |args, _| Ok(Value::Bool(args.string(0)?.starts_with(args.string(1)?))),
        affix_estimate,
    ),
    member("charAt", &[STRING, INT], STRING).overload("string_char_at_int", char_at, constant),
    member("indexOf", &[STRING, STRING], INT).overload(
        "string_index_of_string",
        index_of,
        search_estimate,
    ),
    member("indexOf", &[STRING, STRING, INT], INT).overload(
        "string_index_of_string_int",
        index_of,
        search_estimate,
    ),
    member("lastIndexOf", &[STRING, STRING], INT).overload(
        "string_last_index_of_string",
        last_index_of,
        search_estimate,
    ),
    member("lastIndexOf", &[STRING, STRING, INT], INT).overload(
        "string_last_index_of_string_int",
        last_index_of,
        search_estimate,
    ),
    member("join", &[LIST_OF_STRING], STRING).overload("list_join", join, join_estimate),
    member("join", &[LIST_OF_STRING, STRING], STRING).overload(
        "list_join_string",
        join,
        join_estimate,
    ),
    member("lowerAscii", &[STRING], STRING).overload(
        "string_lower_ascii",
        |args, _| Ok(Value::string(&args.string(0)?.to_ascii_lowercase())),
        part_estimate,
    ),
    member("upperAscii", &[STRING], STRING).overload(
        "string_upper_ascii",
        |args, _| Ok(Value::string(&args.string(0)?.to_ascii_uppercase())),
        part_estimate,
    ),
    member("trim", &[STRING], STRING).overload(
        "string_trim",
        |args, _| Ok(Value::string(args.string(0)?.trim())),
        part_estimate,
    ),
    member("replace", &[STRING, STRING, STRING], STRING).overload(
        "string_replace_string_string",
        replace,
        replace_estimate,
    ),
    member("replace", &[STRING, STRING, STRING, INT], STRING).overload(
        "string_replace_string_string_int",
        replace,
        replace_estimate,
    ),
    member("split", &[STRING, STRING], LIST_OF_STRING).overload(
        "string_split_string",
        split,
        split_estimate,
    ),
    member("split", &[STRING, STRING, INT], LIST_OF_STRING).overload(
        "string_split_string_int",
        split,
        split_estimate,
    ),
    member("substring", &[STRING, INT], STRING).overload(
        "string_substring_int",
        substring,
        part_estimate,
    ),
    member("substring", &[STRING, INT, INT], STRING).overload(
        "string_substring_int_int",
        substring,
        part_estimate,
    ),
    global("strings.quote", &[STRING], STRING).overload(
        "strings_quote",
        |args, _| Ok(Value::string(&format!("{:?}", args.string(0)?))),
        quote_estimate,
    ),
];

impl Arguments<'_> {
    /// An `int` that may be left out.
    fn optional_int(self, index: usize) -> Result<Option<i64>, EvaluationError> {
        if index < self.len() {
            self.int(index).map(Some)
        } else {
            Ok(None)
        }
    }
}

/// Charges the result before it is created: it can be as large as the product of all arguments.
fn replace(args: Arguments<'_>, budget: &mut Budget) -> EvaluationResult {
    let (text, old, new) = (args.string(0)?, args.string(1)?, args.string(2)?);
    let limit = args
        .optional_int(3)?
        .and_then(|limit| usize::try_from(limit).ok())
        .unwrap_or(usize::MAX);
    let count = text.matches(old).take(limit).count();
    budget.charge_bytes(text.len().saturating_add(count.saturating_mul(new.len())))?;
    Ok(Value::string(&text.replacen(old, new, limit)))
}

fn join(args: Arguments<'_>, budget: &mut Budget) -> EvaluationResult {
    let separator = if args.len() > 1 { args.string(1)? } else { "" };
    let strings: Vec<&str> = args
        .list(0)?
        .iter()
        .map(|item| match item {
            Value::String(text) => Ok(&**text),
            _ => Err(EvaluationError::no_such_overload()),
        })
        .collect::<Result<_, _>>()?;
    let size = strings.iter().map(|text| text.len() + separator.len());
    budget.charge_bytes(size.sum())?;
    Ok(Value::string(&strings.join(separator)))
}

fn out_of_range(index: i64) -> EvaluationError {
    EvaluationError::new(format!("index out of range: {index}"))
}

/// An index of a character, which may be the end of the string.
fn character_index(index: i64, length: usize) -> Result<usize, EvaluationError> {
    usize::try_from(index)
        .ok()
        .filter(|index| *index <= length)
        .ok_or_else(|| out_of_range(index))
}

fn char_at(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let text = args.string(0)?;
    let index = character_index(args.int(1)?, text.chars().count())?;
    let found: String = text.chars().skip(index).take(1).collect();
    Ok(Value::string(&found))
}

fn substring(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let text = args.string(0)?;
    let length = text.chars().count();
    let (start, end) = (args.int(1)?, args.optional_int(2)?);
    let from = character_index(start, length)?;
    let to = end.map_or(Ok(length), |end| character_index(end, length))?;
    if from > to {
        let end = end.unwrap_or_default();
        return Err(EvaluationError::new(format!(
            "invalid substring range. start: {start}, end: {end}"
        )));
    }
    let part: String = text.chars().skip(from).take(to - from).collect();
    Ok(Value::string(&part))
}

fn index_of(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let (text, part) = (args.string(0)?, args.string(1)?);
    let start = start_byte(text, args.optional_int(2)?)?.unwrap_or(0);
    let rest = text.get(start..).unwrap_or_default();
    let found = rest.find(part).map(|byte| start + byte);
    Ok(character_position(text, found))
}

/// The last occurrence that begins at the given index or before it.
fn last_index_of(args: Arguments<'_>, _: &mut Budget) -> EvaluationResult {
    let (text, part) = (args.string(0)?, args.string(1)?);
    let start = start_byte(text, args.optional_int(2)?)?;
    let end = start.map_or(text.len(), |start| start.saturating_add(part.len()));
    let searched = text.get(..text.floor_char_boundary(end));
    let found = searched.unwrap_or_default().rfind(part);
    Ok(character_position(text, found))
}

/// The byte at which the character of an index begins.
fn start_byte(text: &str, index: Option<i64>) -> Result<Option<usize>, EvaluationError> {
    let Some(index) = index else {
        return Ok(None);
    };
    let index = character_index(index, text.chars().count())?;
    let byte = text.char_indices().nth(index);
    Ok(Some(byte.map_or(text.len(), |(byte, _)| byte)))
}

/// The index of the character that begins at a byte; -1 if there is none.
fn character_position(text: &str, byte: Option<usize>) -> Value {
    let characters = |byte: usize| text.get(..byte).unwrap_or_default().chars().count();
    byte.map_or(Value::Int(-1), |byte| Value::length(characters(byte)))
}

fn split(args: Arguments<'_>, budget: &mut Budget) -> EvaluationResult {
    let (text, separator) = (args.string(0)?, args.string(1)?);
    // A negative limit is none.
    let limit = args.optional_int(2)?.unwrap_or(-1);
    let part_count = match separator {
        "" => text.chars().count(),
        separator => text.matches(separator).count() + 1,
    };
    budget.charge_items(part_count.min(usize::try_from(limit).unwrap_or(usize::MAX)))?;
    let parts: Vec<Arc<str>> = match usize::try_from(limit) {
        Ok(0) => Vec::new(),
        limit if separator.is_empty() => split_characters(text, limit.unwrap_or(usize::MAX)),
        Ok(limit) => text.splitn(limit, separator).map(Into::into).collect(),
        Err(_) => text.split(separator).map(Into::into).collect(),
    };
    Ok(Value::list(parts.into_iter().map(Value::String).collect()))
}

/// One part for each character. The last part of the limit is the rest of the string.
fn split_characters(text: &str, limit: usize) -> Vec<Arc<str>> {
    let head_count = limit.saturating_sub(1).min(text.chars().count());
    let heads = text.chars().take(head_count);
    let mut parts: Vec<Arc<str>> = heads.map(|c| c.to_string().into()).collect();
    let rest: String = text.chars().skip(parts.len()).collect();
    if !rest.is_empty() {
        parts.push(rest.into());
    }
    parts
}

/// Only the characters of the prefix or suffix are compared.
fn affix_estimate(operands: Operands<'_>) -> CallEstimate {
    CallEstimate::cost(operands.traversal(1))
}

/// The result is not longer than the string.
fn part_estimate(operands: Operands<'_>) -> CallEstimate {
    CallEstimate::sized(operands.traversal(0), operands.size(0))
}

/// Each character can be escaped, and quotes are added.
fn quote_estimate(operands: Operands<'_>) -> CallEstimate {
    let size = operands.size(0);
    let quoted = SizeEstimate {
        min: size.min.wrapping_add(2),
        max: size.max.wrapping_mul(2).wrapping_add(2),
    };
    CallEstimate::sized(operands.traversal(0), quoted)
}

fn split_estimate(operands: Operands<'_>) -> CallEstimate {
    let size = operands.size(0);
    let max = operands.literal(2).map_or(size.max, i64::cast_unsigned);
    CallEstimate::sized(size.cost(2.0 * STRING_CHARACTER), SizeEstimate::up_to(max))
}

fn join_estimate(operands: Operands<'_>) -> CallEstimate {
    let count = operands.size(0);
    let strings = match operands.of(0) {
        Type::List(..) => count.times(operands.item_size(0)),
        _ => SizeEstimate::exactly(0),
    };
    let size = if operands.len() > 1 {
        let separators = SizeEstimate {
            min: count.min.saturating_sub(1),
            max: count.max.saturating_sub(1),
        };
        strings.plus(operands.size(1).times(separators))
    } else {
        strings
    };
    CallEstimate::sized(size.cost(STRING_CHARACTER), size)
}

fn replace_estimate(operands: Operands<'_>) -> CallEstimate {
    let text = operands.size(0);
    let size = replaced_size(text, operands.size(1), operands.size(2));
    CallEstimate::sized(text.cost(2.0 * STRING_CHARACTER), size)
}

/// The size of a string in which all occurrences of `old` are replaced by `new`.
fn replaced_size(text: SizeEstimate, old: SizeEstimate, new: SizeEstimate) -> SizeEstimate {
    let (max_times, max_kept) = if old.min == 0 {
        // The empty string occurs around each character.
        (text.max.saturating_add(1), text.max)
    } else if new.max <= old.min {
        (0, text.max)
    } else {
        (ceil_div(text.max, old.min), 0)
    };
    let (min_times, min_kept) = if old.max == 0 {
        (text.min.saturating_add(1), text.min)
    } else if old.max <= new.min {
        (0, text.min)
    } else {
        (ceil_div(text.min, old.max), 0)
    };
    let times = SizeEstimate {
        min: min_times,
        max: max_times,
    };
    let kept = SizeEstimate {
        min: min_kept,
        max: max_kept,
    };
    times.times(new).plus(kept)
}

#[cfg(test)]
mod tests {
    use super::{Arguments, Budget, Value, index_of, last_index_of};

    /// Expected is what cel-go returns.
    #[test]
    fn indexes_count_characters() {
        for (text, part, from, is_last, expected) in [
            ("hello", "l", None, false, 2),
            ("hello", "l", None, true, 3),
            ("hello", "l", Some(2), true, 2),
            ("hello", "l", Some(3), false, 3),
            ("hello", "", None, false, 0),
            ("hello", "", None, true, 5),
            ("hello", "x", None, true, -1),
            ("tacocat", "ac", Some(3), false, -1),
            ("ta©o©αT", "©", None, false, 2),
            ("ta©o©αT", "©", Some(3), false, 4),
            ("ta©o©αT", "©", Some(3), true, 2),
            ("ta©o©αT", "©α", Some(4), true, 4),
            ("aaaa", "aa", Some(1), true, 1),
            ("", "", Some(0), true, 0),
        ] {
            let mut values = vec![Value::string(text), Value::string(part)];
            values.extend(from.map(Value::Int));
            let search = if is_last { last_index_of } else { index_of };
            let found = search(Arguments(&values), &mut Budget::default()).unwrap();
            assert_eq!(
                found,
                Value::Int(expected),
                "{text} {part} {from:?} {is_last}"
            );
        }
        let beyond = [Value::string("abc"), Value::string("a"), Value::Int(4)];
        assert!(index_of(Arguments(&beyond), &mut Budget::default()).is_err());
    }
}
