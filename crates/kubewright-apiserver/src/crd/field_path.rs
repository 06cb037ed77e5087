use serde_json::Value;

/// Follows a path such as `.spec.names['a']` down a schema: the path in its usual form, and the
/// schema that it leads to (`ValidFieldPath` of k8s.io/apiextensions-apiserver).
pub(super) fn field_path<'a>(
    path: &str,
    schema: &'a Value,
    takes_brackets: bool,
) -> Result<(String, &'a Value), String> {
    let (mut found, mut schema, mut rest) = (String::new(), schema, path);
    while !rest.is_empty() {
        let (name, after) = match rest.strip_prefix('.') {
            Some(after) => {
                let end = after.find(['.', '[', ']']).unwrap_or(after.len());
                let (name, after) = after.split_at_checked(end).unwrap_or((after, ""));
                (name.to_owned(), after)
            }
            None => bracketed(rest, takes_brackets)?,
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

/// `['name']`, and what follows it.
fn bracketed(text: &str, takes_brackets: bool) -> Result<(String, &str), String> {
    let Some(inner) = text.strip_prefix('[') else {
        let end = text.find(['.', '[', ']']).unwrap_or(text.len());
        let found = text.get(..end).unwrap_or(text);
        return Err(format!("expected [ or . but got: {found}"));
    };
    if !takes_brackets {
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
                let after = quoted.get(at + 1..).unwrap_or_default();
                let after = after
                    .strip_prefix(']')
                    .ok_or("expected ] but got the end")?;
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

    use super::field_path;

    #[test]
    fn a_path_follows_the_schema() {
        let schema = json!({"properties": {"a": {"properties": {"b": {"type": "string"}}},
            "m": {"additionalProperties": {"type": "integer"}}}});
        let found = |path: &str| field_path(path, &schema, true).map(|(path, _)| path);
        assert_eq!(found(".a.b").as_deref(), Ok(".a.b"));
        assert_eq!(found(".a['b']").as_deref(), Ok(".a.b"));
        assert_eq!(found(".m['x.y']").as_deref(), Ok(".m[x.y]"));
        assert_eq!(
            found(".a.z"),
            Err("does not refer to a valid field".to_owned())
        );
        assert_eq!(found("a.b"), Err("expected [ or . but got: a".to_owned()));
        assert_eq!(
            field_path(".a['b']", &schema, false).map(|_| ()),
            Err("array notation is not allowed".to_owned())
        );
    }
}
