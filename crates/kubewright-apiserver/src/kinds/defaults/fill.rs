use kubewright_core::Kind;
use serde_json::{Map, Value};

use super::rules::rules;
use super::table::defaults;
use super::{pod, workload};

/// Fills in what Kubernetes fills into an object of the kind when it reads it: the defaults of
/// its fields, and what converting it to the stored form and back makes of aliases.
pub(crate) fn fill_in(kind: &Kind, object: &mut Value) {
    if let Some(members) = object.as_object_mut() {
        rules(kind, members);
    }
    if let Some(spec) = pod_spec_mut(kind, object) {
        pod::fill_spec(spec);
    }
    defaults().fill(kind, object);
    if let Some(spec) = pod_spec_mut(kind, object) {
        pod::settle_aliases(spec);
    }
    if let Some(members) = object.as_object_mut() {
        workload::settle(kind, members);
    }
}

/// Where objects of a kind hold the specification of Pods.
pub(crate) fn pod_spec_path(kind: &Kind) -> Option<&'static [&'static str]> {
    Some(match (kind.group(), kind.kind.as_str()) {
        ("", "Pod") => &["spec"],
        ("", "PodTemplate") => &["template", "spec"],
        ("", "ReplicationController")
        | ("apps", "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet")
        | ("batch", "Job") => &["spec", "template", "spec"],
        ("batch", "CronJob") => &["spec", "jobTemplate", "spec", "template", "spec"],
        _ => return None,
    })
}

fn pod_spec_mut<'a>(kind: &Kind, object: &'a mut Value) -> Option<&'a mut Map<String, Value>> {
    let mut value = object;
    for name in pod_spec_path(kind)? {
        value = value.get_mut(name)?;
    }
    value.as_object_mut()
}

/// Whether an image is named by the tag `latest`, or by none (`parsers.ParseImageName`).
pub(crate) fn image_tag_is_latest(image: &str) -> bool {
    if image.is_empty() || image.contains('@') {
        return false;
    }
    let (_, name) = image.rsplit_once('/').unwrap_or(("", image));
    match name.split_once(':') {
        Some((_, tag)) => tag == "latest",
        None => is_reference(image),
    }
}

/// What cannot be read as the name of an image has no tag.
fn is_reference(image: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-/:".contains(c);
    let upper_only_in_host = match image.split_once('/') {
        Some((host, rest)) => {
            host.chars()
                .all(|c| c.is_ascii_alphanumeric() || ".-:_".contains(c))
                && rest.chars().all(fits)
        }
        None => image.chars().all(fits),
    };
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    upper_only_in_host && edge(image.chars().next()) && edge(image.chars().last())
}

#[cfg(test)]
mod tests {
    use kubewright_core::Kind;
    use serde_json::json;

    use super::{fill_in, image_tag_is_latest};

    #[test]
    fn an_image_without_a_tag_is_the_latest() {
        for image in ["nginx", "nginx:latest", "localhost:5000/a/b", "Host/a"] {
            assert!(image_tag_is_latest(image), "{image}");
        }
        for image in [
            "nginx:1",
            "",
            "UPPER",
            "a@sha256:0",
            "localhost:5000/a:2",
            "a b",
        ] {
            assert!(!image_tag_is_latest(image), "{image}");
        }
    }

    #[test]
    fn a_template_gets_the_defaults_of_pods() {
        let mut object = json!({"spec": {"template": {"spec": {
            "containers": [{"name": "a", "image": "b", "resources": {}}],
        }}}});
        fill_in(&Kind::new("apps", "v1", "Deployment"), &mut object);
        let spec = &object["spec"]["template"]["spec"];
        assert_eq!(spec["containers"][0]["imagePullPolicy"], "Always");
        assert_eq!(spec["restartPolicy"], "Always");
        assert_eq!(object["spec"]["replicas"], 1);
        assert_eq!(
            object["spec"]["strategy"]["rollingUpdate"]["maxSurge"],
            "25%"
        );
        assert!(spec.get("enableServiceLinks").is_none());
    }
}
