//! Comparison of two schemas of one version.

use serde_json::{Map, Value};

use super::unsafe_change::{Hazard, UnsafeChange, text};

/// Compares two schemas of one version, and collects the unsafe changes.
pub(super) struct SchemaComparison<'a> {
    version: &'a str,
    changes: &'a mut Vec<UnsafeChange>,
}

impl<'a> SchemaComparison<'a> {
    /// A comparison for a version, which appends to `changes`.
    pub(super) fn new(version: &'a str, changes: &'a mut Vec<UnsafeChange>) -> Self {
        Self { version, changes }
    }

    /// Compares the schemas at a path, and those below it.
    pub(super) fn compare(&mut self, old: &Value, new: &Value, path: String) {
        if old["type"] != new["type"] && !old["type"].is_null() && !new["type"].is_null() {
            let change = format!(
                "becomes {} where it was {}",
                text(&new["type"]),
                text(&old["type"])
            );
            return self.report_validity(&path, &change);
        }
        self.compare_required(old, new, &path);
        self.compare_values(old, new, &path);
        self.compare_bounds(old, new, &path);
        self.compare_rules(old, new, &path);
        self.compare_meaning(old, new, &path);
        self.compare_unknown_fields(old, new, &path);
        self.compare_properties(old, new, &path);
        for keyword in ["items", "additionalProperties"] {
            if old[keyword].is_object() && new[keyword].is_object() {
                let inner = format!("{path}[]");
                self.compare(&old[keyword], &new[keyword], inner);
            }
        }
    }

    fn compare_properties(&mut self, old: &Value, new: &Value, path: &str) {
        let none = Map::new();
        let after = new["properties"].as_object().unwrap_or(&none);
        let keeps_unknown = is_set(new, PRESERVE) || has_further_keys(new);
        for (name, former) in old["properties"].as_object().unwrap_or(&none) {
            let inner = format!("{path}.{name}");
            match after.get(name) {
                Some(current) => self.compare(former, current, inner),
                None if keeps_unknown => {}
                None => self
                    .report_validity(&inner, "is removed: its values in objects would be dropped"),
            }
        }
    }

    fn compare_required(&mut self, old: &Value, new: &Value, path: &str) {
        let none = Vec::new();
        let before = old["required"].as_array().unwrap_or(&none);
        for name in new["required"].as_array().unwrap_or(&none) {
            let field = &new["properties"][text(name)];
            if !before.contains(name) && field["default"].is_null() {
                let inner = format!("{path}.{}", text(name));
                self.report_validity(&inner, "becomes required and has no default");
            }
        }
    }

    fn compare_values(&mut self, old: &Value, new: &Value, path: &str) {
        if let Some(allowed) = new["enum"].as_array() {
            match old["enum"].as_array() {
                None => self.report_validity(path, "allows only listed values from now on"),
                Some(former) => {
                    if let Some(removed) = former.iter().find(|value| !allowed.contains(value)) {
                        self.report_validity(path, &format!("no longer allows {removed}"));
                    }
                }
            }
        }
        if is_set(old, "nullable") && !is_set(new, "nullable") {
            self.report_validity(path, "no longer allows null");
        }
        if is_set(old, INT_OR_STRING) && !is_set(new, INT_OR_STRING) {
            self.report_validity(path, "no longer allows both integers and strings");
        }
        if new["pattern"].is_string() && old["pattern"] != new["pattern"] {
            self.report_validity(
                path,
                &format!("has to match {} from now on", new["pattern"]),
            );
        }
        for keyword in ["multipleOf", "format"] {
            if !new[keyword].is_null() && old[keyword] != new[keyword] {
                let change = format!("has the {keyword} {} from now on", new[keyword]);
                self.report_validity(path, &change);
            }
        }
        for keyword in ["allOf", "anyOf", "oneOf", "not"] {
            if !new[keyword].is_null() && old[keyword] != new[keyword] {
                self.report_validity(path, &format!("has another {keyword} from now on"));
            }
        }
    }

