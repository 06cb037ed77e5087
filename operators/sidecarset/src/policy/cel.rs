//! Writes values as literals of CEL.

use serde_json::Value;

/// The fields that are maps with keys of the user, and not objects.
const MAPS: [&str; 2] = [".resources.limits", ".resources.requests"];

/// Writes a string, with the escapes of JSON, which CEL has as well.
pub(super) fn string_literal(text: &str) -> String {
    Value::from(text).to_string()
}

/// Writes a value. An object has the type that is named after its path, such as
/// `Object.spec.containers` (k8s.io/apiserver/pkg/cel/mutation).
pub(super) fn literal(value: &Value, path: &str) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
        Value::Array(items) => {
            let literals: Vec<_> = items.iter().map(|item| literal(item, path)).collect();
            format!("[{}]", literals.join(", "))
        }
        Value::Object(entries) if MAPS.iter().any(|map| path.ends_with(map)) => {
            let literals: Vec<_> = entries
                .iter()
                .map(|(key, entry)| format!("{}: {}", string_literal(key), literal(entry, path)))
                .collect();
            format!("{{{}}}", literals.join(", "))
        }
        Value::Object(fields) => {
            let literals: Vec<_> = fields
                .iter()
                .map(|(key, field)| format!("{key}: {}", literal(field, &format!("{path}.{key}"))))
                .collect();
            format!("{path}{{{}}}", literals.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::literal;

    #[test]
    fn object_literal_has_the_type_of_its_path_and_map_literal_has_none() {
        let container = json!({
            "args": ["-a", "say \"x\"\n"],
            "name": "side",
            "ports": [{"containerPort": 80}],
            "resources": {"limits": {"cpu": "1", "example.com/gpu": "2"}},
            "securityContext": {},
            "tty": true,
        });
        assert_eq!(
            literal(&container, "Object.spec.containers"),
            "Object.spec.containers{\
             args: [\"-a\", \"say \\\"x\\\"\\n\"], \
             name: \"side\", \
             ports: [Object.spec.containers.ports{containerPort: 80}], \
             resources: Object.spec.containers.resources{\
             limits: {\"cpu\": \"1\", \"example.com/gpu\": \"2\"}}, \
             securityContext: Object.spec.containers.securityContext{}, \
             tty: true}"
        );
    }
}
