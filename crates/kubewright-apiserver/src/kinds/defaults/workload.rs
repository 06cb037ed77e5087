use kubewright_core::Kind;
use serde_json::{Map, Value, json};

use super::container::{object_mut, objects_mut, set_absent};
use super::small;

/// `SetDefaults_Deployment`.
pub(super) fn deployment(object: &mut Map<String, Value>) {
    rolling(
        object,
        "strategy",
        &[("maxUnavailable", json!("25%")), ("maxSurge", json!("25%"))],
    );
}

/// `SetDefaults_DaemonSet`.
pub(super) fn daemon_set(object: &mut Map<String, Value>) {
    rolling(
        object,
        "updateStrategy",
        &[("maxUnavailable", json!(1)), ("maxSurge", json!(0))],
    );
}

/// A strategy without a type rolls, and one that rolls has its two amounts.
fn rolling(object: &mut Map<String, Value>, field: &str, amounts: &[(&str, Value)]) {
    let Some(spec) = object_mut(object, "spec") else {
        return;
    };
    let strategy = spec.entry(field).or_insert_with(|| json!({}));
    let Some(strategy) = strategy.as_object_mut() else {
        return;
    };
    set_absent(strategy, "type", json!("RollingUpdate"));
    if strategy.get("type") != Some(&json!("RollingUpdate")) {
        return;
    }
    set_absent(strategy, "rollingUpdate", json!({}));
    if let Some(update) = object_mut(strategy, "rollingUpdate") {
        for (name, amount) in amounts {
            set_absent(update, name, amount.clone());
        }
    }
}

/// `SetDefaults_StatefulSet`.
pub(super) fn stateful_set(object: &mut Map<String, Value>) {
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
        small::claim(claim);
    }
}

/// `SetDefaults_ReplicationController`.
pub(super) fn replication_controller(object: &mut Map<String, Value>) {
    let labels = template_labels(object);
    let Some(labels) = labels else {
        return;
    };
    if let Some(spec) = object_mut(object, "spec")
        && is_empty(spec.get("selector"))
    {
        spec.insert("selector".to_owned(), labels.clone());
    }
    set_labels(object, labels);
}

/// `SetDefaults_Job`.
pub(super) fn job(object: &mut Map<String, Value>) {
    if let Some(labels) = template_labels(object) {
        set_labels(object, labels);
    }
    if let Some(spec) = object_mut(object, "spec") {
        job_spec(spec);
    }
}

fn job_spec(spec: &mut Map<String, Value>) {
    if !spec.contains_key("completions") && !spec.contains_key("parallelism") {
        spec.insert("completions".to_owned(), json!(1));
    }
    set_absent(spec, "parallelism", json!(1));
    let limit = match spec.contains_key("backoffLimitPerIndex") {
        true => i32::MAX,
        false => 6,
    };
    set_absent(spec, "backoffLimit", json!(limit));
    let replacement = match spec.contains_key("podFailurePolicy") {
        true => "Failed",
        false => "TerminatingOrFailed",
    };
    set_absent(spec, "podReplacementPolicy", json!(replacement));
}

/// What converting to the stored form and back changes.
pub(super) fn settle(kind: &Kind, object: &mut Map<String, Value>) {
    if kind.group() == "apps" && kind.kind == "DaemonSet" {
        set_template_generation(object);
    }
    if kind.group() == "apps" && kind.kind == "StatefulSet" {
        let templates =
            object_mut(object, "spec").and_then(|spec| spec.get_mut("volumeClaimTemplates"));
        for claim in objects_mut(templates) {
            // As in Convert_apps_StatefulSetSpec_To_v1_StatefulSetSpec.
            claim.insert("apiVersion".to_owned(), json!("v1"));
            claim.insert("kind".to_owned(), json!("PersistentVolumeClaim"));
        }
    }
}

const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// A field of old, which only lives on as an annotation (`Convert_apps_DaemonSet_To_v1_DaemonSet`).
fn set_template_generation(object: &mut Map<String, Value>) {
    let metadata = object.entry("metadata").or_insert_with(|| json!({}));
    let Some(metadata) = metadata.as_object_mut() else {
        return;
    };
    set_absent(metadata, "annotations", json!({}));
    if let Some(annotations) = object_mut(metadata, "annotations") {
        set_absent(annotations, TEMPLATE_GENERATION, json!("0"));
    }
}

/// A new DaemonSet has its first template.
pub(crate) fn first_template_generation(object: &mut Map<String, Value>) {
    set_template_generation(object);
    let annotations =
        object_mut(object, "metadata").and_then(|metadata| object_mut(metadata, "annotations"));
    if let Some(annotations) = annotations {
        annotations.insert(TEMPLATE_GENERATION.to_owned(), json!("1"));
    }
}

fn template_labels(object: &mut Map<String, Value>) -> Option<Value> {
    let spec = object_mut(object, "spec")?;
    let template = object_mut(spec, "template")?;
    let labels = object_mut(template, "metadata")?.get("labels")?;
    (!is_empty(Some(labels))).then(|| labels.clone())
}

fn set_labels(object: &mut Map<String, Value>, labels: Value) {
    let metadata = object.entry("metadata").or_insert_with(|| json!({}));
    if let Some(metadata) = metadata.as_object_mut()
        && is_empty(metadata.get("labels"))
    {
        metadata.insert("labels".to_owned(), labels);
    }
}

fn is_empty(value: Option<&Value>) -> bool {
    value
        .and_then(Value::as_object)
        .is_none_or(|members| members.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{deployment, job};

    #[test]
    fn a_deployment_that_recreates_does_not_roll() {
        let mut object = json!({"spec": {"strategy": {"type": "Recreate"}}});
        deployment(object.as_object_mut().unwrap());
        assert_eq!(object["spec"]["strategy"], json!({"type": "Recreate"}));
    }

    #[test]
    fn a_job_takes_the_labels_of_its_pods() {
        let mut object = json!({"spec": {
            "parallelism": 2, "template": {"metadata": {"labels": {"a": "b"}}},
        }});
        job(object.as_object_mut().unwrap());
        assert_eq!(object["metadata"]["labels"], json!({"a": "b"}));
        assert!(object["spec"].get("completions").is_none());
        assert_eq!(object["spec"]["backoffLimit"], 6);
    }
}