    fn compare_bounds(&mut self, old: &Value, new: &Value, path: &str) {
        for (keyword, is_upper) in BOUNDS {
            let (before, after) = (old[keyword].as_f64(), new[keyword].as_f64());
            let is_narrower = match (before, after) {
                (_, None) => false,
                (None, Some(after)) => is_upper || after > 0.0 || keyword == "minimum",
                (Some(before), Some(after)) if is_upper => after < before,
                (Some(before), Some(after)) => after > before,
            };
            if is_narrower {
                let change = format!("has the {keyword} {} from now on", new[keyword]);
                self.report_validity(path, &change);
            }
        }
        for (keyword, bound) in [
            ("exclusiveMaximum", "maximum"),
            ("exclusiveMinimum", "minimum"),
        ] {
            // A changed bound has been reported above.
            if is_set(new, keyword) && !is_set(old, keyword) && old[bound] == new[bound] {
                let change = format!("no longer allows its {bound} {} itself", new[bound]);
                self.report_validity(path, &change);
            }
        }
    }

    /// Transition rules apply only to updates, so stored objects stay valid.
    fn compare_rules(&mut self, old: &Value, new: &Value, path: &str) {
        let none = Vec::new();
        let before = old[RULES].as_array().unwrap_or(&none);
        for rule in new[RULES].as_array().unwrap_or(&none) {
            let expression = text(&rule["rule"]);
            let is_transition = expression.contains("oldSelf") && !is_set(rule, "optionalOldSelf");
            if !is_transition && !before.iter().any(|known| known["rule"] == rule["rule"]) {
                self.report_validity(path, &format!("has the rule `{expression}` from now on"));
            }
        }
    }

    /// The type of a list decides about the ownership of its items, and a field that is not stored
    /// has the default of the current definition.
    fn compare_meaning(&mut self, old: &Value, new: &Value, path: &str) {
        let list_type = |schema: &Value| schema[LIST_TYPE].as_str().unwrap_or("atomic").to_owned();
        let is_list = old["type"] == "array" && new["type"] == "array";
        let (before, after) = (list_type(old), list_type(new));
        if is_list && before != after {
            let change = format!(
                "is a list of the type {after} where it was {before}: the ownership of its items \
                 changes"
            );
            self.report_meaning(path, &change);
        } else if is_list && old[LIST_KEYS] != new[LIST_KEYS] {
            let change = format!(
                "has the keys {} where it had {}: the identity of its items changes",
                new[LIST_KEYS], old[LIST_KEYS]
            );
            self.report_meaning(path, &change);
        }
        if !old["default"].is_null() && old["default"] != new["default"] {
            let current = match &new["default"] {
                Value::Null => "no default".to_owned(),
                default => format!("the default {default}"),
            };
            let change = format!(
                "has {current} where it was {}: objects without a value there change",
                old["default"]
            );
            self.report_meaning(path, &change);
        }
    }

    /// Compares whether unknown fields are preserved.
    fn compare_unknown_fields(&mut self, old: &Value, new: &Value, path: &str) {
        let keeps_unknown = is_set(new, PRESERVE) || has_further_keys(new);
        if keeps_unknown {
            return;
        }
        if is_set(old, PRESERVE) {
            self.report_validity(
                path,
                "no longer preserves unknown fields: their values in objects would be dropped",
            );
        } else if has_further_keys(old) {
            self.report_validity(
                path,
                "no longer allows arbitrary keys: their values in objects would be dropped",
            );
        }
    }

    fn report_validity(&mut self, path: &str, change: &str) {
        self.report(Hazard::Validity, path, change);
    }

    fn report_meaning(&mut self, path: &str, change: &str) {
        self.report(Hazard::Meaning, path, change);
    }

    fn report(&mut self, hazard: Hazard, path: &str, change: &str) {
        let shown_path = if path.is_empty() { "." } else { path };
        let message = format!("{shown_path} {change}");
        self.changes
            .push(UnsafeChange::of_schema(hazard, self.version, message));
    }
}

const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const INT_OR_STRING: &str = "x-kubernetes-int-or-string";
const RULES: &str = "x-kubernetes-validations";
const LIST_TYPE: &str = "x-kubernetes-list-type";
const LIST_KEYS: &str = "x-kubernetes-list-map-keys";

