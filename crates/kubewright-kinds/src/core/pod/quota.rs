//! What a Pod uses of a quota.

use kubewright_core::Quantity;
use serde_json::Value;

use crate::json::text;
use crate::kind::{QuotaUsage, add_one};
use crate::pod_spec::pod_resources;

/// Adds what a Pod uses. A completed Pod uses nothing but its own count.
pub(super) fn add_usage(pod: &Value, usage: &mut QuotaUsage) {
    if matches!(text(&pod["status"]["phase"]), "Succeeded" | "Failed") {
        return;
    }
    add_one(usage, "pods");
    for list in ["requests", "limits"] {
        let resources = pod_resources(pod, list);
        for (name, amount) in resources.as_object().into_iter().flatten() {
            let Some(amount) = amount.as_str().and_then(Quantity::parse) else {
                continue;
            };
            usage.insert(format!("{list}.{name}"), amount);
            let has_short_name = matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage");
            if list == "requests" && (has_short_name || name.starts_with("hugepages-")) {
                usage.insert(name.clone(), amount);
            }
        }
    }
}
