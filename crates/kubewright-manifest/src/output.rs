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
        "Service"
        | "Issuer"
        | "Certificate"
        | "MutatingWebhookConfiguration"
        | "ValidatingWebhookConfiguration" => "webhooks",
        _ => "deployment",
    }
}
