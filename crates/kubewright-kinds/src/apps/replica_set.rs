//! ReplicaSet: replicated Pods.

use serde_json::Value;

use super::deployment;
use crate::columns::{AGE, Cell, Column, NAME};
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::groups;
use crate::kind::{BuiltinKind, Generation, StatusStrategy, Validation};
use crate::workload::{
    CONTAINERS, IMAGES, SELECTOR, validate_at_most_replicas, validate_ready_and_available,
    validate_selector_and_template,
};

/// Replicated Pods.
pub static REPLICA_SET: BuiltinKind = BuiltinKind {
    generation: Generation::Content,
    pod_spec: Some(&["spec", "template", "spec"]),
    declared_columns: COLUMNS,
    status: StatusStrategy {
        validate: validate_status,
        ..StatusStrategy::DEFAULT
    },
    validation: Validation::Rules(validate),
    warnings: deployment::warn,
    ..BuiltinKind::new(groups::APPS, "ReplicaSet", "replicasets")
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::integer("Desired", Cell::Number("/spec/replicas")),
    Column::integer("Current", Cell::Number("/status/replicas")),
    Column::integer("Ready", Cell::Number("/status/readyReplicas")),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

/// `ValidateReplicaSet`, `ValidateReplicaSetUpdate`.
fn validate(object: &Value, old: Option<&Value>, errors: &mut ErrorList) {
    let spec = FieldPath::new(object, "spec");
    errors.non_negative(spec.field("replicas"));
    errors.non_negative(spec.field("minReadySeconds"));
    validate_selector_and_template(spec, errors);
    if let Some(old) = old {
        errors.immutable(spec.field("selector"), &old["spec"]["selector"]);
    }
}

/// `ValidateReplicaSetStatusUpdate`.
fn validate_status(object: &Value, _old: &Value, errors: &mut ErrorList) {
    let status = FieldPath::new(object, "status");
    for name in [
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
        "terminatingReplicas",
    ] {
        errors.non_negative(status.field(name));
    }
    validate_at_most_replicas(status, "fullyLabeledReplicas", errors);
    validate_ready_and_available(status, errors);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::REPLICA_SET;

    #[test]
    fn selector_matches_the_template_and_is_immutable() {
        let object = |selector: &str| {
            json!({"spec": {
                "replicas": -1,
                "selector": {"matchLabels": {"app": selector}},
                "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
                    "restartPolicy": "Always", "dnsPolicy": "ClusterFirst",
                    "terminationGracePeriodSeconds": 30,
                    "containers": [{
                        "name": "c", "image": "i", "imagePullPolicy": "Always",
                        "terminationMessagePolicy": "File",
                    }],
                }},
            }})
        };
        let causes = REPLICA_SET.validate(&object("other"), Some(&object("web")));
        let fields: Vec<_> = causes.iter().map(|cause| cause.field.as_str()).collect();
        assert_eq!(
            fields,
            [
                "spec.replicas",
                "spec.template.metadata.labels",
                "spec.selector"
            ]
        );
    }

    #[test]
    fn ready_replicas_are_at_most_all_replicas() {
        let status = json!({"status": {"replicas": 1, "readyReplicas": 2}});
        assert_eq!(
            REPLICA_SET.status_errors(&status, &json!({})),
            ["status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas"]
        );
    }
}
