use serde_json::{Value, json};

use crate::output::{OutputFile, concerns};
use crate::{Error, to_yaml};

/// A folder for `kustomize build`, which gives the objects in their order and unchanged.
///
/// The image can be changed with `kustomize edit set image`, like everything else, in a
/// `kustomization.yaml` of the user's own that names this folder as its resource.
pub fn kustomization(objects: &[Value]) -> Result<Vec<OutputFile>, Error> {
    let mut files = Vec::new();
    for (concern, objects) in concerns(objects) {
        files.push(OutputFile::new(
            format!("{concern}.yaml"),
            to_yaml(&objects)?,
        ));
    }
    let resources: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let index = json!({
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": resources,
        // Otherwise kustomize sorts by kind.
        "sortOptions": {"order": "fifo"},
    });
    let index = OutputFile::new("kustomization.yaml", to_yaml(&[index])?);
    files.insert(0, index);
    Ok(files)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::kustomization;

    #[test]
    fn every_object_is_in_a_file_that_the_index_names() {
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
