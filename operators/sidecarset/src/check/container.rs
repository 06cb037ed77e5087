//! Validates the containers of a set as Kubernetes validates those of a Pod.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Container, ContainerPort, EnvVar, VolumeMount};
use kubewright::webhook::Findings;

use super::dns_label::{DNS_LABEL_MESSAGE, is_dns_label};
use crate::SidecarContainer;

/// Reports errors that the API server would report for every Pod with these containers, as far as
/// they do not depend on the Pod (`k8s.io/kubernetes/pkg/apis/core/validation`).
pub(super) fn check_containers(
    containers: &[SidecarContainer],
    path: &str,
    findings: &mut Findings,
) {
    let mut names = BTreeSet::new();
    for (index, sidecar) in containers.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let container = &sidecar.container;
        check_container(container, &path, findings);
        if !container.name.is_empty() && !names.insert(container.name.as_str()) {
            findings.duplicate(format!("{path}.name"), &container.name);
        }
    }
}

fn check_container(container: &Container, path: &str, findings: &mut Findings) {
    let field_path = |field: &str| format!("{path}.{field}");
    match container.name.as_str() {
        "" => findings.required(field_path("name"), ""),
        name if !is_dns_label(name) => {
            findings.invalid(field_path("name"), name, DNS_LABEL_MESSAGE)
        }
        _ => {}
    }
    match container.image.as_deref() {
        None | Some("") => findings.required(field_path("image"), ""),
        Some(image) if image.trim() != image => {
            let reason = "must not have leading or trailing whitespace";
            findings.invalid(field_path("image"), image, reason);
        }
        Some(_) => {}
    }
    if let Some(policy) = container.image_pull_policy.as_deref() {
        const POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];
        if !POLICIES.contains(&policy) {
            findings.unsupported(field_path("imagePullPolicy"), policy, &POLICIES);
        }
    }
    for (index, port) in container.ports.iter().flatten().enumerate() {
        check_port(port, &format!("{path}.ports[{index}]"), findings);
    }
    for (index, variable) in container.env.iter().flatten().enumerate() {
        check_variable(variable, &format!("{path}.env[{index}]"), findings);
    }
    let mounts: Vec<_> = container.volume_mounts.iter().flatten().collect();
    for (index, mount) in mounts.iter().enumerate() {
        let is_duplicate = mounts
            .iter()
            .take(index)
            .any(|earlier| earlier.mount_path == mount.mount_path);
        let path = format!("{path}.volumeMounts[{index}]");
        check_mount(mount, &path, findings);
        if is_duplicate {
            let reason = "must be unique";
            findings.invalid(format!("{path}.mountPath"), &mount.mount_path, reason);
        }
    }
}

fn check_port(port: &ContainerPort, path: &str, findings: &mut Findings) {
    const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
    if port.container_port == 0 {
        findings.required(format!("{path}.containerPort"), "");
    } else if !(1..=65_535).contains(&port.container_port) {
        let reason = "must be between 1 and 65535, inclusive";
        findings.invalid(format!("{path}.containerPort"), port.container_port, reason);
    }
    if let Some(protocol) = port.protocol.as_deref()
        && !PROTOCOLS.contains(&protocol)
    {
        findings.unsupported(format!("{path}.protocol"), protocol, &PROTOCOLS);
    }
}

fn check_variable(variable: &EnvVar, path: &str, findings: &mut Findings) {
    if variable.name.is_empty() {
        findings.required(format!("{path}.name"), "");
    }
    let has_value = variable
        .value
        .as_deref()
        .is_some_and(|value| !value.is_empty());
    if has_value && variable.value_from.is_some() {
        let reason = "may not be specified when `value` is not empty";
        findings.invalid(format!("{path}.valueFrom"), "", reason);
    }
}

fn check_mount(mount: &VolumeMount, path: &str, findings: &mut Findings) {
    if mount.name.is_empty() {
        findings.required(format!("{path}.name"), "");
    }
    if mount.mount_path.is_empty() {
        findings.required(format!("{path}.mountPath"), "");
    }
}

#[cfg(test)]
mod tests {
    use kubewright::webhook::Findings;
    use serde_json::{Value, json};

    use super::check_containers;

    fn errors(containers: Value) -> Vec<String> {
        let mut findings = Findings::default();
        let containers: Vec<_> = serde_json::from_value(containers).unwrap();
        check_containers(&containers, "spec.containers", &mut findings);
        findings.errors()
    }

    #[test]
    fn errors_of_every_pod_are_reported_for_the_set() {
        for (container, expected) in [
            (
                json!({"name": "", "image": "i"}),
                "spec.containers[0].name: Required value",
            ),
            (
                json!({"name": "a"}),
                "spec.containers[0].image: Required value",
            ),
            (
                json!({"name": "a", "image": " i"}),
                "spec.containers[0].image: Invalid value: \" i\": must not have leading or \
                 trailing whitespace",
            ),
            (
                json!({"name": "a", "image": "i", "imagePullPolicy": "Maybe"}),
                "spec.containers[0].imagePullPolicy: Unsupported value: \"Maybe\": supported \
                 values: \"Always\", \"IfNotPresent\", \"Never\"",
            ),
            (
                json!({"name": "a", "image": "i", "ports": [{"containerPort": 70000}]}),
                "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between \
                 1 and 65535, inclusive",
            ),
            (
                json!({"name": "a", "image": "i", "env": [{"name": ""}]}),
                "spec.containers[0].env[0].name: Required value",
            ),
            (
                json!({"name": "a", "image": "i", "volumeMounts": [
                    {"name": "v", "mountPath": "/x"}, {"name": "w", "mountPath": "/x"}]}),
                "spec.containers[0].volumeMounts[1].mountPath: Invalid value: \"/x\": must be \
                 unique",
            ),
        ] {
            assert_eq!(errors(json!([container])), [expected]);
        }
        let twice = json!([{"name": "a", "image": "i"}, {"name": "a", "image": "i"}]);
        assert_eq!(
            errors(twice),
            ["spec.containers[1].name: Duplicate value: \"a\""]
        );
        let errors = errors(json!([{"name": "A", "image": "i"}]));
        assert!(errors[0].starts_with("spec.containers[0].name: Invalid value: \"A\""));
    }
}
