//! The defaults of sets and of their containers.

use k8s_openapi::api::core::v1::{Container, HTTPGetAction, LifecycleHandler, Probe, Volume};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubewright::prelude::*;

use crate::hash::{spec_hash, spec_hash_without_image};
use crate::pod_annotations::{HASH_ANNOTATION, HASH_WITHOUT_IMAGE_ANNOTATION};
use crate::{
    PatchPolicy, PodInjectPolicy, RevisionPolicy, SharePolicy, SidecarContainer, SidecarSet,
    UpdateType, UpgradeType,
};

/// How many versions are kept by default.
const DEFAULT_HISTORY_LIMIT: i32 = 10;
/// The mode of files in volumes: read and write for the owner, read for all.
const FILE_MODE: i32 = 0o644;

/// Sets the defaults of OpenKruise, those of Kubernetes for containers
/// (`k8s.io/kubernetes/pkg/apis/core/v1/defaults.go`), and the hashes.
///
/// With the defaults of containers, a set can be compared with Pods that have its containers.
pub fn fill_in(set: &mut SidecarSet) {
    let spec = &mut set.spec;
    for init_container in &mut spec.init_containers {
        sidecar(init_container, PodInjectPolicy::AfterAppContainer);
    }
    for container in &mut spec.containers {
        sidecar(container, PodInjectPolicy::BeforeAppContainer);
    }
    spec.volumes.iter_mut().for_each(volume);
    let update = &mut spec.update_strategy;
    let is_rolling =
        *update.update_type.get_or_insert(UpdateType::RollingUpdate) == UpdateType::RollingUpdate;
    if is_rolling {
        update.partition.get_or_insert(IntOrString::Int(0));
        update.max_unavailable.get_or_insert(IntOrString::Int(1));
    }
    if let Some(revision) = &mut spec.injection_strategy.revision {
        revision.policy.get_or_insert(RevisionPolicy::Always);
    }
    spec.revision_history_limit
        .get_or_insert(DEFAULT_HISTORY_LIMIT);
    for patch in &mut spec.patch_pod_metadata {
        patch.patch_policy.get_or_insert(PatchPolicy::Retain);
    }
    let hashes = [
        (HASH_ANNOTATION, spec_hash(set)),
        (HASH_WITHOUT_IMAGE_ANNOTATION, spec_hash_without_image(set)),
    ]
    .map(|(key, hash)| (key.to_owned(), hash));
    set.annotations_mut().extend(hashes);
}

fn sidecar(sidecar: &mut SidecarContainer, policy: PodInjectPolicy) {
    container(&mut sidecar.container);
    sidecar.pod_inject_policy.get_or_insert(policy);
    let upgrade = &mut sidecar.upgrade_strategy.upgrade_type;
    upgrade.get_or_insert(UpgradeType::ColdUpgrade);
    sidecar
        .share_volume_policy
        .share
        .get_or_insert(SharePolicy::Disabled);
    for transfer in &mut sidecar.transfer_env {
        let from = transfer.source_container_name_from.as_mut();
        if let Some(field) = from.and_then(|from| from.field_ref.as_mut()) {
            set_if_none(&mut field.api_version, "v1");
        }
    }
}

fn volume(volume: &mut Volume) {
    if let Some(secret) = &mut volume.secret {
        secret.default_mode.get_or_insert(FILE_MODE);
    }
    if let Some(config_map) = &mut volume.config_map {
        config_map.default_mode.get_or_insert(FILE_MODE);
    }
    if let Some(downward_api) = &mut volume.downward_api {
        downward_api.default_mode.get_or_insert(FILE_MODE);
    }
    if let Some(projected) = &mut volume.projected {
        projected.default_mode.get_or_insert(FILE_MODE);
    }
    if let Some(path) = &mut volume.host_path {
        set_if_none(&mut path.type_, "");
    }
}

fn container(container: &mut Container) {
    let pull_policy = pull_policy(container.image.as_deref().unwrap_or_default());
    set_if_none(&mut container.image_pull_policy, pull_policy);
    set_if_none(
        &mut container.termination_message_path,
        "/dev/termination-log",
    );
    set_if_none(&mut container.termination_message_policy, "File");
    for port in container.ports.iter_mut().flatten() {
        set_if_none(&mut port.protocol, "TCP");
    }
    for variable in container.env.iter_mut().flatten() {
        let source = variable.value_from.as_mut();
        if let Some(field) = source.and_then(|source| source.field_ref.as_mut()) {
            set_if_none(&mut field.api_version, "v1");
        }
    }
    container.liveness_probe.iter_mut().for_each(probe);
    container.readiness_probe.iter_mut().for_each(probe);
    container.startup_probe.iter_mut().for_each(probe);
    if let Some(lifecycle) = &mut container.lifecycle {
        lifecycle.post_start.iter_mut().for_each(handler);
        lifecycle.pre_stop.iter_mut().for_each(handler);
    }
}

/// Images that may change under the same name are always pulled.
fn pull_policy(image: &str) -> &'static str {
    if image.contains('@') {
        return "IfNotPresent";
    }
    let name = image.rsplit('/').next().unwrap_or_default();
    match name.split_once(':') {
        None | Some((_, "latest")) => "Always",
        Some(_) => "IfNotPresent",
    }
}

