//! Defaults of workloads.

use serde_json::{Map, Value, json};

use crate::json::{is_empty_map, object_mut, set_absent};

/// Sets the type of an update strategy, and the bounds of a rolling update.
pub(crate) fn default_rolling_update(
    object: &mut Map<String, Value>,
    field: &str,
    bounds: &[(&str, Value)],
) {
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
        for (name, bound) in bounds {
            set_absent(update, name, bound.clone());
        }
    }
}

/// The labels of the template, unless there are none.
pub(crate) fn template_labels(object: &mut Map<String, Value>) -> Option<Value> {
    let spec = object_mut(object, "spec")?;
    let template = object_mut(spec, "template")?;
    let labels = object_mut(template, "metadata")?.get("labels")?;
    (!is_empty_map(Some(labels))).then(|| labels.clone())
}

/// Sets the labels of an object that has none.
pub(crate) fn set_labels(object: &mut Map<String, Value>, labels: Value) {
    let metadata = object.entry("metadata").or_insert_with(|| json!({}));
    if let Some(metadata) = metadata.as_object_mut()
        && is_empty_map(metadata.get("labels"))
    {
        metadata.insert("labels".to_owned(), labels);
    }
}
