//! Deployment: replicated Pods with rolling updates.

use kubewright_wire::status::{Cause, CauseKind};
use serde_json::{Map, Value, json};

use crate::columns::{AGE, Cell, Column, NAME, Row};
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::groups;
use crate::int_or_percent::{exceeds_100_percent, int_or_percent, validate_int_or_percent};
use crate::kind::{BuiltinKind, Generation, KeptMetadata, StatusStrategy, Validation};
use crate::pod_spec::warn_template;
use crate::warning_list::Warnings;
use crate::workload::{
    CONTAINERS, IMAGES, READY_OF_DESIRED, default_rolling_update, generation_changed,
    validate_at_most_replicas, validate_ready_and_available, validate_selector_and_template,
    warn_pod_names,
};

/// Replicated Pods with rolling updates.
pub static DEPLOYMENT: BuiltinKind = BuiltinKind {
    generation: Generation::ContentAndAnnotations,
    pod_spec: Some(&["spec", "template", "spec"]),
    declared_columns: COLUMNS,
    defaults: apply_defaults,
    status: StatusStrategy {
        reset_fields: &[&["metadata", "labels"]],
        kept_metadata: KeptMetadata::Fields(&["labels"]),
        validate: validate_status,
        ..StatusStrategy::DEFAULT
    },
    validation: Validation::Rules(validate),
    warnings: warn,
    ..BuiltinKind::new(groups::APPS, "Deployment", "deployments")
};

const COLUMNS: &[Column] = &[
    NAME,
    READY_OF_DESIRED,
    Column::text("Up-to-date", Cell::Number("/status/updatedReplicas")),
    Column::text("Available", Cell::Number("/status/availableReplicas")),
    AGE,
    CONTAINERS,
    IMAGES,
    Column::text("Selector", Cell::Computed(deployment_selector)).wide(),
];

/// Unlike other kinds, a Deployment shows an empty selector as an empty cell.
fn deployment_selector(row: &Row<'_>) -> Value {
    match row.selector("/spec/selector") {
        none if none == "<none>" => json!(""),
        selector => json!(selector),
    }
}

/// `SetDefaults_Deployment`.
fn apply_defaults(object: &mut Map<String, Value>) {
    default_rolling_update(
        object,
        "strategy",
        &[("maxUnavailable", json!("25%")), ("maxSurge", json!("25%"))],
    );
}

/// `ValidateDeployment`, `ValidateDeploymentUpdate`.
fn validate(object: &Value, old: Option<&Value>, errors: &mut ErrorList) {
    let spec = FieldPath::new(object, "spec");
    errors.non_negative(spec.field("replicas"));
    validate_selector_and_template(spec, errors);
    strategy(spec.field("strategy"), errors);
    errors.non_negative(spec.field("minReadySeconds"));
    errors.non_negative(spec.field("revisionHistoryLimit"));
    let deadline = spec.field("progressDeadlineSeconds");
    errors.non_negative(deadline);
    let ready = spec.field("minReadySeconds").number().unwrap_or(0);
    if deadline.number().is_some_and(|deadline| deadline <= ready) {
        errors.invalid(deadline, "must be greater than minReadySeconds");
    }
    if let Some(old) = old {
        errors.immutable(spec.field("selector"), &old["spec"]["selector"]);
    }
}

/// `ValidateDeploymentStrategy`.
fn strategy(at: FieldPath<'_>, errors: &mut ErrorList) {
    let update = at.field("rollingUpdate");
    match at.text_of("type") {
        "Recreate" if update.is_set() => {
            let detail = "may not be specified when strategy `type` is 'Recreate'";
            errors.forbidden(update, detail);
        }
        "Recreate" => {}
        "RollingUpdate" => rolling_update(update, errors),
        _ => {
            let known = ["Recreate", "RollingUpdate"];
            let names: Vec<String> = known.iter().map(|name| format!("{name:?}")).collect();
            let kind = CauseKind::FieldValueNotSupported;
            let shown = json!({"Type": at.text_of("type"), "RollingUpdate": update.value()});
            let detail = format!("supported values: {}", names.join(", "));
            errors.add(Cause::new(kind, &at.path(), Some(&shown), &detail));
        }
    }
}

