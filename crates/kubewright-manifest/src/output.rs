use serde_json::Value;

/// A file to write: its path below the chosen folder, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// With `/` between folders.
    pub path: String,
    /// The whole text.
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

/// What files of objects are named after: all that `concern` answers.
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

/// The files that an earlier call may have written to the folder of these, and that are not among
/// them any more, such as those of a component that is not asked for again.
pub fn former_files(files: &[OutputFile]) -> Vec<String> {
    let is_there = |path: &str| files.iter().any(|file| file.path == path);
    let is_chart = is_there("Chart.yaml");
    let mut former = Vec::new();
    for concern in CONCERNS {
        let path = match is_chart {
            // A release has a namespace, so that a chart of ours never has one.
            true if concern == "namespace" => continue,
            true => format!("templates/{concern}.yaml"),
            false => format!("{concern}.yaml"),
        };
        if !is_there(&path) {
            former.push(path);
        }
    }
    former
}

/// Splits the objects into runs of one concern each, in their order: (file name, objects).
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

    use super::{CONCERNS, OutputFile, concern, former_files};

    #[test]
    fn every_file_that_may_have_been_written_is_known() {
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
    fn files_of_a_chart_are_among_its_templates_and_have_no_namespace() {
        let file = |path: &str| OutputFile::new(path, "");
        let former = former_files(&[file("Chart.yaml"), file("templates/crds.yaml")]);
        assert!(former.contains(&"templates/prometheus.yaml".to_owned()));
        assert!(former.iter().all(|path| path.starts_with("templates/")));
        assert!(!former.iter().any(|path| path.contains("namespace")));
        assert!(!former.contains(&"templates/crds.yaml".to_owned()));
        let former = former_files(&[file("kustomization.yaml")]);
        assert!(former.contains(&"prometheus.yaml".to_owned()));
    }
}
