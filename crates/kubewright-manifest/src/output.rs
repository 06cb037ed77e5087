//! Files of objects, grouped by concern.

use serde_json::Value;

/// A file to write: its path below the chosen folder, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// The path, with `/` between folders.
    pub path: String,
    /// The content.
    pub text: String,
}

impl OutputFile {
    pub(crate) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
        }
    }
}

/// The results of `concern`, which are the names of the files.
const CONCERNS: [&str; 10] = [
    "namespace",
    "crds",
    "rbac",
    "metrics",
    "network-policy",
    "prometheus",
    "pod-disruption-budget",
    "webhooks",
    "policies",
    "deployment",
];

/// The files that an earlier call may have written and that `files` does not contain, such as the
/// file of a component that was removed from the options.
pub fn stale_files(files: &[OutputFile]) -> Vec<String> {
    let is_current = |path: &str| files.iter().any(|file| file.path == path);
    let is_chart = is_current("Chart.yaml");
    let mut stale = Vec::new();
    for concern in CONCERNS {
        let path = if is_chart {
            format!("templates/{concern}.yaml")
        } else {
            format!("{concern}.yaml")
        };
        // A chart never has a Namespace: its release has one. Such a file is the user's.
        let is_ours = !is_chart || concern != "namespace";
        if is_ours && !is_current(&path) {
            stale.push(path);
        }
    }
    stale
}

/// Groups the objects by concern, in the order of their first objects.
pub(crate) fn concerns(objects: &[Value]) -> Vec<(&'static str, Vec<Value>)> {
    let mut groups: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for object in objects {
        let concern = concern(object);
        match groups.iter_mut().find(|(name, _)| *name == concern) {
            Some((_, group)) => group.push(object.clone()),
            None => groups.push((concern, vec![object.clone()])),
        }
    }
    groups
}

fn concern(object: &Value) -> &'static str {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    match object["kind"].as_str().unwrap_or_default() {
        "Namespace" => "namespace",
        "CustomResourceDefinition" => "crds",
        "ServiceAccount" | "Role" | "RoleBinding" | "ClusterRole" | "ClusterRoleBinding" => "rbac",
        "Service" if name.ends_with("-metrics") => "metrics",
        "NetworkPolicy" => "network-policy",
        "ServiceMonitor" => "prometheus",
        "PodDisruptionBudget" => "pod-disruption-budget",
        "Service"
        | "Issuer"
        | "Certificate"
        | "MutatingWebhookConfiguration"
        | "ValidatingWebhookConfiguration" => "webhooks",
        "MutatingAdmissionPolicy"
        | "MutatingAdmissionPolicyBinding"
        | "ValidatingAdmissionPolicy"
        | "ValidatingAdmissionPolicyBinding" => "policies",
        _ => "deployment",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{CONCERNS, OutputFile, concern, stale_files};

    #[test]
    fn list_of_concerns_is_complete() {
        for kind in [
            "Namespace",
            "CustomResourceDefinition",
            "ClusterRole",
            "NetworkPolicy",
            "ServiceMonitor",
            "PodDisruptionBudget",
            "Service",
            "Certificate",
            "MutatingAdmissionPolicyBinding",
            "Deployment",
        ] {
            for name in ["web", "web-metrics"] {
                let object = json!({"kind": kind, "metadata": {"name": name}});
                assert!(CONCERNS.contains(&concern(&object)), "{kind}");
            }
        }
    }

    #[test]
    fn stale_files_of_a_chart_are_templates_except_the_namespace() {
        let file = |path: &str| OutputFile::new(path, "");
        let of_chart = stale_files(&[file("Chart.yaml"), file("templates/crds.yaml")]);
        assert!(of_chart.contains(&"templates/prometheus.yaml".to_owned()));
        assert!(of_chart.iter().all(|path| path.starts_with("templates/")));
        assert!(!of_chart.iter().any(|path| path.contains("namespace")));
        assert!(!of_chart.contains(&"templates/crds.yaml".to_owned()));
        let of_kustomization = stale_files(&[file("kustomization.yaml")]);
        assert!(of_kustomization.contains(&"prometheus.yaml".to_owned()));
    }
}
