//! HorizontalPodAutoscaler: scales a workload by its metrics.

use serde_json::{Map, Value, json};

use crate::groups;
use crate::json::{object_mut, set_absent};
use crate::kind::{BuiltinKind, ControllerSupport};

/// Scales a workload by its metrics.
pub static HORIZONTAL_POD_AUTOSCALER: BuiltinKind = BuiltinKind {
    unconverted_versions: &["v1"],
    controller: ControllerSupport::Missing,
    defaults: apply_defaults,
    ..BuiltinKind::new(
        groups::AUTOSCALING,
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
    )
};

/// The default that the conversion of v1 to v2 and back sets.
fn apply_defaults(object: &mut Map<String, Value>) {
    if object.get("apiVersion") != Some(&json!("autoscaling/v1")) {
        return;
    }
    if let Some(spec) = object_mut(object, "spec") {
        set_absent(spec, "targetCPUUtilizationPercentage", json!(80));
    }
}
