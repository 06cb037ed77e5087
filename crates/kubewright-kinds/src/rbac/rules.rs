//! The rules of roles.

use serde_json::Value;

use crate::error_list::ErrorList;
use crate::field_path::FieldPath;

/// Where a role or binding applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Namespace,
    Cluster,
}

pub(super) fn validate_rules(object: &Value, reach: Reach, errors: &mut ErrorList) {
    for rule in FieldPath::new(object, "rules").items() {
        if rule.field("verbs").is_empty() {
            let detail = "verbs must contain at least one value";
            errors.required(rule.field("verbs"), detail);
        }
        let has = |field: &str| !rule.field(field).is_empty();
        let urls = rule.field("nonResourceURLs");
        if !urls.is_empty() {
            if reach == Reach::Namespace {
                errors.invalid(urls, "namespaced rules cannot apply to non-resource URLs");
            }
            if has("apiGroups") || has("resources") || has("resourceNames") {
                let detail = "rules cannot apply to both regular resources and non-resource URLs";
                errors.invalid(urls, detail);
            }
            continue;
        }
        if !has("apiGroups") {
            let detail = "resource rules must supply at least one api group";
            errors.required(rule.field("apiGroups"), detail);
        }
        if !has("resources") {
            let detail = "resource rules must supply at least one resource";
            errors.required(rule.field("resources"), detail);
        }
    }
}
