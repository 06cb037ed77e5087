//! The Pod after the patch of a webhook.

use k8s_openapi::api::core::v1::Pod;
use kubewright_bench_subject::injected_checksum;
use kubewright_wire::review::AdmissionReview;
use serde_json::Value;

/// Returns the checksum of the Pod in `review` after the patch in `response` is applied to it. The
/// result is compared, not the patch, because libraries generate different patches.
pub(crate) fn patched_checksum(review: &[u8], response: &[u8]) -> Result<f64, String> {
    let review: AdmissionReview = parse("review", review)?;
    let reviewed: AdmissionReview = parse("response", response)?;
    let request = review.request.ok_or("the review has no request")?;
    let response = reviewed
        .response
        .ok_or("the returned review has no response")?;
    if !response.allowed || response.uid != request.uid {
        return Err(format!("unexpected response {response:?}"));
    }
    let patch = response.patch.ok_or("the response has no patch")?;
    let operations: Vec<Value> = parse("patch", &patch.0)?;
    let mut pod = request.object;
    for operation in &operations {
        apply(&mut pod, operation)
            .ok_or_else(|| format!("the patch cannot be applied: {operation}"))?;
    }
    let pod: Pod = serde_json::from_value(pod).map_err(|error| error.to_string())?;
    #[expect(clippy::cast_precision_loss, reason = "a checksum has 53 bits")]
    Ok(injected_checksum(&pod) as f64)
}

fn parse<T: serde::de::DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|error| format!("parse the {what}: {error}"))
}

/// Applies an operation of RFC 6902. Returns `None` if it does not apply, or is an operation that no
/// generated patch contains.
fn apply(document: &mut Value, operation: &Value) -> Option<()> {
    let path = operation.get("path")?.as_str()?;
    let (parent, last) = path.rsplit_once('/')?;
    let key = last.replace("~1", "/").replace("~0", "~");
    let value = operation.get("value").cloned();
    let kind = operation.get("op")?.as_str()?;
    match (document.pointer_mut(parent)?, kind) {
        (Value::Object(members), "add" | "replace") => {
            members.insert(key, value?);
        }
        (Value::Object(members), "remove") => {
            members.remove(&key)?;
        }
        (Value::Array(items), "add") if key == "-" => items.push(value?),
        (Value::Array(items), "add") => {
            let index: usize = key.parse().ok()?;
            (index <= items.len()).then_some(())?;
            items.insert(index, value?);
        }
        (Value::Array(items), "replace") => *items.get_mut(key.parse::<usize>().ok()?)? = value?,
        (Value::Array(items), "remove") => {
            let index: usize = key.parse().ok()?;
            items.get(index)?;
            items.remove(index);
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{apply, patched_checksum};

    #[test]
    fn operations_change_members_and_items() {
        let mut document = json!({"a/b": [1, 2], "c": 3});
        for operation in [
            json!({"op": "add", "path": "/a~1b/0", "value": 0}),
            json!({"op": "replace", "path": "/a~1b/2", "value": 9}),
            json!({"op": "add", "path": "/a~1b/-", "value": 4}),
            json!({"op": "remove", "path": "/a~1b/1"}),
            json!({"op": "remove", "path": "/c"}),
            json!({"op": "add", "path": "/d", "value": {}}),
        ] {
            assert_eq!(apply(&mut document, &operation), Some(()), "{operation}");
        }
        assert_eq!(document, json!({"a/b": [0, 9, 4], "d": {}}));
        for invalid in [
            json!({"op": "remove", "path": "/c"}),
            json!({"op": "add", "path": "/a~1b/9", "value": 0}),
            json!({"op": "move", "path": "/d"}),
        ] {
            assert_eq!(apply(&mut document, &invalid), None, "{invalid}");
        }
    }

    #[test]
    fn different_patches_with_the_same_result_have_the_same_checksum() {
        let review = json!({"request": {"uid": "u", "operation": "CREATE", "object": {
            "metadata": {}, "spec": {"containers": [{"name": "app", "image": "a"}]},
        }}});
        let sum = |patch: serde_json::Value| {
            use base64::Engine as _;
            let bytes = base64::engine::general_purpose::STANDARD.encode(patch.to_string());
            let response = json!({"response": {"uid": "u", "allowed": true, "patch": bytes}});
            patched_checksum(
                review.to_string().as_bytes(),
                response.to_string().as_bytes(),
            )
        };
        let container = json!({"name": "side", "image": "s"});
        let first = sum(json!([{"op": "add", "path": "/spec/containers/0", "value": container}]));
        let containers = json!([container, {"name": "app", "image": "a"}]);
        let other =
            sum(json!([{"op": "replace", "path": "/spec/containers", "value": containers}]));
        assert_eq!(first, other);
        let third = sum(json!([{"op": "add", "path": "/spec/containers/1", "value": container}]));
        assert_ne!(first, third);
        assert!(sum(json!([{"op": "remove", "path": "/spec/x"}])).is_err());
    }
}
