//! PodSecurity: the labels of namespaces for Pod Security levels.

use kubewright_kinds::core::NAMESPACE;
use kubewright_kinds::json::text;
use kubewright_wire::status::{Cause, Status};
use serde_json::{Value, json};

use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;

const PREFIX: &str = "pod-security.kubernetes.io/";
/// The modes, in the order in which Kubernetes reads them.
const MODES: [&str; 3] = ["enforce", "audit", "warn"];
const LEVELS: [&str; 3] = ["privileged", "baseline", "restricted"];

/// Checks the labels of a Namespace. An unknown level is an error as in Kubernetes
/// (`PolicyToEvaluate` of k8s.io/pod-security-admission). Enforcing a level is not implemented: a
/// Namespace with such a label is rejected.
pub(super) fn validate(
    _: &AdmissionContext,
    attributes: &AdmissionAttributes,
) -> Result<(), Status> {
    if !attributes.is_write() || !attributes.is_main() || !attributes.resource.is(&NAMESPACE) {
        return Ok(());
    }
    let namespace = attributes.object();
    let causes = label_problems(namespace);
    let known = attributes.old().map(label_problems);
    if !causes.is_empty() && known.as_ref() != Some(&causes) {
        let name = text(&namespace["metadata"]["name"]);
        return Err(Status::invalid(attributes.resource.kind(), name, causes));
    }
    match label(namespace, "enforce") {
        Some(level @ ("baseline" | "restricted")) => Err(Status::not_implemented(format!(
            "enforcing the PodSecurity level {level} is not implemented yet: remove the label \
             pod-security.kubernetes.io/enforce"
        ))),
        _ => Ok(()),
    }
}

fn label<'a>(namespace: &'a Value, name: &str) -> Option<&'a str> {
    let labels = namespace.pointer("/metadata/labels")?;
    labels.get(format!("{PREFIX}{name}"))?.as_str()
}

fn label_problems(namespace: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut problem = |name: &str, value: &str, why: &str| {
        let field = format!("metadata.labels[{PREFIX}{name}]");
        causes.push(Cause::invalid(&field, &json!(value), why));
    };
    for mode in MODES {
        if let Some(level) = label(namespace, mode)
            && !LEVELS.contains(&level)
        {
            problem(
                mode,
                level,
                &format!("must be one of {}", LEVELS.join(", ")),
            );
        }
        let version = format!("{mode}-version");
        if let Some(value) = label(namespace, &version)
            && !is_version(value)
        {
            problem(&version, value, "must be \"latest\" or \"v1.x\"");
        }
    }
    causes
}

fn is_version(text: &str) -> bool {
    let minor = text.strip_prefix("v1.").unwrap_or_default();
    let is_number = minor.bytes().all(|byte| byte.is_ascii_digit()) && minor.parse::<u32>().is_ok();
    text == "latest" || (is_number && (minor == "0" || !minor.starts_with('0')))
}
