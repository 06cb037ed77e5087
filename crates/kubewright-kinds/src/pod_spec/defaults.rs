//! The defaults of a PodSpec that depend on other fields.

use serde_json::{Map, Value, json};

use super::image::image_tag_is_latest;
use crate::json::{object_mut, objects_mut, text};
use crate::resource_list::round_up;

const CONTAINER_LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// Sets the defaults of a PodSpec in a Pod or a template.
pub(crate) fn apply_defaults(spec: &mut Map<String, Value>) {
    default_containers(spec);
    for list in ["initContainers", "containers"] {
        for container in objects_mut(spec.get_mut(list)) {
            if let Some(resources) = object_mut(container, "resources") {
                round_up(resources, &["limits", "requests"]);
            }
        }
    }
    round_up(spec, &["overhead"]);
    if let Some(resources) = object_mut(spec, "resources") {
        round_up(resources, &["limits", "requests"]);
    }
}

/// `serviceAccount` is a deprecated alias of `serviceAccountName`
/// (`Convert_v1_PodSpec_To_core_PodSpec`).
pub(crate) fn sync_service_account(spec: &mut Map<String, Value>) {
    let name = |spec: &Map<String, Value>, field: &str| {
        spec.get(field)
            .and_then(Value::as_str)
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
    };
    let account = name(spec, "serviceAccountName").or_else(|| name(spec, "serviceAccount"));
    if let Some(account) = account {
        spec.insert("serviceAccount".to_owned(), json!(account));
        spec.insert("serviceAccountName".to_owned(), json!(account));
    }
}

/// `SetDefaults_Container`, `SetDefaults_Volume`.
fn default_containers(spec: &mut Map<String, Value>) {
    for list in CONTAINER_LISTS {
        for container in objects_mut(spec.get_mut(list)) {
            set_pull_policy(container, "image", "imagePullPolicy");
        }
    }
    for volume in objects_mut(spec.get_mut("volumes")) {
        if !volume.keys().any(|name| name != "name") {
            volume.insert("emptyDir".to_owned(), json!({}));
        }
        if let Some(Value::Object(image)) = volume.get_mut("image") {
            set_pull_policy(image, "reference", "pullPolicy");
        }
    }
}

fn set_pull_policy(object: &mut Map<String, Value>, image_field: &str, policy_field: &str) {
    if object.contains_key(policy_field) {
        return;
    }
    let image = object.get(image_field).map_or("", text);
    let policy = if image_tag_is_latest(image) {
        "Always"
    } else {
        "IfNotPresent"
    };
    object.insert(policy_field.to_owned(), json!(policy));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::sync_service_account;

    #[test]
    fn service_account_is_set_in_both_fields() {
        let mut spec = json!({"serviceAccount": "a"});
        sync_service_account(spec.as_object_mut().unwrap());
        assert_eq!(spec["serviceAccountName"], "a");
    }
}
