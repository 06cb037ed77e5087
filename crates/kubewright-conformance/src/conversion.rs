//! The conversion webhook of the stub.

use serde_json::{Value, json};

/// The response to a ConversionReview; some paths have an invalid one.
///
/// A valid conversion renames `spec.text` of version `v1` to `spec.page` of all other versions.
pub(super) fn convert(path: &str, review: &Value) -> Value {
    let request = &review["request"];
    let desired = request["desiredAPIVersion"].as_str().unwrap_or_default();
    let objects: Vec<Value> = request["objects"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|object| convert_object(object, desired))
        .collect();
    let mut converted = json!({
        "apiVersion": review["apiVersion"], "kind": review["kind"],
        "response": {
            "uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects,
        },
    });
    let response = &mut converted["response"];
    let first = |field: &str| format!("/convertedObjects/0/{field}");
    let mut set = |place: &str, value: Value| {
        if let Some(place) = response.pointer_mut(place) {
            *place = value;
        }
    };
    match path {
        "/convert-fails" => {
            set("/result", json!({"status": "Failure", "message": "no tea"}));
        }
        "/convert-strict"
            if request["objects"]
                .as_array()
                .is_some_and(|all| !all.iter().all(is_complete)) =>
        {
            set(
                "/result",
                json!({"status": "Failure", "message": "half an object"}),
            );
        }
        "/convert-silent" => set("/result", json!({"status": "Failure"})),
        "/convert-none" => set("/convertedObjects", json!([])),
        "/convert-uid" => set("/uid", json!("other")),
        "/convert-renamed" => set(&first("metadata/name"), json!("other")),
        "/convert-version" => set(&first("apiVersion"), json!("tea.case.dev/v9")),
        "/convert-kind" => set(&first("kind"), json!("Kettle")),
        "/convert-metadata" => {
            let metadata = json!({"finalizers": ["a.b/c"], "generation": 77,
                "labels": {"from": "webhook"}, "annotations": {"from": "webhook"}});
            for (field, value) in metadata.as_object().into_iter().flatten() {
                response["convertedObjects"][0]["metadata"][field] = value.clone();
            }
        }
        "/convert-labels" => {
            response["convertedObjects"][0]["metadata"]["labels"] = json!({"number": 7});
        }
        "/convert-other-review" => converted["kind"] = json!("Other"),
        "/convert-no-response" => converted["response"] = Value::Null,
        _ => {}
    }
    converted
}

/// Whether an object has the field that clients set.
fn is_complete(object: &Value) -> bool {
    let field = match object["apiVersion"].as_str() {
        Some(version) if version.ends_with("/v1") => "text",
        _ => "page",
    };
    object["spec"][field].is_string()
}

fn convert_object(object: &Value, desired: &str) -> Value {
    let mut converted = object.clone();
    let (from, to) = if desired.ends_with("/v1") {
        ("page", "text")
    } else {
        ("text", "page")
    };
    converted["apiVersion"] = json!(desired);
    if let Some(spec) = converted["spec"].as_object_mut()
        && let Some(value) = spec.remove(from)
    {
        spec.insert(to.to_owned(), value);
    }
    converted
}
