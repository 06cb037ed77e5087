use std::collections::BTreeMap;

use kubewright_wire::status::Cause;
use serde_json::{Map, Number, Value, json};

use super::bounds::beyond;
use super::list_types::key_of;
use super::structural::{Form, ListKind, Structural};

/// How many faults of one object are told at most: each may show much of it.
pub(super) const MOST_CAUSES: usize = 1000;

/// What is wrong with an object, in the words of Kubernetes
/// (k8s.io/kube-openapi/pkg/validation). A value that did not change is not looked at again.
pub(super) fn validate(value: &Value, old: Option<&Value>, schema: &Structural) -> Vec<Cause> {
    let mut causes = Vec::new();
    check(value, old, schema, "", &mut causes);
    causes
}

/// The same for a part of an object that is written apart: looked at as if it stood alone, told
/// where it stands (`ValidateStatusUpdate` of k8s.io/apiextensions-apiserver).
pub(super) fn validate_part(
    (name, value): (&str, &Value),
    old: Option<&Value>,
    schema: &Structural,
) -> Vec<Cause> {
    let mut causes = validate(value, old, schema);
    for cause in &mut causes {
        cause.field = match cause.field.as_str() {
            "" | "<nil>" => name.to_owned(),
            below => format!("{name}.{below}"),
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
        causes.extend(unchecked_number(value, schema, path));
        return;
    }
    causes.extend(beyond(value, &schema.limits, path));
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
            check(member, old, entry, &below(path, name), causes);
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
            causes.push(Cause::required(&below(path, name), ""));
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
        let old = Counterparts::new(old, &schema.list);
        for (index, value) in items.iter().enumerate() {
            if causes.len() >= MOST_CAUSES {
                return;
            }
            check(
                value,
                old.of(value),
                item,
                &format!("{path}[{index}]"),
                causes,
            );
        }
    }
}

/// The items of the old list that items are compared with: only the items of a list with keys can
/// be told from one another after a change.
pub(super) struct Counterparts<'a> {
    names: &'a [String],
    items: BTreeMap<String, &'a Value>,
}

impl<'a> Counterparts<'a> {
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

    pub(super) fn of(&self, value: &Value) -> Option<&'a Value> {
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

/// The validator of numbers says once more what that of types has said.
fn unchecked_number(value: &Value, schema: &Structural, path: &str) -> Option<Cause> {
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
    let fits = |one: &&Structural| {
        let mut found = Vec::new();
        check(value, None, one, path, &mut found);
        found.is_empty()
    };
    for one in &logic.all_of {
        check(value, None, one, path, causes);
    }
    let mut refuse = |detail: &str| {
        let detail = format!("{path:?} must validate {detail}");
        causes.push(Cause::invalid(path, &json!(""), &detail));
    };
    if !logic.any_of.is_empty() && !logic.any_of.iter().any(|one| fits(&one)) {
        refuse("at least one schema (anyOf)");
    }
    if !logic.one_of.is_empty() {
        match logic.one_of.iter().filter(fits).count() {
            1 => {}
            0 => refuse("one and only one schema (oneOf). Found none valid"),
            count => refuse(&format!(
                "one and only one schema (oneOf). Found {count} valid alternatives"
            )),
        }
    }
    if logic.not.as_deref().is_some_and(|not| fits(&not)) {
        let detail = format!("{path:?} must not validate the schema (not)");
        causes.push(Cause::invalid(path, &json!(""), &detail));
    }
}

fn below(path: &str, name: &str) -> String {
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

    fn problems(spec: Value) -> Vec<String> {
        let value = json!({"spec": spec});
        let causes = validate(&value, None, &schema());
        causes.iter().map(|cause| cause.with_field()).collect()
    }

    #[test]
    fn messages_are_those_of_kubernetes() {
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
            assert_eq!(problems(spec), [wanted]);
        }
        assert!(problems(json!({"a": "x", "n": 1.0, "p": "80%"})).is_empty());
    }

    #[test]
    fn what_was_wrong_before_may_stay() {
        let old = json!({"spec": {"a": "TOO", "n": 1}});
        let new = json!({"spec": {"a": "TOO", "n": 2}});
        assert!(validate(&new, Some(&old), &schema()).is_empty());
        assert_eq!(validate(&new, None, &schema()).len(), 1);
    }

    #[test]
    fn a_part_is_told_with_its_place_and_looked_at_alone() {
        let told = |status: Value| -> Vec<String> {
            let spec = schema();
            let causes = validate_part(("status", &status), None, &spec.properties["spec"]);
            causes.iter().map(|cause| cause.with_field()).collect()
        };
        assert_eq!(
            told(json!({"a": "x", "n": 0})),
            ["status.n: Invalid value: 0: n in body should be greater than or equal to 1"]
        );
        assert_eq!(
            told(json!("text")),
            ["status: Invalid value: \"string\":  in body must be of type object: \"string\""]
        );
    }

    #[test]
    fn what_the_schema_says_of_the_name_holds() {
        let schema = Structural::compile(&json!({"type": "object", "properties": {"metadata": {
            "type": "object", "properties": {"name": {"type": "string", "maxLength": 2}},
        }}}));
        let told = validate(&json!({"metadata": {"name": "abc"}}), None, &schema);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].field, "metadata.name");
    }
}
