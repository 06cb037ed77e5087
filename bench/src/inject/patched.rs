use k8s_openapi::api::core::v1::Pod;
use kubewright_bench_subject::injected_checksum;
use kubewright_wire::review::AdmissionReview;
use serde_json::Value;

/// The checksum of the Pod in `review` once the patch of `answer` is applied to it. Patches of
/// different libraries look different; what counts is what they make of the Pod.
pub(crate) fn patched_checksum(review: &[u8], answer: &[u8]) -> Result<f64, String> {
    let review: AdmissionReview = parse("review", review)?;
    let answer: AdmissionReview = parse("answer", answer)?;
    let request = review.request.ok_or("the review asks nothing")?;
    let response = answer.response.ok_or("the answer has no response")?;
    if !response.allowed || response.uid != request.uid {
        return Err(format!("it answered {response:?}"));
    }
    let patch = response.patch.ok_or("the answer has no patch")?;
    let operations: Vec<Value> = parse("patch", &patch.0)?;
    let mut pod = request.object;
    for operation in &operations {
        let done = apply(&mut pod, operation);
        done.ok_or_else(|| format!("its patch does not apply: {operation}"))?;
    }
    let pod: Pod = serde_json::from_value(pod).map_err(|error| error.to_string())?;
    #[expect(clippy::cast_precision_loss, reason = "a checksum has 53 bits")]
    Ok(injected_checksum(&pod) as f64)
}

fn parse<T: serde::de::DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|error| format!("read the {what}: {error}"))
}

/// One operation of RFC 6902, of those that differences are made of; none when it does not fit.
fn apply(document: &mut Value, operation: &Value) -> Option<()> {
    let path = operation.get("path")?.as_str()?;
    let (parent, last) = path.rsplit_once('/')?;
    let last = last.replace("~1", "/").replace("~0", "~");
    let value = operation.get("value").cloned();
    let kind = operation.get("op")?.as_str()?;
    match (document.pointer_mut(parent)?, kind) {
        (Value::Object(members), "add" | "replace") => {
            members.insert(last, value?);
        }
        (Value::Object(members), "remove") => {
            members.remove(&last)?;
        }
        (Value::Array(items), "add") if last == "-" => items.push(value?),
        (Value::Array(items), "add") => {
            let at: usize = last.parse().ok()?;
            (at <= items.len()).then_some(())?;
            items.insert(at, value?);
        }
        (Value::Array(items), "replace") => *items.get_mut(last.parse::<usize>().ok()?)? = value?,
        (Value::Array(items), "remove") => {
            let at: usize = last.parse().ok()?;
            items.get(at)?;
            items.remove(at);
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
        for wrong in [
            json!({"op": "remove", "path": "/c"}),
            json!({"op": "add", "path": "/a~1b/9", "value": 0}),
            json!({"op": "move", "path": "/d"}),
        ] {
            assert_eq!(apply(&mut document, &wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_counts_is_the_pod_and_not_the_form_of_the_patch() {
        let review = json!({"request": {"uid": "u", "operation": "CREATE", "object": {
            "metadata": {}, "spec": {"containers": [{"name": "app", "image": "a"}]},
        }}});
        let sum = |patch: serde_json::Value| {
            use base64::Engine as _;
            let bytes = base64::engine::general_purpose::STANDARD.encode(patch.to_string());
            let answer = json!({"response": {"uid": "u", "allowed": true, "patch": bytes}});
            patched_checksum(review.to_string().as_bytes(), answer.to_string().as_bytes())
        };
        let container = json!({"name": "side", "image": "s"});
        let one = sum(json!([{"op": "add", "path": "/spec/containers/0", "value": container}]));
        let whole = json!([container, {"name": "app", "image": "a"}]);
        let other = sum(json!([{"op": "replace", "path": "/spec/containers", "value": whole}]));
        assert_eq!(one, other);
        let third = sum(json!([{"op": "add", "path": "/spec/containers/1", "value": container}]));
        assert_ne!(one, third);
        assert!(sum(json!([{"op": "remove", "path": "/spec/x"}])).is_err());
    }
}
