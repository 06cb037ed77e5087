use kubewright_wire::status::{Cause, CauseKind};
use serde_json::{Map, Number, Value, json};

use super::formats::has_format;
use super::list_types::key_of;
use super::structural::{Bound, Form, Limits, ListKind, Structural};

/// What is wrong with an object, in the words of Kubernetes
/// (k8s.io/kube-openapi/pkg/validation). A value that did not change is not looked at again.
pub(super) fn validate(value: &Value, old: Option<&Value>, schema: &Structural) -> Vec<Cause> {
    let mut causes = Vec::new();
    check(value, old, schema, "", &mut causes);
    causes
}

fn check(
    value: &Value,
    old: Option<&Value>,
    schema: &Structural,
    path: &str,
    causes: &mut Vec<Cause>,
) {
    // `metadata` of the object itself is checked for all kinds alike.
    if old == Some(value) || path == "metadata" {
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
        for (index, value) in items.iter().enumerate() {
            let old = counterpart(value, old, &schema.list);
            check(value, old, item, &format!("{path}[{index}]"), causes);
        }
    }
}

/// The item of the old list that an item is compared with: only the items of a list with keys
/// can be told from one another after a change.
pub(super) fn counterpart<'a>(
    value: &Value,
    old: Option<&'a Value>,
    list: &ListKind,
) -> Option<&'a Value> {
    let old = old?.as_array()?;
    match list {
        ListKind::Map(names) => {
            let key = key_of(value, names);
            old.iter().find(|item| key_of(item, names) == key)
        }
        ListKind::Set | ListKind::Atomic => None,
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

/// The bounds that a value breaks.
fn beyond(value: &Value, limits: &Limits, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let says = |text: String| format!("{path} in body should {text}");
    match value {
        Value::String(text) => {
            let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
            // The first fault of a text is the only one that is told.
            if let Some(most) = limits.max_length.filter(|most| length > *most) {
                let detail = format!("may not be more than {most} bytes");
                let kind = CauseKind::FieldValueTooLong;
                causes.push(Cause::new(kind, path, None, &detail));
            } else if let Some(least) = limits.min_length.filter(|least| length < *least) {
                let detail = says(format!("be at least {least} chars long"));
                causes.push(Cause::invalid(path, value, &detail));
            } else if let Some(pattern) = limits.pattern.as_ref().filter(|one| !one.is_match(text))
            {
                let detail = says(format!("match '{pattern}'"));
                causes.push(Cause::invalid(path, value, &detail));
            }
            if let Some(format) = limits
                .format
                .as_deref()
                .filter(|one| !has_format(text, one))
            {
                let detail = format!("{path} in body must be of type {format}: {text:?}");
                causes.push(Cause::type_invalid(path, value, &detail));
            }
        }
        Value::Number(number) => causes.extend(beyond_number(number, value, limits, path)),
        Value::Array(items) => {
            let count = u64::try_from(items.len()).unwrap_or(u64::MAX);
            let least = limits.min_items.map(|least| (least, "items"));
            let most = limits.max_items;
            causes.extend(beyond_count(count, (least, most), path));
        }
        Value::Object(members) => {
            let count = u64::try_from(members.len()).unwrap_or(u64::MAX);
            let least = limits.min_properties.map(|least| (least, "properties"));
            let most = limits.max_properties;
            causes.extend(beyond_count(count, (least, most), path));
        }
        Value::Null | Value::Bool(_) => {}
    }
    if !limits.enumeration.is_empty() && !limits.enumeration.contains(value) {
        let supported: Vec<String> = limits
            .enumeration
            .iter()
            .map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned))
            .collect();
        let supported: Vec<&str> = supported.iter().map(String::as_str).collect();
        causes.push(Cause::not_supported(path, value, &supported));
    }
    causes
}

fn beyond_count(
    count: u64,
    (least, most): (Option<(u64, &str)>, Option<u64>),
    path: &str,
) -> Vec<Cause> {
    let mut causes = Vec::new();
    if let Some((least, what)) = least.filter(|(least, _)| count < *least) {
        let detail = format!("{path} in body should have at least {least} {what}");
        causes.push(Cause::invalid(path, &json!(count), &detail));
    }
    if let Some(most) = most.filter(|most| count > *most) {
        let items = if most == 1 { "item" } else { "items" };
        let detail = format!("must have at most {most} {items}");
        let kind = CauseKind::FieldValueTooMany;
        causes.push(Cause::new(kind, path, Some(&json!(count)), &detail));
    }
    causes
}

fn beyond_number(number: &Number, value: &Value, limits: &Limits, path: &str) -> Vec<Cause> {
    let Some(found) = number.as_f64() else {
        return Vec::new();
    };
    let mut details = Vec::new();
    let passes = |bound: &&Bound, below: bool| match (below, bound.exclusive) {
        (true, true) => found <= bound.value,
        (true, false) => found < bound.value,
        (false, true) => found >= bound.value,
        (false, false) => found > bound.value,
    };
    let or_equal = |bound: &Bound| if bound.exclusive { "" } else { "or equal to " };
    if let Some(bound) = limits.minimum.as_ref().filter(|bound| passes(bound, true)) {
        details.push(format!(
            "be greater than {}{}",
            or_equal(bound),
            bound.shown
        ));
    }
    if let Some(bound) = limits.maximum.as_ref().filter(|bound| passes(bound, false)) {
        details.push(format!("be less than {}{}", or_equal(bound), bound.shown));
    }
    if let Some(factor) = limits
        .multiple_of
        .filter(|factor| (found / factor).fract() != 0.0)
    {
        details.push(format!("be a multiple of {factor}"));
    }
    details
        .iter()
        .map(|detail| Cause::invalid(path, value, &format!("{path} in body should {detail}")))
        .collect()
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

    use super::{Structural, validate};

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
}