/// `ValidateRollingUpdateDeployment`.
fn rolling_update(at: FieldPath<'_>, errors: &mut ErrorList) {
    let (unavailable, surge) = (at.field("maxUnavailable"), at.field("maxSurge"));
    validate_int_or_percent(unavailable, errors);
    validate_int_or_percent(surge, errors);
    if int_or_percent(unavailable) == 0 && int_or_percent(surge) == 0 {
        errors.invalid(unavailable, "may not be 0 when `maxSurge` is 0");
    }
    if exceeds_100_percent(unavailable) {
        errors.invalid(unavailable, "must not be greater than 100%");
    }
}

/// `ValidateDeploymentStatusUpdate`.
fn validate_status(object: &Value, old: &Value, errors: &mut ErrorList) {
    let status = FieldPath::new(object, "status");
    for name in [
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ] {
        errors.non_negative(status.field(name));
    }
    validate_at_most_replicas(status, "updatedReplicas", errors);
    validate_ready_and_available(status, errors);
    let collisions = status.field("collisionCount");
    let before = old["status"]["collisionCount"].as_i64();
    if before.is_some_and(|before| collisions.number().is_none_or(|now| now < before)) {
        let shown = json!(collisions.number().unwrap_or(0));
        errors.invalid_value(collisions, &shown, "cannot be decremented");
    }
}

/// Warns about a Deployment or a ReplicaSet.
pub(super) fn warn(object: &Value, old: Option<&Value>, warnings: &mut Warnings) {
    let spec = FieldPath::new(object, "spec");
    match old {
        None => warn_pod_names(object, warnings),
        Some(old) if !generation_changed(object, old) => return,
        Some(_) => {}
    }
    warn_template(spec.field("template"), warnings);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{DEPLOYMENT, KeptMetadata};

    #[test]
    fn recreate_strategy_gets_no_rolling_update() {
        let mut object = json!({"spec": {"strategy": {"type": "Recreate"}}});
        DEPLOYMENT.apply_defaults("v1", &mut object);
        assert_eq!(object["spec"]["strategy"], json!({"type": "Recreate"}));
    }

    #[test]
    fn template_gets_the_defaults_of_pods() {
        let mut object = json!({"spec": {"template": {"spec": {
            "containers": [{"name": "a", "image": "b", "resources": {}}],
        }}}});
        DEPLOYMENT.apply_defaults("v1", &mut object);
        let spec = &object["spec"]["template"]["spec"];
        assert_eq!(spec["containers"][0]["imagePullPolicy"], "Always");
        assert_eq!(spec["restartPolicy"], "Always");
        assert_eq!(object["spec"]["replicas"], 1);
        assert_eq!(
            object["spec"]["strategy"]["rollingUpdate"]["maxSurge"],
            "25%"
        );
        assert!(spec.get("enableServiceLinks").is_none());
    }

    #[test]
    fn ready_and_available_replicas_are_at_most_all_replicas() {
        let status = json!({"status": {"replicas": 1, "readyReplicas": 2, "availableReplicas": 3}});
        assert_eq!(
            DEPLOYMENT.status_errors(&status, &json!({})),
            [
                "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
                "status.availableReplicas: Invalid value: 3: cannot be greater than \
                 status.replicas",
                "status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas",
            ]
        );
    }

    #[test]
    fn counts_are_not_negative_and_collisions_do_not_decrease() {
        let old = json!({"status": {"collisionCount": 2}});
        let new = json!({"status": {"replicas": -1}});
        assert_eq!(
            DEPLOYMENT.status_errors(&new, &old),
            [
                "status.replicas: Invalid value: -1: must be greater than or equal to 0",
                "status.updatedReplicas: Invalid value: 0: cannot be greater than status.replicas",
                "status.readyReplicas: Invalid value: 0: cannot be greater than status.replicas",
                "status.availableReplicas: Invalid value: 0: cannot be greater than \
                 status.replicas",
                "status.collisionCount: Invalid value: 0: cannot be decremented",
            ]
        );
    }

    #[test]
    fn status_write_changes_annotations_but_not_labels() {
        let old = json!({"metadata": {"labels": {"a": "1"}, "annotations": {"b": "1"}}});
        let mut new = json!({"metadata": {"labels": {"a": "2"}, "annotations": {"b": "3"}}});
        DEPLOYMENT.prepare_status_update(&old, new.as_object_mut().unwrap());
        assert_eq!(
            new,
            json!({"metadata": {"labels": {"a": "1"}, "annotations": {"b": "3"}}})
        );
        assert_ne!(DEPLOYMENT.status.kept_metadata, KeptMetadata::All);
    }
}
