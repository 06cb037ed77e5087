//! Paths through schemas.

use kubewright_wire::json_path::FieldPath;
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
    let names = match brackets {
        Brackets::Allowed => FieldPath::new(path),
        Brackets::Denied => FieldPath::new(path).without_brackets(),
    };
    let (mut found, mut schema) = (String::new(), schema);
    for name in names {
        let name = name.map_err(|error| error.to_string())?;
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
    }
    Ok((found, schema))
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
