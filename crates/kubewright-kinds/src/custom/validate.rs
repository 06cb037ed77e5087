//! Validation of objects by a structural schema.

use std::collections::BTreeMap;

use kubewright_wire::status::Cause;
use serde_json::{Map, Number, Value, json};

use super::bounds::check_bounds;
use super::list_types::key_of;
use super::structural::{Form, ListKind, Structural};

/// The most errors of one object: each may show a large part of it.
const MOST_CAUSES: usize = 1000;

/// The errors of an object (k8s.io/kube-openapi/pkg/validation). Values that did not change are not
/// validated again.
pub(crate) fn validate(value: &Value, old: Option<&Value>, schema: &Structural) -> Vec<Cause> {
    let mut causes = Vec::new();
    check(value, old, schema, "", &mut causes);
    causes
}

/// The errors of a part that is written by itself. Messages have the path within the part, and
/// fields that within the object (`ValidateStatusUpdate` of k8s.io/apiextensions-apiserver).
pub(super) fn validate_part(
    name: &str,
    value: &Value,
    old: Option<&Value>,
    schema: &Structural,
) -> Vec<Cause> {
    let mut causes = validate(value, old, schema);
    for cause in &mut causes {
        cause.field = match cause.field.as_str() {
            "" | "<nil>" => name.to_owned(),
            field => format!("{name}.{field}"),
        };
    }
    causes
}

fn check(
    value: &Value,
    old: Option<&Value>,
    schema: &Structural,
    path: &str,
    causes: &mut Vec<Cause>,
) {
    if old == Some(value) {
        return;
    }
    if value.is_null() && schema.nullable {
        return;
    }
    if let Some(cause) = wrong_type(value, schema, path) {
        causes.push(cause);
        causes.extend(fraction_error(value, schema, path));
        return;
    }
    causes.extend(check_bounds(value, &schema.limits, path));
    match value {
        Value::Object(members) => check_members(members, old, schema, path, causes),
        Value::Array(items) => check_items(items, old, schema, path, causes),
        _ => {}
    }
    check_logic(value, schema, path, causes);
}

fn check_members(
    members: &Map<String, Value>,
    old: Option<&Value>,
    schema: &Structural,
    path: &str,
    causes: &mut Vec<Cause>,
) {
    for (name, member) in members {
        if causes.len() >= MOST_CAUSES {
            return;
        }
        if let Some(entry) = schema.entry(name) {
            let old = old.and_then(|old| old.get(name));
            check(member, old, entry, &child_path(path, name), causes);
        }
    }
    let required = schema.required.iter().map(String::as_str);
    let embedded: &[&str] = match schema.form {
        Form::Embedded => &["apiVersion", "kind"],
        _ => &[],
    };
    for name in required.chain(embedded.iter().copied()) {
        if causes.len() >= MOST_CAUSES {
            return;
        }
        if !members.contains_key(name) {
            causes.push(Cause::required(&child_path(path, name), ""));
        }
    }
}

fn check_items(
    items: &[Value],
    old: Option<&Value>,
    schema: &Structural,
    path: &str,
    causes: &mut Vec<Cause>,
) {
    if let Some(item) = &schema.item {
        let old = OldItems::new(old, &schema.list);
        for (index, value) in items.iter().enumerate() {
            if causes.len() >= MOST_CAUSES {
                return;
            }
            check(
                value,
                old.matching(value),
                item,
                &format!("{path}[{index}]"),
                causes,
            );
        }
    }
}

/// The items of the old list by key. Only the items of a list with keys can be matched.
pub(super) struct OldItems<'a> {
    names: &'a [String],
    items: BTreeMap<String, &'a Value>,
}

impl<'a> OldItems<'a> {
    pub(super) fn new(old: Option<&'a Value>, list: &'a ListKind) -> Self {
        let ListKind::Map(names) = list else {
            return Self {
                names: &[],
                items: BTreeMap::new(),
            };
        };
        let mut items = BTreeMap::new();
        for item in old.and_then(Value::as_array).into_iter().flatten() {
            items.entry(key_of(item, names).to_string()).or_insert(item);
        }
        Self { names, items }
    }

    /// The old item with the key of this one.
    pub(super) fn matching(&self, value: &Value) -> Option<&'a Value> {
        if self.items.is_empty() {
            return None;
        }
        let key = key_of(value, self.names).to_string();
        self.items.get(&key).copied()
    }
}

fn wrong_type(value: &Value, schema: &Structural, path: &str) -> Option<Cause> {
    let found = type_of(value);
    if schema.form == Form::IntOrString {
        let fits = matches!(found, "integer" | "string");
        return (!fits).then(|| mistyped(path, "integer,string", found));
    }
    let wanted = schema.kind.as_deref()?;
    let fits = wanted == found || wanted == "number" && found == "integer";
    (!fits).then(|| mistyped(path, wanted, found))
}

/// Kubernetes reports a fraction in an integer field twice, by type and by number.
fn fraction_error(value: &Value, schema: &Structural, path: &str) -> Option<Cause> {
    let is_fraction = schema.kind.as_deref() == Some("integer") && type_of(value) == "number";
    let detail = format!("Checked value must be of type integer (default format) in {path}");
    is_fraction.then(|| Cause::invalid("<nil>", &json!(""), &detail))
}

