//! Matches a request with a rule of a webhook or policy.

use kubewright_kinds::json::items;
use serde_json::Value;

use crate::admission::attributes::AdmissionAttributes;
use crate::resources::ServedResource;

/// Whether a rule matches a request (`Matcher.Matches` of `predicates/rules`), with the
/// `resourceNames` that only rules of policies have.
pub(super) fn rule_matches(
    rule: &Value,
    served: &ServedResource,
    attributes: &AdmissionAttributes,
) -> bool {
    let has = |field: &str, wanted: &str| {
        items(&rule[field])
            .filter_map(Value::as_str)
            .any(|item| item == "*" || item == wanted)
    };
    let is_namespaced = served.is_namespaced();
    let in_scope = match rule["scope"].as_str() {
        Some("Namespaced") => is_namespaced,
        Some("Cluster") => !is_namespaced,
        _ => true,
    };
    in_scope
        && has("operations", attributes.operation.as_str())
        && has("apiGroups", served.kind().group())
        && has("apiVersions", served.kind().version())
        && names_resource(rule, &served.resource.plural, &attributes.subresource)
        && names_object(rule, &attributes.name)
}

/// `pods` matches the object alone, `pods/*` the object and its subresources, `*/status` one
/// subresource of all resources.
fn names_resource(rule: &Value, plural: &str, subresource: &str) -> bool {
    let mut resources = items(&rule["resources"]).filter_map(Value::as_str);
    resources.any(|item| {
        let (resource, part) = item.split_once('/').unwrap_or((item, ""));
        (resource == "*" || resource == plural) && (part == "*" || part == subresource)
    })
}

/// A rule without names matches all names.
fn names_object(rule: &Value, name: &str) -> bool {
    let names = rule["resourceNames"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    names.is_empty() || names.iter().any(|allowed| allowed == name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{names_object, names_resource};

    #[test]
    fn rule_names_resources_with_or_without_subresources() {
        for (resources, plural, part, wanted) in [
            (json!(["pods"]), "pods", "", true),
            (json!(["pods"]), "pods", "status", false),
            (json!(["pods/*"]), "pods", "", true),
            (json!(["pods/*"]), "pods", "status", true),
            (json!(["*"]), "nodes", "", true),
            (json!(["*"]), "nodes", "status", false),
            (json!(["*/*"]), "nodes", "status", true),
            (json!(["*/status"]), "nodes", "status", true),
            (json!(["*/status"]), "nodes", "", false),
            (json!(["nodes", "pods"]), "pods", "", true),
        ] {
            let rule = json!({"resources": resources});
            assert_eq!(
                names_resource(&rule, plural, part),
                wanted,
                "{rule} {plural}/{part}"
            );
        }
    }

    #[test]
    fn rule_without_names_matches_all_names() {
        assert!(names_object(&json!({}), "a"));
        assert!(names_object(&json!({"resourceNames": []}), ""));
        assert!(names_object(&json!({"resourceNames": ["b", "a"]}), "a"));
        assert!(!names_object(&json!({"resourceNames": ["b"]}), "a"));
    }
}
