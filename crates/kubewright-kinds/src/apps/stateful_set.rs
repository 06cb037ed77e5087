//! StatefulSet: Pods with stable names and storage.

use kubewright_core::NameRule;
use serde_json::{Map, Value, json};

use crate::claim_spec::{round_claim, warn_claim_spec};
use crate::columns::{AGE, Column, NAME};
use crate::field_path::FieldPath;
use crate::groups;
use crate::json::{object_mut, objects_mut, set_absent};
use crate::kind::{BuiltinKind, ControllerSupport, Generation};
use crate::pod_spec::warn_template;
use crate::warning_list::Warnings;
use crate::workload::{CONTAINERS, IMAGES, READY_OF_DESIRED, generation_changed};

/// Pods with stable names and storage.
pub static STATEFUL_SET: BuiltinKind = BuiltinKind {
    names: NameRule::Label,
    generation: Generation::Content,
    pod_spec: Some(&["spec", "template", "spec"]),
    declared_columns: COLUMNS,
    controller: ControllerSupport::Missing,
    defaults: apply_defaults,
    convert: set_claim_types,
    warnings: warn,
    ..BuiltinKind::new(groups::APPS, "StatefulSet", "statefulsets")
};

const COLUMNS: &[Column] = &[NAME, READY_OF_DESIRED, AGE, CONTAINERS, IMAGES];

/// `SetDefaults_StatefulSet`.
fn apply_defaults(object: &mut Map<String, Value>) {
    let Some(spec) = object_mut(object, "spec") else {
        return;
    };
    let strategy = spec.entry("updateStrategy").or_insert_with(|| json!({}));
    if let Some(strategy) = strategy.as_object_mut() {
        if !strategy.contains_key("type") {
            strategy.insert("type".to_owned(), json!("RollingUpdate"));
            set_absent(strategy, "rollingUpdate", json!({}));
        }
        let is_rolling = strategy.get("type") == Some(&json!("RollingUpdate"));
        if let Some(update) = object_mut(strategy, "rollingUpdate").filter(|_| is_rolling) {
            set_absent(update, "partition", json!(0));
        }
    }
    for claim in objects_mut(spec.get_mut("volumeClaimTemplates")) {
        round_claim(claim);
    }
}

/// `Convert_apps_StatefulSetSpec_To_v1_StatefulSetSpec`.
fn set_claim_types(object: &mut Map<String, Value>) {
    let templates =
        object_mut(object, "spec").and_then(|spec| spec.get_mut("volumeClaimTemplates"));
    for claim in objects_mut(templates) {
        claim.insert("apiVersion".to_owned(), json!("v1"));
        claim.insert("kind".to_owned(), json!("PersistentVolumeClaim"));
    }
}

fn warn(object: &Value, old: Option<&Value>, warnings: &mut Warnings) {
    let spec = FieldPath::new(object, "spec");
    if old.is_none_or(|old| generation_changed(object, old)) {
        warn_template(spec.field("template"), warnings);
    }
    for claim in spec.field("volumeClaimTemplates").items() {
        let own = claim.field("spec");
        // Kubernetes reports the spec of a claim at a wrong path, which differs on update.
        match old {
            None => warn_claim_spec(claim.with(own.value()), warnings),
            Some(_) => warn_claim_spec(claim.field("Spec").with(own.value()), warnings),
        }
    }
    let history = spec.field("revisionHistoryLimit");
    if history.number().is_some_and(|limit| limit < 0) {
        let detail =
            "a negative value retains all historical revisions; a value >= 0 is recommended";
        warnings.add_at(history, detail);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::STATEFUL_SET;

    #[test]
    fn fractional_claims_and_negative_history_are_warned_about() {
        let set = json!({"metadata": {"name": "a"}, "spec": {
            "revisionHistoryLimit": -1,
            "volumeClaimTemplates": [
                {"spec": {"resources": {"requests": {"storage": "500m"}}}},
            ],
        }});
        let history = "spec.revisionHistoryLimit: a negative value retains all historical \
             revisions; a value >= 0 is recommended"
            .to_owned();
        let claim = |path: &str| {
            format!(
                "spec.volumeClaimTemplates[0]{path}.resources.requests[storage]: fractional byte \
                 value \"500m\" is invalid, must be an integer"
            )
        };
        assert_eq!(
            STATEFUL_SET.warnings(&set, None),
            [claim(""), history.clone()]
        );
        assert_eq!(
            STATEFUL_SET.warnings(&set, Some(&set)),
            [claim(".Spec"), history]
        );
    }

    #[test]
    fn missing_validation_and_controller_are_noticed() {
        assert_eq!(
            STATEFUL_SET.notices(),
            [
                "kubewright: validation of StatefulSet is not implemented yet",
                "kubewright: nothing acts on StatefulSet yet: its controller is not implemented",
            ]
        );
    }
}
