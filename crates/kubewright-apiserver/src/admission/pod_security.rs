use kubewright_wire::status::{Cause, Status};
use serde_json::{Value, json};

use super::Attributes;

const PREFIX: &str = "pod-security.kubernetes.io/";
/// What Pods are measured by, in the order in which Kubernetes looks at it.
const MODES: [&str; 3] = ["enforce", "audit", "warn"];
const LEVELS: [&str; 3] = ["privileged", "baseline", "restricted"];

/// A Namespace that asks for a level of security to be enforced would not get it: it is refused.
/// One that asks for a level which does not exist is refused as by Kubernetes
/// (`PolicyToEvaluate` of k8s.io/pod-security-admission).
pub(super) fn check(attributes: &Attributes<'_>, namespace: &Value) -> Result<(), Status> {
    if !attributes.served.is("", "Namespace") {
        return Ok(());
    }
    let causes = faults(namespace);
    let known = attributes.old.map(|old| faults(old.value()));
    if !causes.is_empty() && known.as_ref() != Some(&causes) {
        let name = namespace["metadata"]["name"].as_str().unwrap_or_default();
        let kind = &attributes.served.resource.kind;
        return Err(Status::invalid(kind, name, causes));
    }
    match label(namespace, "enforce") {
        Some(level @ ("baseline" | "restricted")) => Err(Status::not_implemented(format!(
            "enforcing the PodSecurity level {level} is not implemented yet: take the label \
             pod-security.kubernetes.io/enforce away"
        ))),
        _ => Ok(()),
    }
}

fn label<'a>(namespace: &'a Value, name: &str) -> Option<&'a str> {
    let labels = namespace.pointer("/metadata/labels")?;
    labels.get(format!("{PREFIX}{name}"))?.as_str()
}

/// What is wrong with the labels.
fn faults(namespace: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut fault = |name: &str, value: &str, why: &str| {
        let field = format!("metadata.labels[{PREFIX}{name}]");
        causes.push(Cause::invalid(&field, &json!(value), why));
    };
    for mode in MODES {
        if let Some(level) = label(namespace, mode)
            && !LEVELS.contains(&level)
        {
            fault(
                mode,
                level,
                &format!("must be one of {}", LEVELS.join(", ")),
            );
        }
        let version = format!("{mode}-version");
        if let Some(value) = label(namespace, &version)
            && !is_version(value)
        {
            fault(&version, value, "must be \"latest\" or \"v1.x\"");
        }
    }
    causes
}

fn is_version(text: &str) -> bool {
    let minor = text.strip_prefix("v1.").unwrap_or_default();
    let is_number = minor.bytes().all(|byte| byte.is_ascii_digit()) && minor.parse::<u32>().is_ok();
    text == "latest" || (is_number && (minor == "0" || !minor.starts_with('0')))
}
