//! The `scale` subresource of custom resources.

use kubewright_wire::json::decoded_go_type;
use kubewright_wire::status::Cause;
use serde_json::{Value, json};

/// Where the values of the scale of a custom resource are, as JSON pointers.
#[derive(Clone, Debug)]
pub struct ScalePaths {
    /// The path of the replicas in the spec as the definition writes it.
    pub declared: String,
    /// The replicas in the spec.
    pub wanted: String,
    /// The replicas in the status.
    pub present: String,
    /// The selector in the status.
    pub selector: Option<String>,
}

impl ScalePaths {
    /// The paths of the `scale` of a version; `None` when one of them is missing.
    pub fn new(scale: &Value) -> Option<Self> {
        let pointer = |name: &str| Some(scale[name].as_str()?.replace('.', "/"));
        Some(Self {
            declared: scale["specReplicasPath"].as_str()?.to_owned(),
            wanted: pointer("specReplicasPath")?,
            present: pointer("statusReplicasPath")?,
            selector: pointer("labelSelectorPath").filter(|path| !path.is_empty()),
        })
    }

    /// The errors of the replicas in the spec (`ValidateScaleSpec` of
    /// k8s.io/apiextensions-apiserver).
    pub fn spec_problems(&self, value: &Value) -> Vec<Cause> {
        replicas_error(&self.wanted, value).into_iter().collect()
    }

    /// The errors of the replicas and the selector in the status (`ValidateScaleStatus`).
    pub fn status_problems(&self, value: &Value) -> Vec<Cause> {
        let selector = self.selector.as_ref().and_then(|pointer| {
            let detail = match nested(value, pointer) {
                Ok(None | Some(Value::String(_))) => return None,
                Ok(Some(other)) => mistyped(pointer, other, "string"),
                Err(detail) => detail,
            };
            Some(Cause::invalid(&dotted(pointer), &json!(""), &detail))
        });
        let amount = replicas_error(&self.present, value);
        amount.into_iter().chain(selector).collect()
    }
}

fn replicas_error(pointer: &str, value: &Value) -> Option<Cause> {
    let (shown, detail) = match nested(value, pointer) {
        Ok(None) => return None,
        Ok(Some(found)) => match found.as_i64() {
            None => (0, mistyped(pointer, found, "int64")),
            Some(number) if number < 0 => (number, "should be a non-negative integer".to_owned()),
            Some(number) if number > i64::from(i32::MAX) => {
                let detail = format!("should be less than or equal to {}", i32::MAX);
                (number, detail)
            }
            Some(_) => return None,
        },
        Err(detail) => (0, detail),
    };
    Some(Cause::invalid(&dotted(pointer), &json!(shown), &detail))
}

/// The value at a path through objects (`NestedFieldNoCopy` of k8s.io/apimachinery).
fn nested<'v>(value: &'v Value, pointer: &str) -> Result<Option<&'v Value>, String> {
    let mut found = value;
    let mut path = String::new();
    for name in pointer.split('/').skip(1) {
        path = format!("{path}/{name}");
        found = match found {
            Value::Null => return Ok(None),
            Value::Object(members) => match members.get(name) {
                Some(member) => member,
                None => return Ok(None),
            },
            other => return Err(mistyped(&path, other, "map[string]interface{}")),
        };
    }
    Ok(Some(found))
}

fn dotted(pointer: &str) -> String {
    pointer.replace('/', ".")
}

fn mistyped(pointer: &str, found: &Value, wanted: &str) -> String {
    let text = match found {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    format!(
        "{} accessor error: {text} is of the type {}, expected {wanted}",
        dotted(pointer),
        decoded_go_type(found)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ScalePaths;

    fn errors(value: &Value) -> Vec<String> {
        let scale = json!({"specReplicasPath": ".spec.n",
            "statusReplicasPath": ".status.n", "labelSelectorPath": ".status.selector"});
        let paths = ScalePaths::new(&scale).unwrap();
        let spec = paths.spec_problems(value).into_iter();
        let causes = spec.chain(paths.status_problems(value));
        causes.map(|cause| cause.with_field()).collect()
    }

    #[test]
    fn replicas_are_integers_and_the_selector_is_a_string() {
        assert_eq!(
            errors(&json!({"spec": {"n": 2}, "status": {"selector": "a=b"}})),
            Vec::<String>::new()
        );
        assert_eq!(
            errors(&json!({"spec": {"n": -1}, "status": {"n": 3_000_000_000_i64, "selector": 5}})),
            [
                ".spec.n: Invalid value: -1: should be a non-negative integer",
                ".status.n: Invalid value: 3000000000: should be less than or equal to 2147483647",
                ".status.selector: Invalid value: \"\": .status.selector accessor error: 5 is of \
                 the type int64, expected string",
            ]
        );
    }

    #[test]
    fn parents_of_the_values_are_objects() {
        assert_eq!(
            errors(&json!({"spec": {"n": "x"}, "status": "over"})),
            [
                ".spec.n: Invalid value: 0: .spec.n accessor error: x is of the type string, \
                 expected int64",
                ".status.n: Invalid value: 0: .status.n accessor error: over is of the type \
                 string, expected map[string]interface{}",
                ".status.selector: Invalid value: \"\": .status.selector accessor error: over is \
                 of the type string, expected map[string]interface{}",
            ]
        );
    }
}
