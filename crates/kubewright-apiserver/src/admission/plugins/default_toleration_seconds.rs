//! DefaultTolerationSeconds: a Pod stays for five minutes on a node that is not ready or
//! unreachable, unless the Pod has its own toleration (plugin/pkg/admission/defaulttolerationseconds).

use kubewright_kinds::core::POD;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;

const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

pub(super) fn mutate(
    _: &AdmissionContext,
    attributes: &mut AdmissionAttributes,
) -> Result<(), Status> {
    if !attributes.is_write() || !attributes.is_main() || !attributes.resource.is(&POD) {
        return Ok(());
    }
    let object = attributes.object.as_mut();
    let Some(pod) = object.filter(|pod| pod["spec"].is_object()) else {
        return Ok(());
    };
    let tolerations = pod["spec"]["tolerations"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let missing: Vec<Value> = [NOT_READY, UNREACHABLE]
        .into_iter()
        .filter(|taint| !tolerations.iter().any(|known| tolerates(known, taint)))
        .map(|taint| {
            json!({
                "key": taint, "operator": "Exists", "effect": "NoExecute",
                "tolerationSeconds": 300,
            })
        })
        .collect();
    if !missing.is_empty() {
        let all = tolerations.iter().cloned().chain(missing).collect();
        pod["spec"]["tolerations"] = Value::Array(all);
    }
    Ok(())
}

fn tolerates(toleration: &Value, taint: &str) -> bool {
    let covers = |field: &str, wanted: &str| {
        let text = toleration[field].as_str().unwrap_or_default();
        text.is_empty() || text == wanted
    };
    covers("key", taint) && covers("effect", "NoExecute")
}
