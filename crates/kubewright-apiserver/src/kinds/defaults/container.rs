use serde_json::{Map, Value, json};

use super::image_tag_is_latest;

const CONTAINER_LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// Fills in what depends on other fields in the containers and volumes of a Pod's specification
/// (`SetDefaults_Container`, `SetDefaults_Volume`).
pub(super) fn fill_containers(spec: &mut Map<String, Value>) {
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

fn set_pull_policy(holder: &mut Map<String, Value>, image: &str, policy: &str) {
    if holder.contains_key(policy) {
        return;
    }
    let image = holder
        .get(image)
        .and_then(Value::as_str)
        .unwrap_or_default();
    let when = match image_tag_is_latest(image) {
        true => "Always",
        false => "IfNotPresent",
    };
    holder.insert(policy.to_owned(), json!(when));
}

/// The structs of a list.
pub(super) fn objects_mut(
    list: Option<&mut Value>,
) -> impl Iterator<Item = &mut Map<String, Value>> {
    let items = list.and_then(Value::as_array_mut).into_iter().flatten();
    items.filter_map(Value::as_object_mut)
}

/// The struct in a field, where there is one.
pub(super) fn object_mut<'a>(
    holder: &'a mut Map<String, Value>,
    name: &str,
) -> Option<&'a mut Map<String, Value>> {
    holder.get_mut(name).and_then(Value::as_object_mut)
}

/// Sets a field that is absent.
pub(super) fn set_absent(holder: &mut Map<String, Value>, name: &str, value: Value) {
    if holder.get(name).is_none_or(Value::is_null) {
        holder.insert(name.to_owned(), value);
    }
}
