//! Builds the container that a sidecar becomes in a Pod.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Container, EnvVar, VolumeMount};
use kubewright::prelude::*;

use super::pod_containers::{INJECTED, PodContainers, is_injected};
use super::resources::{SidecarName, resources};
use crate::{Error, SidecarContainer, SidecarSet, TransferEnv};

/// Builds the container that a sidecar becomes in this Pod.
pub(crate) fn sidecar_container(
    sidecar: &SidecarContainer,
    set: &SidecarSet,
    pod: &Pod,
) -> Result<Container, Error> {
    let mut container = sidecar.container.clone();
    let pod_containers = PodContainers::of(pod);
    if let Some(policy) = &sidecar.resources_policy {
        let name = SidecarName {
            set: &set.name_any(),
            container: &container.name,
        };
        container.resources = Some(resources(policy, pod_containers, name)?);
    }
    let app_containers = || {
        let containers = pod_containers.containers.iter();
        containers.filter(|container| !is_injected(container))
    };
    let mut env = container.env.take().unwrap_or_default();
    env.retain(|variable| variable.name != INJECTED);
    env.push(EnvVar {
        name: INJECTED.to_owned(),
        value: Some("true".to_owned()),
        ..EnvVar::default()
    });
    for transfer in &sidecar.transfer_env {
        add_env(&mut env, transferred_env(transfer, pod));
    }
    if sidecar.share_volume_policy.is_enabled() {
        for source in app_containers() {
            let mounts: Vec<_> = source.volume_mounts.iter().flatten().collect();
            add_env(&mut env, env_of_paths(&mounts, source));
            add_mounts(&mut container, mounts.into_iter().cloned());
        }
    }
    let device_policy = sidecar.share_volume_device_policy.as_ref();
    if device_policy.is_some_and(|policy| policy.is_enabled()) {
        for source in app_containers() {
            add_devices(&mut container, source);
        }
    }
    container.env = Some(env);
    Ok(container)
}

/// Adds mounts whose path is free.
pub(super) fn add_mounts(container: &mut Container, more: impl IntoIterator<Item = VolumeMount>) {
    for mount in more {
        let mounts = container.volume_mounts.get_or_insert_default();
        if mounts
            .iter()
            .all(|present| present.mount_path != mount.mount_path)
        {
            mounts.push(mount);
        }
    }
}

/// Adds the devices of another container whose path is free.
fn add_devices(container: &mut Container, source: &Container) {
    for device in source.volume_devices.iter().flatten() {
        let devices = container.volume_devices.get_or_insert_default();
        if devices
            .iter()
            .all(|present| present.device_path != device.device_path)
        {
            devices.push(device.clone());
        }
    }
}

/// Adds variables whose name is free.
fn add_env(env: &mut Vec<EnvVar>, more: impl IntoIterator<Item = EnvVar>) {
    for variable in more {
        if env.iter().all(|present| present.name != variable.name) {
            env.push(variable);
        }
    }
}

/// The variables of one of the Pod's containers that `transferEnv` names.
fn transferred_env(transfer: &TransferEnv, pod: &Pod) -> Vec<EnvVar> {
    let source_name = source_name(transfer, pod);
    let mut containers = PodContainers::of(pod).containers.iter();
    let Some(source) = containers.find(|container| container.name == source_name) else {
        return Vec::new();
    };
    let names: BTreeSet<&str> = std::iter::once(&transfer.env_name)
        .chain(&transfer.env_names)
        .map(String::as_str)
        .collect();
    let env = source.env.iter().flatten();
    env.filter(|variable| names.contains(variable.name.as_str()))
        .cloned()
        .collect()
}

fn source_name(transfer: &TransferEnv, pod: &Pod) -> String {
    if !transfer.source_container_name.is_empty() {
        return transfer.source_container_name.clone();
    }
    let from = transfer.source_container_name_from.as_ref();
    let field = from.and_then(|from| from.field_ref.as_ref());
    let path = field.map_or("", |field| field.field_path.as_str());
    let key_after = |prefix: &str| path.strip_prefix(prefix)?.strip_suffix("']");
    if let Some(key) = key_after("metadata.labels['") {
        return pod.labels().get(key).cloned().unwrap_or_default();
    }
    if let Some(key) = key_after("metadata.annotations['") {
        return pod.annotations().get(key).cloned().unwrap_or_default();
    }
    match path {
        "metadata.name" => pod.name_any(),
        _ => String::new(),
    }
}

