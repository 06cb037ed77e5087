use std::sync::Arc;

use crate::cel::budget::Budget;
use crate::cel::evaluate::Evaluated;
use crate::cel::problem::Fault;
use crate::cel::value::Value;

pub(super) fn call(name: &str, args: &[Value], budget: &mut Budget) -> Option<Evaluated> {
    if name == "join" {
        return join(args, budget);
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
            Some(replace(text, old, new, usize::MAX, budget))
        }
        ("replace", [Value::String(old), Value::String(new), Value::Int(count)]) => {
            let most = usize::try_from(*count).unwrap_or(usize::MAX);
            Some(replace(text, old, new, most, budget))
        }
        ("split", [Value::String(by)]) => Some(split(text, by, -1, budget)),
        ("split", [Value::String(by), Value::Int(count)]) => Some(split(text, by, *count, budget)),
        ("substring", [Value::Int(start)]) => Some(substring(text, *start, None)),
        ("substring", [Value::Int(start), Value::Int(end)]) => {
            Some(substring(text, *start, Some(*end)))
        }
        _ => None,
    }
}

/// The result may be as large as all arguments multiplied: it is counted before it is made.
fn replace(text: &str, old: &str, new: &str, most: usize, budget: &mut Budget) -> Evaluated {
    let count = text.matches(old).take(most).count();
    budget.bytes(text.len().saturating_add(count.saturating_mul(new.len())))?;
    Ok(Value::text(&text.replacen(old, new, most)))
}

fn join(args: &[Value], budget: &mut Budget) -> Option<Evaluated> {
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
    let texts = texts?;
    let size = texts.iter().map(|text| text.len() + by.len()).sum();
    Some(budget.bytes(size).map(|()| Value::text(&texts.join(by))))
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
    let length = text.chars().count();
    let from = match from {
        Some(from) => {
            let at = usize::try_from(from).ok().filter(|at| *at <= length);
            Some(at.ok_or_else(|| out_of_range(from))?)
        }
        None => None,
    };
    let byte_of = |at: usize| {
        text.char_indices()
            .nth(at)
            .map_or(text.len(), |(byte, _)| byte)
    };
    let found = match (is_last, from.map(byte_of)) {
        (false, from) => {
            let from = from.unwrap_or(0);
            let rest = text.get(from..).unwrap_or_default();
            rest.find(part).map(|found| from + found)
        }
        // The last one that begins here or before.
        (true, from) => {
            let end = from.map_or(text.len(), |from| from.saturating_add(part.len()));
            let end = text.floor_char_boundary(end);
            text.get(..end).unwrap_or_default().rfind(part)
        }
    };
    let characters = |byte: usize| text.get(..byte).unwrap_or_default().chars().count();
    Ok(found.map_or(Value::Int(-1), |byte| Value::count(characters(byte))))
}

fn split(text: &str, by: &str, count: i64, budget: &mut Budget) -> Evaluated {
    let parts = match by {
        "" => text.chars().count(),
        by => text.matches(by).count() + 1,
    };
    budget.items(parts.min(usize::try_from(count).unwrap_or(usize::MAX)))?;
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
    Ok(Value::list(all.into_iter().map(Value::String).collect()))
}

#[cfg(test)]
mod tests {
    use super::index_of;
    use crate::cel::value::Value;

    /// Expected is what cel-go returns.
    #[test]
    fn positions_count_characters() {
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
            let found = index_of(text, part, from, is_last).unwrap();
            assert_eq!(
                found,
                Value::Int(expected),
                "{text} {part} {from:?} {is_last}"
            );
        }
        assert!(index_of("abc", "a", Some(4), false).is_err());
    }
}
