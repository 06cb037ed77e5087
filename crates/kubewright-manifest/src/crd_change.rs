use serde_json::{Map, Value};

/// Why a definition must not simply take the place of another: what each change would do to
/// objects that are stored already. Nothing when every old object is still valid and whole.
///
/// It is the set that the Operator Lifecycle Manager checks: scope, stored versions, and in the
/// schema of each version fields that go, types that change, and values that are no longer
/// allowed.
pub fn unsafe_changes(old: &Value, new: &Value) -> Vec<String> {
    let mut reasons = Vec::new();
    let (before, after) = (&old["spec"], &new["spec"]);
    if before["scope"] != after["scope"] {
        reasons.push(format!(
            "the scope changes from {} to {}: every object would have to be made again",
            text(&before["scope"]),
            text(&after["scope"])
        ));
    }
    let stored = old["status"]["storedVersions"].as_array();
    for version in stored.into_iter().flatten() {
        if version_of(after, version).is_none() {
            reasons.push(format!(
                "version {} goes, and objects are stored in it: migrate them first",
                text(version)
            ));
        }
    }
    for former in before["versions"].as_array().into_iter().flatten() {
        let name = &former["name"];
        let Some(present) = version_of(after, name) else {
            continue;
        };
        let mut walk = Walk {
            version: text(name).to_owned(),
            reasons: &mut reasons,
        };
        walk.compare(schema(former), schema(present), String::new());
    }
    reasons
}

fn version_of<'a>(spec: &'a Value, name: &Value) -> Option<&'a Value> {
    let versions = spec["versions"].as_array()?;
    versions.iter().find(|version| version["name"] == *name)
}

fn schema(version: &Value) -> &Value {
    &version["schema"]["openAPIV3Schema"]
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("nothing")
}

/// Two schemas of one version, side by side.
struct Walk<'a> {
    version: String,
    reasons: &'a mut Vec<String>,
}

impl Walk<'_> {
    fn compare(&mut self, old: &Value, new: &Value, path: String) {
        if old["type"] != new["type"] && !old["type"].is_null() && !new["type"].is_null() {
            let change = format!(
                "becomes {} where it was {}",
                text(&new["type"]),
                text(&old["type"])
            );
            return self.say(&path, &change);
        }
        self.compare_required(old, new, &path);
        self.compare_values(old, new, &path);
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
        let keeps_unknown = new["x-kubernetes-preserve-unknown-fields"] == true
            || new["additionalProperties"].is_object();
        for (name, former) in old["properties"].as_object().unwrap_or(&none) {
            let inner = format!("{path}.{name}");
            match after.get(name) {
                Some(present) => self.compare(former, present, inner),
                None if keeps_unknown => {}
                None => self.say(&inner, "goes: what objects say there would be dropped"),
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
                self.say(&inner, "becomes required and has no default");
            }
        }
    }

    fn compare_values(&mut self, old: &Value, new: &Value, path: &str) {
        if let Some(allowed) = new["enum"].as_array() {
            let former = old["enum"].as_array();
            let gone = former.map(|former| former.iter().find(|one| !allowed.contains(one)));
            match gone {
                None => self.say(path, "allows only listed values from now on"),
                Some(Some(gone)) => self.say(path, &format!("no longer allows {gone}")),
                Some(None) => {}
            }
        }
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
                self.say(path, &change);
            }
        }
        if new["pattern"].is_string() && old["pattern"] != new["pattern"] {
            self.say(
                path,
                &format!("has to match {} from now on", new["pattern"]),
            );
        }
    }

    fn say(&mut self, path: &str, change: &str) {
        let path = if path.is_empty() { "." } else { path };
        self.reasons
            .push(format!("{}: {path} {change}", self.version));
    }
}

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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::unsafe_changes;

    fn crd(versions: &[(&str, Value)]) -> Value {
        let versions: Vec<Value> = versions
            .iter()
            .map(|(name, spec)| {
                let schema = json!({"type": "object", "properties": {"spec": spec}});
                json!({"name": name, "schema": {"openAPIV3Schema": schema}})
            })
            .collect();
        json!({"spec": {"scope": "Namespaced", "versions": versions}, "status": {"storedVersions": ["v1"]}})
    }

    fn spec(fields: Value, required: Value) -> Value {
        json!({"type": "object", "properties": fields, "required": required})
    }

    fn changes(old: Value, new: Value) -> Vec<String> {
        unsafe_changes(&crd(&[("v1", old)]), &crd(&[("v1", new)]))
    }

    #[test]
    fn what_only_adds_is_safe() {
        let old = spec(
            json!({"size": {"type": "integer", "maximum": 5}}),
            json!([]),
        );
        let new = spec(
            json!({"size": {"type": "integer", "maximum": 9}, "mode": {"type": "string", "default": "A"}}),
            json!(["mode"]),
        );
        assert_eq!(changes(old, new), Vec::<String>::new());
    }

    #[test]
    fn each_change_that_old_objects_may_break_is_named() {
        let field = |schema: Value| spec(json!({"x": schema}), json!([]));
        let string = || json!({"type": "string"});
        for (old, new, reason) in [
            (
                field(string()),
                field(json!({"type": "integer"})),
                "v1: .spec.x becomes integer where it was string",
            ),
            (
                field(string()),
                spec(json!({}), json!([])),
                "v1: .spec.x goes: what objects say there would be dropped",
            ),
            (
                field(string()),
                spec(json!({"x": string()}), json!(["x"])),
                "v1: .spec.x becomes required and has no default",
            ),
            (
                field(json!({"enum": ["A", "B"]})),
                field(json!({"enum": ["A"]})),
                "v1: .spec.x no longer allows \"B\"",
            ),
            (
                field(string()),
                field(json!({"type": "string", "maxLength": 3})),
                "v1: .spec.x has the maxLength 3 from now on",
            ),
            (
                field(json!({"minimum": 1})),
                field(json!({"minimum": 2})),
                "v1: .spec.x has the minimum 2 from now on",
            ),
            (
                field(string()),
                field(json!({"type": "string", "pattern": "a"})),
                "v1: .spec.x has to match \"a\" from now on",
            ),
            (
                field(json!({"type": "array", "items": string()})),
                field(json!({"type": "array", "items": {"type": "object"}})),
                "v1: .spec.x[] becomes object where it was string",
            ),
        ] {
            assert_eq!(changes(old, new), [reason]);
        }
    }

    #[test]
    fn a_version_that_objects_are_stored_in_stays() {
        let same = || spec(json!({}), json!([]));
        let reasons = unsafe_changes(&crd(&[("v1", same())]), &crd(&[("v2", same())]));
        assert_eq!(
            reasons,
            ["version v1 goes, and objects are stored in it: migrate them first"]
        );
    }

    #[test]
    fn the_scope_stays() {
        let old = crd(&[]);
        let mut new = crd(&[]);
        new["spec"]["scope"] = json!("Cluster");
        assert!(unsafe_changes(&old, &new)[0].starts_with("the scope changes from Namespaced"));
    }
}
