use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Container, ContainerPort, EnvVar, VolumeMount};
use kubewright::webhook::Findings;

use super::names::{LABEL, is_label};
use crate::SidecarContainer;

/// What the API server would find wrong with these containers in a Pod, as far as it can be told
/// without the Pod (`k8s.io/kubernetes/pkg/apis/core/validation`): better now than at each Pod.
pub(super) fn check_containers(
    containers: &[SidecarContainer],
    path: &str,
    findings: &mut Findings,
) {
    let mut names = BTreeSet::new();
    for (place, sidecar) in containers.iter().enumerate() {
        let path = format!("{path}[{place}]");
        let container = &sidecar.container;
        check_container(container, &path, findings);
        if !container.name.is_empty() && !names.insert(container.name.as_str()) {
            findings.duplicate(format!("{path}.name"), &container.name);
        }
    }
}

fn check_container(container: &Container, path: &str, findings: &mut Findings) {
    let at = |field: &str| format!("{path}.{field}");
    match container.name.as_str() {
        "" => findings.required(at("name"), ""),
        name if !is_label(name) => findings.invalid(at("name"), name, LABEL),
        _ => {}
    }
    match container.image.as_deref() {
        None | Some("") => findings.required(at("image"), ""),
        Some(image) if image.trim() != image => {
            let why = "must not have leading or trailing whitespace";
            findings.invalid(at("image"), image, why);
        }
        Some(_) => {}
    }
    if let Some(policy) = container.image_pull_policy.as_deref() {
        const POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];
        if !POLICIES.contains(&policy) {
            findings.unsupported(at("imagePullPolicy"), policy, &POLICIES);
        }
    }
    for (place, port) in container.ports.iter().flatten().enumerate() {
        check_port(port, &format!("{path}.ports[{place}]"), findings);
    }
    for (place, variable) in container.env.iter().flatten().enumerate() {
        check_variable(variable, &format!("{path}.env[{place}]"), findings);
    }
    let mounts: Vec<_> = container.volume_mounts.iter().flatten().collect();
    for (place, mount) in mounts.iter().enumerate() {
        let earlier = mounts
            .iter()
            .take(place)
            .any(|one| one.mount_path == mount.mount_path);
        let path = format!("{path}.volumeMounts[{place}]");
        check_mount(mount, &path, findings);
        if earlier {
            let why = "must be unique";
            findings.invalid(format!("{path}.mountPath"), &mount.mount_path, why);
        }
    }
}

fn check_port(port: &ContainerPort, path: &str, findings: &mut Findings) {
    const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
    if port.container_port == 0 {
        findings.required(format!("{path}.containerPort"), "");
    } else if !(1..=65_535).contains(&port.container_port) {
        let why = "must be between 1 and 65535, inclusive";
        findings.invalid(format!("{path}.containerPort"), port.container_port, why);
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
        let why = "may not be specified when `value` is not empty";
        findings.invalid(format!("{path}.valueFrom"), "", why);
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

    fn faults(containers: Value) -> Vec<String> {
        let mut findings = Findings::default();
        let containers: Vec<_> = serde_json::from_value(containers).unwrap();
        check_containers(&containers, "spec.containers", &mut findings);
        findings.faults()
    }

    #[test]
    fn what_a_pod_would_be_refused_for_is_told_beforehand() {
        for (container, wanted) in [
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
            assert_eq!(faults(json!([container])), [wanted]);
        }
        let twice = json!([{"name": "a", "image": "i"}, {"name": "a", "image": "i"}]);
        assert_eq!(
            faults(twice),
            ["spec.containers[1].name: Duplicate value: \"a\""]
        );
        let name = faults(json!([{"name": "A", "image": "i"}]));
        assert!(name[0].starts_with("spec.containers[0].name: Invalid value: \"A\""));
    }
}
