use std::sync::Arc;

use crate::cel::evaluate::Evaluated;
use crate::cel::problem::Fault;
use crate::cel::value::Value;

pub(super) fn call(name: &str, args: &[Value]) -> Option<Evaluated> {
    if name == "join" {
        return join(args);
    }
    let (Value::String(text), rest) = args.split_first()? else {
        return None;
    };
    let text = &**text;
    match (name, rest) {
        ("size", []) => Some(Ok(Value::count(text.chars().count()))),
        ("contains", [Value::String(part)]) => Some(Ok(Value::Bool(text.contains(&**part)))),
        ("startsWith", [Value::String(part)]) => Some(Ok(Value::Bool(text.starts_with(&**part)))),
        ("endsWith", [Value::String(part)]) => Some(Ok(Value::Bool(text.ends_with(&**part)))),
        ("lowerAscii", []) => Some(Ok(Value::text(&text.to_ascii_lowercase()))),
        ("upperAscii", []) => Some(Ok(Value::text(&text.to_ascii_uppercase()))),
        ("trim", []) => Some(Ok(Value::text(text.trim()))),
        ("strings.quote", []) => Some(Ok(Value::text(&format!("{text:?}")))),
        ("charAt", [Value::Int(index)]) => Some(char_at(text, *index)),
        ("indexOf" | "lastIndexOf", [Value::String(part), from @ ..]) => {
            let from = match from {
                [] => None,
                [Value::Int(from)] => Some(*from),
                _ => return None,
            };
            Some(index_of(text, part, from, name == "lastIndexOf"))
        }
        ("replace", [Value::String(old), Value::String(new)]) => {
            Some(Ok(Value::text(&text.replace(&**old, new))))
        }
        ("replace", [Value::String(old), Value::String(new), Value::Int(count)]) => {
            let replaced = match usize::try_from(*count) {
                Ok(count) => text.replacen(&**old, new, count),
                Err(_) => text.replace(&**old, new),
            };
            Some(Ok(Value::text(&replaced)))
        }
        ("split", [Value::String(by)]) => Some(Ok(split(text, by, -1))),
        ("split", [Value::String(by), Value::Int(count)]) => Some(Ok(split(text, by, *count))),
        ("substring", [Value::Int(start)]) => Some(substring(text, *start, None)),
        ("substring", [Value::Int(start), Value::Int(end)]) => {
            Some(substring(text, *start, Some(*end)))
        }
        _ => None,
    }
}

fn join(args: &[Value]) -> Option<Evaluated> {
    let (Value::List(items, _), by) = args.split_first()? else {
        return None;
    };
    let by: &str = match by {
        [] => "",
        [Value::String(by)] => by,
        _ => return None,
    };
    let texts: Option<Vec<&str>> = items
        .iter()
        .map(|item| match item {
            Value::String(text) => Some(&**text),
            _ => None,
        })
        .collect();
    Some(Ok(Value::text(&texts?.join(by))))
}

fn out_of_range(index: i64) -> Fault {
    Fault::new(format!("index out of range: {index}"))
}

fn char_at(text: &str, index: i64) -> Evaluated {
    let length = text.chars().count();
    let at = usize::try_from(index).ok().filter(|at| *at <= length);
    let at = at.ok_or_else(|| out_of_range(index))?;
    let found: String = text.chars().skip(at).take(1).collect();
    Ok(Value::text(&found))
}

fn substring(text: &str, start: i64, end: Option<i64>) -> Evaluated {
    let length = text.chars().count();
    let within = |index: i64| {
        let at = usize::try_from(index).ok().filter(|at| *at <= length);
        at.ok_or_else(|| out_of_range(index))
    };
    let from = within(start)?;
    let to = end.map_or(Ok(length), within)?;
    if from > to {
        let end = end.unwrap_or_default();
        return Err(Fault::new(format!(
            "invalid substring range. start: {start}, end: {end}"
        )));
    }
    let part: String = text.chars().skip(from).take(to - from).collect();
    Ok(Value::text(&part))
}

/// Positions count characters, not bytes.
fn index_of(text: &str, part: &str, from: Option<i64>, is_last: bool) -> Evaluated {
    let text: Vec<char> = text.chars().collect();
    let part: Vec<char> = part.chars().collect();
    let given = match from {
        Some(from) => {
            let at = usize::try_from(from).ok().filter(|at| *at <= text.len());
            Some(at.ok_or_else(|| out_of_range(from))?)
        }
        None => None,
    };
    let is_here = |at: &usize| text.get(*at..).is_some_and(|rest| rest.starts_with(&part));
    let found = match is_last {
        false => (given.unwrap_or(0)..=text.len()).find(is_here),
        true => (0..=given.unwrap_or(text.len())).rev().find(is_here),
    };
    Ok(found.map_or(Value::Int(-1), Value::count))
}

fn split(text: &str, by: &str, count: i64) -> Value {
    let all: Vec<Arc<str>> = match (count, by.is_empty()) {
        (0, _) => Vec::new(),
        (count, true) => {
            let most = usize::try_from(count).unwrap_or(usize::MAX);
            let letters = text.chars().count();
            let heads = text.chars().take(most.saturating_sub(1).min(letters));
            let mut parts: Vec<Arc<str>> = heads.map(|c| c.to_string().into()).collect();
            let rest: String = text.chars().skip(parts.len()).collect();
            if !rest.is_empty() {
                parts.push(rest.into());
            }
            parts
        }
        (count, false) => match usize::try_from(count) {
            Ok(count) => text.splitn(count, by).map(Into::into).collect(),
            Err(_) => text.split(by).map(Into::into).collect(),
        },
    };
    Value::list(all.into_iter().map(Value::String).collect())
}