fn probe(probe: &mut Probe) {
    probe.timeout_seconds.get_or_insert(1);
    probe.period_seconds.get_or_insert(10);
    probe.success_threshold.get_or_insert(1);
    probe.failure_threshold.get_or_insert(3);
    probe.http_get.iter_mut().for_each(http_get);
    if let Some(grpc) = &mut probe.grpc {
        set_if_none(&mut grpc.service, "");
    }
}

fn handler(handler: &mut LifecycleHandler) {
    handler.http_get.iter_mut().for_each(http_get);
}

fn http_get(action: &mut HTTPGetAction) {
    set_if_none(&mut action.path, "/");
    set_if_none(&mut action.scheme, "HTTP");
}

fn set_if_none(field: &mut Option<String>, default: &str) {
    field.get_or_insert_with(|| default.to_owned());
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::fill_in;
    use crate::SidecarSet;

    /// Returns a container with its defaults, without the fields that only sets have.
    fn with_defaults(container: Value) -> Value {
        let set = json!({
            "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
            "metadata": {"name": "s"}, "spec": {"containers": [container]},
        });
        let mut set: SidecarSet = serde_json::from_value(set).unwrap();
        fill_in(&mut set);
        let once = set.clone();
        fill_in(&mut set);
        assert_eq!(set.spec, once.spec, "defaulting again changes the set");
        let mut container = serde_json::to_value(&set).unwrap()["spec"]["containers"][0].clone();
        let fields = container.as_object_mut().unwrap();
        assert_eq!(
            fields.remove("podInjectPolicy"),
            Some(json!("BeforeAppContainer"))
        );
        let upgrade = json!({"upgradeType": "ColdUpgrade"});
        assert_eq!(fields.remove("upgradeStrategy"), Some(upgrade));
        let share = json!({"type": "disabled"});
        assert_eq!(fields.remove("shareVolumePolicy"), Some(share));
        container
    }

    #[test]
    fn set_gets_the_defaults_of_openkruise() {
        let set = json!({
            "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
            "metadata": {"name": "s"},
            "spec": {
                "initContainers": [{"name": "i", "image": "i:1"}],
                "containers": [{"name": "c", "image": "i:1"}],
                "volumes": [{"name": "v", "secret": {"secretName": "x"}},
                            {"name": "h", "hostPath": {"path": "/"}}],
                "injectionStrategy": {"revision": {"revisionName": "s-1"}},
                "patchPodMetadata": [{"annotations": {"a": "b"}}],
            },
        });
        let mut set: SidecarSet = serde_json::from_value(set).unwrap();
        fill_in(&mut set);
        let spec = serde_json::to_value(&set.spec).unwrap();
        for (path, expected) in [
            (
                "/initContainers/0/podInjectPolicy",
                json!("AfterAppContainer"),
            ),
            ("/volumes/0/secret/defaultMode", json!(420)),
            ("/volumes/1/hostPath/type", json!("")),
            (
                "/updateStrategy",
                json!({"type": "RollingUpdate", "partition": 0, "maxUnavailable": 1}),
            ),
            ("/injectionStrategy/revision/policy", json!("Always")),
            ("/patchPodMetadata/0/patchPolicy", json!("Retain")),
            ("/revisionHistoryLimit", json!(10)),
        ] {
            assert_eq!(spec.pointer(path), Some(&expected), "{path}");
        }
        let hashes = set.metadata.annotations.unwrap();
        assert_eq!(hashes.len(), 2);
        assert_ne!(
            hashes["kruise.io/sidecarset-hash"],
            hashes["kruise.io/sidecarset-hash-without-image"]
        );
    }

    #[test]
    fn container_gets_the_defaults_of_kubernetes() {
        assert_eq!(
            with_defaults(json!({
                "name": "a", "image": "log:1",
                "ports": [{"containerPort": 80}],
                "env": [{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
                "livenessProbe": {"httpGet": {"port": 80}},
                "lifecycle": {"preStop": {"httpGet": {"port": 80}}},
            })),
            json!({
                "name": "a", "image": "log:1", "imagePullPolicy": "IfNotPresent",
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
                "ports": [{"containerPort": 80, "protocol": "TCP"}],
                "env": [{"name": "N", "valueFrom": {"fieldRef":
                    {"apiVersion": "v1", "fieldPath": "metadata.name"}}}],
                "livenessProbe": {
                    "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
                    "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1,
                    "failureThreshold": 3,
                },
                "lifecycle": {"preStop": {"httpGet": {"port": 80, "path": "/", "scheme": "HTTP"}}},
            })
        );
    }

    #[test]
    fn images_without_a_fixed_tag_are_always_pulled() {
        for (image, expected) in [
            ("log", "Always"),
            ("log:latest", "Always"),
            ("host:5000/log", "Always"),
            ("host:5000/log:1", "IfNotPresent"),
            ("log@sha256:0", "IfNotPresent"),
        ] {
            let container = with_defaults(json!({"name": "a", "image": image}));
            assert_eq!(container["imagePullPolicy"], expected, "{image}");
        }
        let explicit =
            with_defaults(json!({"name": "a", "image": "log", "imagePullPolicy": "Never"}));
        assert_eq!(explicit["imagePullPolicy"], "Never");
    }
}
