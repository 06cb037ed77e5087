//! Folders for `kustomize build`.

use serde_json::{Value, json};

use crate::error::Error;
use crate::output::{OutputFile, concerns};
use crate::yaml::to_yaml;

/// A folder for `kustomize build`, which prints the objects unchanged and in their order.
///
/// Users change the image and other fields in a `kustomization.yaml` of their own, which has this
/// folder as a resource.
pub fn kustomization(objects: &[Value]) -> Result<Vec<OutputFile>, Error> {
    let mut files = Vec::new();
    for (concern, group) in concerns(objects) {
        files.push(OutputFile::new(format!("{concern}.yaml"), to_yaml(&group)?));
    }
    let resources: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let index = json!({
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": resources,
        // Otherwise kustomize sorts by kind.
        "sortOptions": {"order": "fifo"},
    });
    files.insert(0, OutputFile::new("kustomization.yaml", to_yaml(&[index])?));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::kustomization;

    #[test]
    fn kustomization_lists_the_files_of_all_objects() {
        let object =
            |kind: &str| json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}});
        let objects = ["Namespace", "ServiceAccount", "ClusterRole", "Deployment"].map(object);
        let files = kustomization(&objects).unwrap();
        let index: Value = serde_saphyr::from_str(&files[0].text).unwrap();
        assert_eq!(
            index["resources"],
            json!(["namespace.yaml", "rbac.yaml", "deployment.yaml"])
        );
        let mut found: Vec<Value> = Vec::new();
        for file in &files[1..] {
            found.extend(serde_saphyr::from_multiple::<Value>(&file.text).unwrap());
        }
        assert_eq!(found, objects);
    }
}
