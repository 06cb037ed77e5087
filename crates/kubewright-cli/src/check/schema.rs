//! Checks of a schema: patterns, numbers, bounds, list keys, defaults.

use regex::Regex;
use serde_json::Value;

use super::finding::{Findings, Rule};

/// Checks the schema of a version and all schemas below it.
pub(super) fn check_schema(findings: &mut Findings, schema: &Value, place: &str) {
    check_pattern(findings, schema, place);
    check_number(findings, schema, place);
    check_bounds(findings, schema, place);
    check_required(findings, schema, place);
    check_list_keys(findings, schema, place);
    if let Some(default) = schema.get("default") {
        check_default(findings, schema, default, place);
    }
    let properties = schema["properties"].as_object();
    for (name, property) in properties.into_iter().flatten() {
        check_schema(findings, property, &format!("{place}.{name}"));
    }
    for keyword in ["items", "additionalProperties"] {
        if schema[keyword].is_object() {
            check_schema(findings, &schema[keyword], &format!("{place}[]"));
        }
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for branch in schema[keyword].as_array().into_iter().flatten() {
            check_pattern(findings, branch, place);
        }
    }
}

// The crate regex stands in for Go's RE2: neither has look-around or back references.
fn check_pattern(findings: &mut Findings, schema: &Value, place: &str) {
    let Some(pattern) = schema["pattern"].as_str() else {
        return;
    };
    if let Err(error) = Regex::new(pattern) {
        let text = error.to_string();
        let last = text.lines().last().unwrap_or_default().trim();
        let reason = last.strip_prefix("error: ").unwrap_or(last);
        findings.add(
            Rule::Pattern,
            place,
            format!("{pattern:?} is not a regular expression ({reason}): no value can match"),
        );
    }
}

fn check_number(findings: &mut Findings, schema: &Value, place: &str) {
    if schema["type"] == "number" {
        findings.add(
            Rule::Float,
            place,
            "clients round floating-point numbers differently; use an integer in a smaller unit, a \
quantity or a string",
        );
    }
}

const BOUNDS: [(&str, &str); 4] = [
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
];

fn check_bounds(findings: &mut Findings, schema: &Value, place: &str) {
    for (lower, upper) in BOUNDS {
        let bounds = schema[lower].as_f64().zip(schema[upper].as_f64());
        if bounds.is_some_and(|(least, most)| least > most) {
            let message = format!(
                "{lower} {} is above {upper} {}: no value is valid",
                schema[lower], schema[upper]
            );
            findings.add(Rule::Bounds, place, message);
        }
    }
    if schema["enum"].as_array().is_some_and(Vec::is_empty) {
        findings.add(Rule::Bounds, place, "the list of allowed values is empty");
    }
}

fn check_required(findings: &mut Findings, schema: &Value, place: &str) {
    let Some(properties) = schema["properties"].as_object() else {
        return;
    };
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        if !properties.contains_key(name) {
            let message = format!(
                "`{name}` is required and not a field: it is dropped, so that no object is valid"
            );
            findings.add(Rule::Bounds, place, message);
        }
    }
}

fn check_list_keys(findings: &mut Findings, schema: &Value, place: &str) {
    if schema["x-kubernetes-list-type"] != "map" {
        return;
    }
    let items = &schema["items"];
    let keys = schema["x-kubernetes-list-map-keys"].as_array();
    let Some(keys) = keys.filter(|keys| !keys.is_empty()) else {
        findings.add(Rule::ListKey, place, "a list of type map has no key");
        return;
    };
    for key in keys {
        let name = key.as_str().unwrap_or_default();
        let required = items["required"].as_array();
        let is_required = required.is_some_and(|required| required.contains(key));
        let field = items["properties"].get(name);
        let has_default = field.is_some_and(|field| field.get("default").is_some());
        if field.is_none() || !(is_required || has_default) {
            let message = format!("items may lack `{name}`, the key of the list: make it required");
            findings.add(Rule::ListKey, place, message);
        }
    }
}

/// Checks that a default is valid for its schema.
fn check_default(findings: &mut Findings, schema: &Value, default: &Value, place: &str) {
    if let Some(reason) = violation(schema, default) {
        let message = format!("the default {default} {reason}: the API server rejects it");
        findings.add(Rule::Default, place, message);
    }
}

