//! What objects use of a quota.

use serde_json::Value;

use crate::kind::{QuotaUsage, add_one};
use crate::registry::lookup_resource;

/// What an object of a namespaced resource (`deployments.apps`) uses (`pkg/quota/v1/evaluator` of
/// k8s.io/kubernetes). A custom resource uses nothing but its own count.
pub fn quota_usage(resource: &str, object: &Value) -> QuotaUsage {
    let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
    if let Some(kind) = lookup_resource(group, plural) {
        return kind.quota_usage(object);
    }
    let mut usage = QuotaUsage::new();
    add_one(&mut usage, &format!("count/{resource}"));
    usage
}