fn mistyped(path: &str, wanted: &str, found: &str) -> Cause {
    let detail = format!("{path} in body must be of type {wanted}: {found:?}");
    Cause::type_invalid(path, &json!(found), &detail)
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if is_whole(number) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn is_whole(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|value| value.fract() == 0.0)
}

fn check_logic(value: &Value, schema: &Structural, path: &str, causes: &mut Vec<Cause>) {
    let logic = &schema.logic;
    let is_valid = |alternative: &&Structural| {
        let mut errors = Vec::new();
        check(value, None, alternative, path, &mut errors);
        errors.is_empty()
    };
    for alternative in &logic.all_of {
        check(value, None, alternative, path, causes);
    }
    let mut report = |detail: &str| {
        let detail = format!("{path:?} must validate {detail}");
        causes.push(Cause::invalid(path, &json!(""), &detail));
    };
    if !logic.any_of.is_empty()
        && !logic
            .any_of
            .iter()
            .any(|alternative| is_valid(&alternative))
    {
        report("at least one schema (anyOf)");
    }
    if !logic.one_of.is_empty() {
        match logic.one_of.iter().filter(is_valid).count() {
            1 => {}
            0 => report("one and only one schema (oneOf). Found none valid"),
            count => report(&format!(
                "one and only one schema (oneOf). Found {count} valid alternatives"
            )),
        }
    }
    if logic.not.as_deref().is_some_and(|not| is_valid(&not)) {
        let detail = format!("{path:?} must not validate the schema (not)");
        causes.push(Cause::invalid(path, &json!(""), &detail));
    }
}

/// The path of a field.
pub(super) fn child_path(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Structural, validate, validate_part};

    fn schema() -> Structural {
        Structural::compile(&json!({"type": "object", "properties": {"spec": {
            "type": "object", "required": ["a"], "properties": {
                "a": {"type": "string", "maxLength": 5, "pattern": "^[a-z]+$"},
                "n": {"type": "integer", "minimum": 1},
                "p": {"x-kubernetes-int-or-string": true},
                "e": {"type": "string", "enum": ["X", "Y"]},
                "l": {"type": "array", "maxItems": 2, "x-kubernetes-list-type": "set",
                      "items": {"type": "string"}},
                "m": {"type": "array", "x-kubernetes-list-type": "map",
                      "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object",
                      "properties": {"k": {"type": "string"}}}},
            },
        }}}))
    }

    fn errors(spec: Value) -> Vec<String> {
        let value = json!({"spec": spec});
        let causes = validate(&value, None, &schema());
        causes.iter().map(|cause| cause.with_field()).collect()
    }

    #[test]
    fn messages_equal_those_of_kubernetes() {
        for (spec, wanted) in [
            (json!({}), "spec.a: Required value"),
            (
                json!({"a": "abcdef"}),
                "spec.a: Too long: may not be more than 5 bytes",
            ),
            (
                json!({"a": "A"}),
                "spec.a: Invalid value: \"A\": spec.a in body should match '^[a-z]+$'",
            ),
            (
                json!({"a": 1}),
                "spec.a: Invalid value: \"integer\": spec.a in body must be of type string: \
                 \"integer\"",
            ),
            (
                json!({"a": "x", "n": 0}),
                "spec.n: Invalid value: 0: spec.n in body should be greater than or equal to 1",
            ),
            (
                json!({"a": "x", "p": true}),
                "spec.p: Invalid value: \"boolean\": spec.p in body must be of type \
                 integer,string: \"boolean\"",
            ),
            (
                json!({"a": "x", "e": "Z"}),
                "spec.e: Unsupported value: \"Z\": supported values: \"X\", \"Y\"",
            ),
            (
                json!({"a": "x", "l": ["1", "2", "3"]}),
                "spec.l: Too many: 3: must have at most 2 items",
            ),
        ] {
            assert_eq!(errors(spec), [wanted]);
        }
        assert!(errors(json!({"a": "x", "n": 1.0, "p": "80%"})).is_empty());
    }

    #[test]
    fn unchanged_invalid_value_is_accepted() {
        let old = json!({"spec": {"a": "TOO", "n": 1}});
        let new = json!({"spec": {"a": "TOO", "n": 2}});
        assert!(validate(&new, Some(&old), &schema()).is_empty());
        assert_eq!(validate(&new, None, &schema()).len(), 1);
    }

    #[test]
    fn part_is_validated_by_itself() {
        let errors_of = |status: Value| -> Vec<String> {
            let spec = schema();
            let causes = validate_part("status", &status, None, &spec.properties["spec"]);
            causes.iter().map(|cause| cause.with_field()).collect()
        };
        assert_eq!(
            errors_of(json!({"a": "x", "n": 0})),
            ["status.n: Invalid value: 0: n in body should be greater than or equal to 1"]
        );
        assert_eq!(
            errors_of(json!("text")),
            ["status: Invalid value: \"string\":  in body must be of type object: \"string\""]
        );
    }

    #[test]
    fn schema_of_the_name_is_enforced() {
        let schema = Structural::compile(&json!({"type": "object", "properties": {"metadata": {
            "type": "object", "properties": {"name": {"type": "string", "maxLength": 2}},
        }}}));
        let causes = validate(&json!({"metadata": {"name": "abc"}}), None, &schema);
        assert_eq!(causes.len(), 1);
        assert_eq!(causes[0].field, "metadata.name");
    }
}