/// The variables that the paths of these mounts refer to, such as `$(POD_NAME)/log`.
fn env_of_paths(mounts: &[&VolumeMount], source: &Container) -> Vec<EnvVar> {
    let is_used = |variable: &&EnvVar| {
        let reference = format!("$({})", variable.name);
        let mut paths = mounts
            .iter()
            .filter_map(|mount| mount.sub_path_expr.as_ref());
        paths.any(|path| path.contains(&reference))
    };
    let env = source.env.iter().flatten();
    env.filter(is_used).cloned().collect()
}

#[cfg(test)]
mod tests {
    use kubewright::prelude::*;
    use serde_json::{Value, json};

    use crate::inject::fixtures::{Case, pod_with, set_of};

    /// Returns the sidecar as it is in the Pod after the injection.
    fn injected(sidecar: Value, pod: Value) -> Value {
        let case = Case {
            sets: vec![set_of("s", json!({"containers": [sidecar]}))],
            ..Case::default()
        };
        let pod = case.inject(pod_with(pod)).unwrap();
        json!(pod.spec.unwrap().containers[0])
    }

    fn names(list: &Value, field: &str) -> Vec<String> {
        let items = list.as_array().into_iter().flatten();
        items
            .map(|item| item[field].as_str().unwrap().to_owned())
            .collect()
    }

    fn app() -> Value {
        json!({"containers": [
            {"name": "app", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"},
                                    {"name": "P", "value": "p"}],
             "volumeMounts": [{"name": "data", "mountPath": "/data", "subPathExpr": "$(P)/x"},
                              {"name": "tmp", "mountPath": "/tmp"}],
             "volumeDevices": [{"name": "disk", "devicePath": "/dev/x"}]},
        ]})
    }

    #[test]
    fn variables_of_the_sidecar_come_first_and_take_precedence() {
        let side = json!({"name": "side", "env": [{"name": "A", "value": "own"}],
            "transferEnv": [{"sourceContainerName": "app", "envName": "A", "envNames": ["B"]},
                            {"sourceContainerName": "none", "envName": "B"}]});
        let side = injected(side, app());
        assert_eq!(names(&side["env"], "name"), ["A", "IS_INJECTED", "B"]);
        assert_eq!(side["env"][0]["value"], "own");
        assert_eq!(side["env"][2]["value"], "2");
    }

    #[test]
    fn labels_and_annotations_of_the_pod_can_name_the_source_container() {
        for path in ["metadata.labels['main']", "metadata.annotations['main']"] {
            let from = json!({"fieldRef": {"fieldPath": path}});
            let side = json!({"name": "side", "transferEnv": [
                {"sourceContainerNameFrom": from, "envName": "B"}]});
            let case = Case {
                sets: vec![set_of("s", json!({"containers": [side]}))],
                ..Case::default()
            };
            let mut pod = pod_with(app());
            let main = [("main".to_owned(), "app".to_owned())];
            pod.labels_mut().extend(main.clone());
            pod.annotations_mut().extend(main);
            let pod = case.inject(pod).unwrap();
            let side = json!(pod.spec.unwrap().containers[0]);
            assert_eq!(names(&side["env"], "name"), ["IS_INJECTED", "B"], "{path}");
        }
    }

    #[test]
    fn enabled_policy_shares_mounts_with_the_variables_of_their_paths() {
        let side = json!({"name": "side", "volumeMounts": [{"name": "own", "mountPath": "/tmp"}]});
        let plain = injected(side.clone(), app());
        assert_eq!(names(&plain["volumeMounts"], "name"), ["own"]);
        let mut sharing = side;
        sharing["shareVolumePolicy"] = json!({"type": "enabled"});
        sharing["shareVolumeDevicePolicy"] = json!({"type": "enabled"});
        let side = injected(sharing, app());
        assert_eq!(names(&side["volumeMounts"], "name"), ["own", "data"]);
        assert_eq!(names(&side["env"], "name"), ["IS_INJECTED", "P"]);
        assert_eq!(names(&side["volumeDevices"], "devicePath"), ["/dev/x"]);
    }
}