/// Returns why a value is invalid for a schema. Rules in CEL are left to the API server.
fn violation(schema: &Value, value: &Value) -> Option<String> {
    if value.is_null() {
        return (schema["nullable"] != true).then(|| "is null".to_owned());
    }
    let expected = schema["type"].as_str().unwrap_or_default();
    let is_of_type = match expected {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    if !is_of_type {
        return Some(format!("is not of type {expected}"));
    }
    let allowed = schema["enum"].as_array();
    if allowed.is_some_and(|allowed| !allowed.contains(value)) {
        return Some("is not among the allowed values".to_owned());
    }
    let (least, most) = (schema["minimum"].as_f64(), schema["maximum"].as_f64());
    if let Some(number) = value.as_f64()
        && (least.is_some_and(|least| number < least) || most.is_some_and(|most| number > most))
    {
        return Some("is out of bounds".to_owned());
    }
    let pattern = schema["pattern"]
        .as_str()
        .and_then(|pattern| Regex::new(pattern).ok());
    if let (Some(text), Some(pattern)) = (value.as_str(), pattern)
        && !pattern.is_match(text)
    {
        return Some(format!("does not match {}", pattern.as_str()));
    }
    nested_violation(schema, value)
}

/// Returns the first violation in the items or fields of a value.
fn nested_violation(schema: &Value, value: &Value) -> Option<String> {
    let items = value.as_array().into_iter().flatten();
    let in_items = items.filter_map(|item| violation(&schema["items"], item));
    let fields = value.as_object().into_iter().flatten();
    let in_fields = fields.filter_map(|(name, field)| {
        let schema = schema["properties"].get(name)?;
        violation(schema, field).map(|reason| format!("has a `{name}` that {reason}"))
    });
    in_items.chain(in_fields).next()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::finding::{Findings, Rule};
    use super::check_schema;

    fn rules(schema: Value) -> Vec<Rule> {
        let mut findings = Findings::of(&json!({}));
        check_schema(&mut findings, &schema, ".spec");
        let findings = findings.into_vec();
        findings.iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn default_is_checked_against_its_schema_at_any_depth() {
        let nested = json!({"type": "object", "default": {"size": "big"}, "properties": {
            "size": {"type": "integer"},
        }});
        for (schema, faults) in [
            (json!({"type": "string", "default": 3}), 1),
            (json!({"type": "integer", "default": 3.5}), 1),
            (json!({"type": "integer", "default": 3, "maximum": 2}), 1),
            (json!({"type": "string", "default": "b", "enum": ["a"]}), 1),
            (
                json!({"type": "string", "default": "B", "pattern": "^[a-z]$"}),
                1,
            ),
            (nested, 1),
            (
                json!({"type": "integer", "default": 3, "minimum": 3, "maximum": 3}),
                0,
            ),
            (
                json!({"type": "array", "default": [], "items": {"type": "string"}}),
                0,
            ),
        ] {
            let found = rules(schema.clone());
            assert_eq!(found, vec![Rule::Default; faults], "{schema}");
        }
    }

    #[test]
    fn pattern_that_go_cannot_compile_is_reported() {
        for (pattern, faults) in [
            ("([", 1),
            ("(?=x)", 1),
            (r"(a)\1", 1),
            ("^[a-z]+$", 0),
            (r"^\p{L}*$", 0),
        ] {
            let found = rules(json!({"type": "string", "pattern": pattern}));
            assert_eq!(found, vec![Rule::Pattern; faults], "{pattern}");
        }
    }

    #[test]
    fn key_of_a_list_must_be_required_or_have_a_default() {
        let list = |items: Value| {
            json!({"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"], "items": items})
        };
        let name = json!({"name": {"type": "string"}});
        let with_default = json!({"name": {"type": "string", "default": "x"}});
        assert_eq!(
            rules(list(json!({"properties": name}))),
            [Rule::ListKey],
            "a key may be absent"
        );
        assert!(rules(list(json!({"properties": name, "required": ["name"]}))).is_empty());
        assert!(rules(list(json!({"properties": with_default}))).is_empty());
    }
}
