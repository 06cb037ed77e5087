use serde_json::Value;

use crate::admission::attributes::Attributes;
use crate::resources::ServedResource;

/// `Matcher.Matches` of `predicates/rules`, and the names that rules of policies may have.
pub(super) fn rule_matches(rule: &Value, served: &ServedResource, attributes: &Attributes) -> bool {
    let has = |field: &str, wanted: &str| {
        let items = rule[field].as_array().into_iter().flatten();
        let mut items = items.filter_map(Value::as_str);
        items.any(|item| item == "*" || item == wanted)
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

/// `pods` is the object alone, `pods/*` the object and its parts, `*/status` one part of all.
fn names_resource(rule: &Value, plural: &str, subresource: &str) -> bool {
    let resources = rule["resources"].as_array().into_iter().flatten();
    resources.filter_map(Value::as_str).any(|item| {
        let (resource, part) = item.split_once('/').unwrap_or((item, ""));
        (resource == "*" || resource == plural) && (part == "*" || part == subresource)
    })
}

/// No names are all names.
fn names_object(rule: &Value, name: &str) -> bool {
    let names = rule["resourceNames"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    names.is_empty() || names.iter().any(|one| one == name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{names_object, names_resource};

    #[test]
    fn a_resource_is_named_with_or_without_its_parts() {
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
    fn a_rule_without_names_is_for_all() {
        assert!(names_object(&json!({}), "a"));
        assert!(names_object(&json!({"resourceNames": []}), ""));
        assert!(names_object(&json!({"resourceNames": ["b", "a"]}), "a"));
        assert!(!names_object(&json!({"resourceNames": ["b"]}), "a"));
    }
}
