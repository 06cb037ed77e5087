use serde_json::Value;

/// Fields that are maps, not objects: their keys are the user's.
const MAPS: [&str; 2] = [".resources.limits", ".resources.requests"];

/// A text in CEL, which knows the escapes of JSON.
pub(super) fn text(text: &str) -> String {
    Value::from(text).to_string()
}

/// A value in CEL. Lists and maps have to be of one type there; an object is of the type that is
/// named after its place, such as `Object.spec.containers` (k8s.io/apiserver/pkg/cel/mutation).
pub(super) fn value(of: &Value, place: &str) -> String {
    match of {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => of.to_string(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| value(item, place)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) if MAPS.iter().any(|map| place.ends_with(map)) => {
            let fields = fields.iter();
            let fields: Vec<_> = fields
                .map(|(key, field)| format!("{}: {}", text(key), value(field, place)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields: Vec<_> = fields
                .map(|(key, field)| format!("{key}: {}", value(field, &format!("{place}.{key}"))))
                .collect();
            format!("{place}{{{}}}", fields.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::value;

    #[test]
    fn an_object_is_of_the_type_of_its_place_and_a_map_is_a_map() {
        let container = json!({
            "args": ["-a", "say \"x\"\n"],
            "name": "side",
            "ports": [{"containerPort": 80}],
            "resources": {"limits": {"cpu": "1", "example.com/gpu": "2"}},
            "securityContext": {},
            "tty": true,
        });
        assert_eq!(
            value(&container, "Object.spec.containers"),
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
