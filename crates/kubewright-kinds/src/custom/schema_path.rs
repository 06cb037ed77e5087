//! Paths through schemas.

use serde_json::Value;

/// Whether a path may have subscripts such as `['a']`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Brackets {
    Allowed,
    Denied,
}

/// Resolves a path such as `.spec.names['a']` in a schema. Returns the canonical path and the schema
/// of the field (`ValidFieldPath` of k8s.io/apiextensions-apiserver).
pub(crate) fn resolve_path<'a>(
    path: &str,
    schema: &'a Value,
    brackets: Brackets,
) -> Result<(String, &'a Value), String> {
    let (mut found, mut schema, mut rest) = (String::new(), schema, path);
    while !rest.is_empty() {
        let (name, after) = match rest.strip_prefix('.') {
            Some(after) => {
                let end = after.find(['.', '[', ']']).unwrap_or(after.len());
                let (name, after) = after.split_at_checked(end).unwrap_or((after, ""));
                (name.to_owned(), after)
            }
            None => bracketed(rest, brackets)?,
        };
        if name.is_empty() {
            return Err("unexpected end of JSON path".to_owned());
        }
        let missing = || "does not refer to a valid field".to_owned();
        if schema["properties"].is_object() {
            schema = schema["properties"].get(&name).ok_or_else(missing)?;
            found = format!("{found}.{name}");
        } else {
            let entries = schema.get("additionalProperties");
            schema = entries
                .filter(|entries| entries.is_object())
                .ok_or_else(missing)?;
            found = format!("{found}[{name}]");
        }
        rest = after;
    }
    Ok((found, schema))
}

/// Parses `['name']`. Returns the name and the rest of the text.
fn bracketed(text: &str, brackets: Brackets) -> Result<(String, &str), String> {
    let Some(inner) = text.strip_prefix('[') else {
        let end = text.find(['.', '[', ']']).unwrap_or(text.len());
        let found = text.get(..end).unwrap_or(text);
        return Err(format!("expected [ or . but got: {found}"));
    };
    if brackets == Brackets::Denied {
        return Err("array notation is not allowed".to_owned());
    }
    let quoted = inner.strip_prefix('\'').ok_or_else(|| {
        let end = inner.find(['.', '[', ']']).unwrap_or(inner.len());
        let found = inner.get(..end).unwrap_or(inner);
        format!("expected single quoted string but got {found}")
    })?;
    let mut name = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.extend(chars.next().map(|(_, escaped)| escaped)),
            '\'' => {
                let rest = quoted.get(at + 1..).unwrap_or_default();
                let after = rest.strip_prefix(']').ok_or("expected ] but got the end")?;
                return Ok((name, after));
            }
            c => name.push(c),
        }
    }
    Err("unexpected end of JSON path".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Brackets, resolve_path};

    #[test]
    fn path_is_resolved_in_the_schema() {
        let schema = json!({"properties": {"a": {"properties": {"b": {"type": "string"}}},
            "m": {"additionalProperties": {"type": "integer"}}}});
        let found =
            |path: &str| resolve_path(path, &schema, Brackets::Allowed).map(|(path, _)| path);
        assert_eq!(found(".a.b").as_deref(), Ok(".a.b"));
        assert_eq!(found(".a['b']").as_deref(), Ok(".a.b"));
        assert_eq!(found(".m['x.y']").as_deref(), Ok(".m[x.y]"));
        assert_eq!(
            found(".a.z"),
            Err("does not refer to a valid field".to_owned())
        );
        assert_eq!(found("a.b"), Err("expected [ or . but got: a".to_owned()));
        assert_eq!(
            resolve_path(".a['b']", &schema, Brackets::Denied).map(|_| ()),
            Err("array notation is not allowed".to_owned())
        );
    }
}
