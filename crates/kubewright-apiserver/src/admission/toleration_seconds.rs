use serde_json::{Value, json};

use super::Attributes;

const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

/// A Pod stays for five minutes on a node that is not ready or out of reach, unless it says
/// otherwise (plugin/pkg/admission/defaulttolerationseconds).
pub(super) fn admit(attributes: &Attributes<'_>, pod: &mut Value) {
    if !attributes.served.is("", "Pod") || !pod["spec"].is_object() {
        return;
    }
    let tolerations = pod["spec"]["tolerations"].as_array();
    let tolerations = tolerations.cloned().unwrap_or_default();
    let tolerates = |taint: &str| {
        tolerations.iter().any(|toleration| {
            let text = |field: &str| toleration[field].as_str().unwrap_or_default();
            let covers =
                |field: &str, wanted: &str| text(field).is_empty() || text(field) == wanted;
            covers("key", taint) && covers("effect", "NoExecute")
        })
    };
    let missing: Vec<Value> = [NOT_READY, UNREACHABLE]
        .into_iter()
        .filter(|taint| !tolerates(taint))
        .map(|taint| {
            json!({
                "key": taint, "operator": "Exists", "effect": "NoExecute",
                "tolerationSeconds": 300,
            })
        })
        .collect();
    if !missing.is_empty() {
        let all: Vec<Value> = tolerations.into_iter().chain(missing).collect();
        pod["spec"]["tolerations"] = Value::Array(all);
    }
}
