//! The mutation of the benchmarks `inject` and `webhook`.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, EnvVar, Pod, Volume};
use serde::Deserialize;

use crate::checksum::checksum;

/// The annotation with the names of the injected containers.
const INJECTED: &str = "bench.kubewright.dev/injected";

/// The containers and volumes that the subjects of `inject` and `webhook` add to Pods. The Go
/// subjects implement the same mutation.
#[derive(Clone, Debug, Deserialize)]
pub struct Sidecars {
    name: String,
    selector: BTreeMap<String, String>,
    before: Vec<Container>,
    after: Vec<Container>,
    volumes: Vec<Volume>,
}

impl Sidecars {
    /// Adds the containers and volumes to a Pod. Idempotent.
    pub fn inject(&self, mut pod: Pod) -> Pod {
        let labels = pod.metadata.labels.get_or_insert_default();
        let mut selector = self.selector.iter();
        let is_selected = selector.all(|(key, value)| labels.get(key) == Some(value));
        let annotations = pod.metadata.annotations.get_or_insert_default();
        if !is_selected || annotations.contains_key(INJECTED) {
            return pod;
        }
        let all = || self.before.iter().chain(&self.after);
        let names: Vec<&str> = all().map(|container| container.name.as_str()).collect();
        let text = format!("{}:{}", self.name, names.join(","));
        annotations.insert(INJECTED.to_owned(), text);
        let spec = pod.spec.get_or_insert_default();
        let mut containers: Vec<Container> = self.before.iter().map(with_marker).collect();
        containers.append(&mut spec.containers);
        containers.extend(self.after.iter().map(with_marker));
        spec.containers = containers;
        let volumes = spec.volumes.get_or_insert_default();
        volumes.extend(self.volumes.iter().cloned());
        pod
    }
}

/// Adds an environment variable to a container, as many injectors do.
fn with_marker(container: &Container) -> Container {
    let mut container = container.clone();
    container.env.get_or_insert_default().push(EnvVar {
        name: "IS_INJECTED".to_owned(),
        value: Some("true".to_owned()),
        ..EnvVar::default()
    });
    container
}

/// Returns the checksum of the fields that the mutation may change: containers with their images,
/// environment variables and mounts, volumes and annotations, in order.
pub fn injected_checksum(pod: &Pod) -> u64 {
    let mut fields: Vec<&str> = Vec::new();
    let spec = pod.spec.iter();
    for container in spec.clone().flat_map(|spec| &spec.containers) {
        fields.push(&container.name);
        fields.push(container.image.as_deref().unwrap_or_default());
        for variable in container.env.iter().flatten() {
            fields.push(&variable.name);
            fields.push(variable.value.as_deref().unwrap_or_default());
        }
        let mounts = container.volume_mounts.iter().flatten();
        fields.extend(mounts.map(|mount| mount.mount_path.as_str()));
    }
    let volumes = spec.flat_map(|spec| spec.volumes.iter().flatten());
    fields.extend(volumes.map(|volume| volume.name.as_str()));
    for (key, value) in pod.metadata.annotations.iter().flatten() {
        fields.push(key);
        fields.push(value);
    }
    checksum(fields)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;

    use super::{Sidecars, injected_checksum};

    fn shared() -> (Sidecars, Pod) {
        let sidecars = include_str!("../../webhook/sidecars.json");
        let review = include_str!("../../webhook/review.json");
        let mut review: serde_json::Value = serde_json::from_str(review).unwrap();
        let pod = review["request"]["object"].take();
        (
            serde_json::from_str(sidecars).unwrap(),
            serde_json::from_value(pod).unwrap(),
        )
    }

    #[test]
    fn sidecars_are_added_once_before_and_after_the_containers() {
        let (sidecars, pod) = shared();
        let before = injected_checksum(&pod);
        let once = sidecars.inject(pod);
        let containers = &once.spec.as_ref().unwrap().containers;
        let names: Vec<_> = containers
            .iter()
            .map(|container| container.name.as_str())
            .collect();
        assert_eq!(names, ["proxy", "server", "worker", "logger"]);
        assert_ne!(injected_checksum(&once), before);
        assert_eq!(sidecars.inject(once.clone()), once);
    }

    #[test]
    fn pod_without_the_label_is_unchanged() {
        let (sidecars, mut pod) = shared();
        pod.metadata.labels = Some([("app".to_owned(), "api".to_owned())].into());
        assert_eq!(sidecars.inject(pod.clone()), pod);
    }
}