/// The bounds of a schema, and whether each is an upper one.
const BOUNDS: [(&str, bool); 8] = [
    ("maximum", true),
    ("maxLength", true),
    ("maxItems", true),
    ("maxProperties", true),
    ("minimum", false),
    ("minLength", false),
    ("minItems", false),
    ("minProperties", false),
];

fn is_set(schema: &Value, keyword: &str) -> bool {
    schema[keyword] == true
}

fn has_further_keys(schema: &Value) -> bool {
    schema["additionalProperties"].is_object() || is_set(schema, "additionalProperties")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::SchemaComparison;
    use crate::Hazard;

    /// The hazards and messages for a field whose schema changes.
    fn reported(old: Value, new: Value) -> Vec<(Hazard, String)> {
        let mut changes = Vec::new();
        SchemaComparison::new("v1", &mut changes).compare(&old, &new, ".x".to_owned());
        changes
            .iter()
            .map(|change| (change.hazard, change.to_string()))
            .collect()
    }

    #[test]
    fn change_of_validity_and_change_of_meaning_are_distinguished() {
        let rule = |rule: &str| json!([{"rule": rule}]);
        let list = |kind: &str, keys: Value| {
            json!({"type": "array", "x-kubernetes-list-type": kind,
                "x-kubernetes-list-map-keys": keys})
        };
        for (old, new, hazard, message) in [
            (
                json!({}),
                json!({"x-kubernetes-validations": rule("self > 1")}),
                Hazard::Validity,
                "v1: .x has the rule `self > 1` from now on",
            ),
            (
                json!({"nullable": true}),
                json!({}),
                Hazard::Validity,
                "v1: .x no longer allows null",
            ),
            (
                json!({"x-kubernetes-preserve-unknown-fields": true}),
                json!({}),
                Hazard::Validity,
                "v1: .x no longer preserves unknown fields: their values in objects would be \
                 dropped",
            ),
            (
                json!({"additionalProperties": {"type": "string"}}),
                json!({"properties": {}}),
                Hazard::Validity,
                "v1: .x no longer allows arbitrary keys: their values in objects would be dropped",
            ),
            (
                json!({"maximum": 5}),
                json!({"maximum": 5, "exclusiveMaximum": true}),
                Hazard::Validity,
                "v1: .x no longer allows its maximum 5 itself",
            ),
            (
                json!({"x-kubernetes-int-or-string": true}),
                json!({"type": "string"}),
                Hazard::Validity,
                "v1: .x no longer allows both integers and strings",
            ),
            (
                json!({}),
                json!({"oneOf": [{"required": ["a"]}]}),
                Hazard::Validity,
                "v1: .x has another oneOf from now on",
            ),
            (
                json!({"default": 1}),
                json!({"default": 2}),
                Hazard::Meaning,
                "v1: .x has the default 2 where it was 1: objects without a value there change",
            ),
            (
                json!({"type": "array"}),
                list("set", Value::Null),
                Hazard::Meaning,
                "v1: .x is a list of the type set where it was atomic: the ownership of its items \
                 changes",
            ),
            (
                list("map", json!(["a"])),
                list("map", json!(["b"])),
                Hazard::Meaning,
                "v1: .x has the keys [\"b\"] where it had [\"a\"]: the identity of its items changes",
            ),
        ] {
            assert_eq!(reported(old, new), [(hazard, message.to_owned())]);
        }
    }

    #[test]
    fn change_without_effect_on_stored_objects_is_not_reported() {
        let changes_only = json!([{"rule": "self == oldSelf"}]);
        for (old, new) in [
            (json!({}), json!({"x-kubernetes-validations": changes_only})),
            (json!({}), json!({"nullable": true})),
            (
                json!({"properties": {"a": {}}}),
                json!({"x-kubernetes-preserve-unknown-fields": true}),
            ),
            (
                json!({"maximum": 5, "exclusiveMaximum": true}),
                json!({"maximum": 5}),
            ),
            (
                json!({"type": "array"}),
                json!({"type": "array", "x-kubernetes-list-type": "atomic"}),
            ),
        ] {
            assert_eq!(reported(old.clone(), new.clone()), [], "{old} to {new}");
        }
    }
}
