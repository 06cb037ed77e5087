use serde_json::{Map, Value};

use super::crd_change::{Hazard, UnsafeChange, text};

/// Two schemas of one version, side by side.
pub(super) struct Walk<'a> {
    version: &'a str,
    changes: &'a mut Vec<UnsafeChange>,
}

impl<'a> Walk<'a> {
    /// For a version, adding to what is known.
    pub(super) fn new(version: &'a str, changes: &'a mut Vec<UnsafeChange>) -> Self {
        Self { version, changes }
    }

    /// Compares the schemas at a path, and those within them.
    pub(super) fn compare(&mut self, old: &Value, new: &Value, path: String) {
        if old["type"] != new["type"] && !old["type"].is_null() && !new["type"].is_null() {
            let change = format!(
                "becomes {} where it was {}",
                text(&new["type"]),
                text(&old["type"])
            );
            return self.breaks(&path, &change);
        }
        self.compare_required(old, new, &path);
        self.compare_values(old, new, &path);
        self.compare_bounds(old, new, &path);
        self.compare_rules(old, new, &path);
        self.compare_meaning(old, new, &path);
        self.compare_openness(old, new, &path);
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
                Some(present) => self.compare(former, present, inner),
                None if keeps_unknown => {}
                None => self.breaks(&inner, "goes: what objects say there would be dropped"),
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
                self.breaks(&inner, "becomes required and has no default");
            }
        }
    }

    fn compare_values(&mut self, old: &Value, new: &Value, path: &str) {
        if let Some(allowed) = new["enum"].as_array() {
            let former = old["enum"].as_array();
            let gone = former.map(|former| former.iter().find(|one| !allowed.contains(one)));
            match gone {
                None => self.breaks(path, "allows only listed values from now on"),
                Some(Some(gone)) => self.breaks(path, &format!("no longer allows {gone}")),
                Some(None) => {}
            }
        }
        if is_set(old, "nullable") && !is_set(new, "nullable") {
            self.breaks(path, "no longer allows null");
        }
        if is_set(old, INT_OR_STRING) && !is_set(new, INT_OR_STRING) {
            self.breaks(path, "no longer takes both numbers and text");
        }
        if new["pattern"].is_string() && old["pattern"] != new["pattern"] {
            self.breaks(
                path,
                &format!("has to match {} from now on", new["pattern"]),
            );
        }
        for keyword in ["multipleOf", "format"] {
            if !new[keyword].is_null() && old[keyword] != new[keyword] {
                let change = format!("has the {keyword} {} from now on", new[keyword]);
                self.breaks(path, &change);
            }
        }
        for keyword in ["allOf", "anyOf", "oneOf", "not"] {
            if !new[keyword].is_null() && old[keyword] != new[keyword] {
                self.breaks(path, &format!("has another {keyword} from now on"));
            }
        }
    }

    fn compare_bounds(&mut self, old: &Value, new: &Value, path: &str) {
        for (keyword, upper) in BOUNDS {
            let (before, after) = (old[keyword].as_f64(), new[keyword].as_f64());
            let narrower = match (before, after) {
                (_, None) => false,
                (None, Some(after)) => upper || after > 0.0 || keyword == "minimum",
                (Some(before), Some(after)) if upper => after < before,
                (Some(before), Some(after)) => after > before,
            };
            if narrower {
                let change = format!("has the {keyword} {} from now on", new[keyword]);
                self.breaks(path, &change);
            }
        }
        for (keyword, bound) in [
            ("exclusiveMaximum", "maximum"),
            ("exclusiveMinimum", "minimum"),
        ] {
            // Another bound has been told already.
            if is_set(new, keyword) && !is_set(old, keyword) && old[bound] == new[bound] {
                let change = format!("no longer allows its {bound} {} itself", new[bound]);
                self.breaks(path, &change);
            }
        }
    }

    /// Rules that only judge changes leave what is stored as it is.
    fn compare_rules(&mut self, old: &Value, new: &Value, path: &str) {
        let none = Vec::new();
        let rules = |schema: &'_ Value| schema[RULES].as_array().cloned();
        let before = rules(old).unwrap_or_default();
        for rule in new[RULES].as_array().unwrap_or(&none) {
            let expression = text(&rule["rule"]);
            let is_of_changes = expression.contains("oldSelf") && !is_set(rule, "optionalOldSelf");
            if !is_of_changes && !before.iter().any(|one| one["rule"] == rule["rule"]) {
                self.breaks(path, &format!("has the rule `{expression}` from now on"));
            }
        }
    }

    /// Who owns an item of a list follows from the list's type, and a default that is not stored
    /// is what the definition says at the moment.
    fn compare_meaning(&mut self, old: &Value, new: &Value, path: &str) {
        let list_type = |schema: &Value| schema[LIST_TYPE].as_str().unwrap_or("atomic").to_owned();
        let is_list = old["type"] == "array" && new["type"] == "array";
        let (before, after) = (list_type(old), list_type(new));
        if is_list && before != after {
            let change = format!(
                "is a list of the type {after} where it was {before}: who owns its items changes"
            );
            self.means(path, &change);
        } else if is_list && old[LIST_KEYS] != new[LIST_KEYS] {
            let change = format!(
                "has the keys {} where it had {}: which items are the same changes",
                new[LIST_KEYS], old[LIST_KEYS]
            );
            self.means(path, &change);
        }
        if !old["default"].is_null() && old["default"] != new["default"] {
            let present = match &new["default"] {
                Value::Null => "no default".to_owned(),
                default => format!("the default {default}"),
            };
            let change = format!(
                "has {present} where it was {}: objects that say nothing there change",
                old["default"]
            );
            self.means(path, &change);
        }
    }

    /// Whether what no property names is kept.
    fn compare_openness(&mut self, old: &Value, new: &Value, path: &str) {
        let keeps_unknown = is_set(new, PRESERVE) || has_further_keys(new);
        if keeps_unknown {
            return;
        }
        if is_set(old, PRESERVE) {
            self.breaks(
                path,
                "no longer keeps unknown fields: what objects say there would be dropped",
            );
        } else if has_further_keys(old) {
            self.breaks(
                path,
                "no longer takes keys of any name: what objects say there would be dropped",
            );
        }
    }

    fn breaks(&mut self, path: &str, change: &str) {
        self.say(Hazard::Validity, path, change);
    }

    fn means(&mut self, path: &str, change: &str) {
        self.say(Hazard::Meaning, path, change);
    }

    fn say(&mut self, hazard: Hazard, path: &str, change: &str) {
        let path = if path.is_empty() { "." } else { path };
        let change = format!("{path} {change}");
        self.changes
            .push(UnsafeChange::of_schema(hazard, self.version, change));
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

    use super::Walk;
    use crate::Hazard;

    /// What is said of a field whose schema changes, and whether trying objects tells more.
    fn told(old: Value, new: Value) -> Vec<(Hazard, String)> {
        let mut changes = Vec::new();
        Walk::new("v1", &mut changes).compare(&old, &new, ".x".to_owned());
        let changes = changes.iter();
        changes
            .map(|change| (change.hazard, change.to_string()))
            .collect()
    }

    #[test]
    fn what_objects_may_break_is_told_apart_from_what_changes_their_meaning() {
        let rule = |rule: &str| json!([{"rule": rule}]);
        let list = |kind: &str, keys: Value| {
            json!({"type": "array", "x-kubernetes-list-type": kind,
                "x-kubernetes-list-map-keys": keys})
        };
        for (old, new, hazard, said) in [
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
                "v1: .x no longer keeps unknown fields: what objects say there would be dropped",
            ),
            (
                json!({"additionalProperties": {"type": "string"}}),
                json!({"properties": {}}),
                Hazard::Validity,
                "v1: .x no longer takes keys of any name: what objects say there would be dropped",
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
                "v1: .x no longer takes both numbers and text",
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
                "v1: .x has the default 2 where it was 1: objects that say nothing there change",
            ),
            (
                json!({"type": "array"}),
                list("set", Value::Null),
                Hazard::Meaning,
                "v1: .x is a list of the type set where it was atomic: who owns its items changes",
            ),
            (
                list("map", json!(["a"])),
                list("map", json!(["b"])),
                Hazard::Meaning,
                "v1: .x has the keys [\"b\"] where it had [\"a\"]: which items are the same changes",
            ),
        ] {
            assert_eq!(told(old, new), [(hazard, said.to_owned())]);
        }
    }

    #[test]
    fn what_leaves_stored_objects_alone_is_not_told() {
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
            assert_eq!(told(old.clone(), new.clone()), [], "{old} to {new}");
        }
    }
}
