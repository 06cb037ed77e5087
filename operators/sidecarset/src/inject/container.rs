use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Container, EnvVar, VolumeMount};
use kubewright::prelude::*;

use super::is_injected;
use super::pod::{INJECTED, PodParts};
use super::resources::{Whose, resources};
use crate::{Error, SidecarContainer, SidecarSet, TransferEnv};

/// The container that a sidecar becomes in this Pod.
pub(crate) fn container(
    sidecar: &SidecarContainer,
    set: &SidecarSet,
    pod: &Pod,
) -> Result<Container, Error> {
    let mut container = sidecar.container.clone();
    let parts = PodParts::of(pod);
    if let Some(policy) = &sidecar.resources_policy {
        let whose = Whose {
            set: &set.name_any(),
            container: &container.name,
        };
        container.resources = Some(resources(policy, parts, whose)?);
    }
    let own = || parts.containers.iter().filter(|one| !is_injected(one));
    let mut env = container.env.take().unwrap_or_default();
    env.retain(|one| one.name != INJECTED);
    env.push(EnvVar {
        name: INJECTED.to_owned(),
        value: Some("true".to_owned()),
        ..EnvVar::default()
    });
    for transfer in &sidecar.transfer_env {
        add_env(&mut env, transferred(transfer, pod));
    }
    if sidecar.share_volume_policy.is_enabled() {
        for other in own() {
            let mounts: Vec<_> = other.volume_mounts.iter().flatten().collect();
            add_env(&mut env, used_in_paths(&mounts, other));
            add_mounts(&mut container, mounts.into_iter().cloned());
        }
    }
    let shares_devices = sidecar.share_volume_device_policy.as_ref();
    if shares_devices.is_some_and(|policy| policy.is_enabled()) {
        for device in own().flat_map(|other| other.volume_devices.iter().flatten()) {
            let devices = container.volume_devices.get_or_insert_default();
            if devices
                .iter()
                .all(|one| one.device_path != device.device_path)
            {
                devices.push(device.clone());
            }
        }
    }
    container.env = Some(env);
    Ok(container)
}

/// Adds mounts whose place is free.
pub(super) fn add_mounts(container: &mut Container, more: impl IntoIterator<Item = VolumeMount>) {
    for mount in more {
        let mounts = container.volume_mounts.get_or_insert_default();
        if mounts.iter().all(|one| one.mount_path != mount.mount_path) {
            mounts.push(mount);
        }
    }
}

/// Adds variables whose name is free.
fn add_env(env: &mut Vec<EnvVar>, more: impl IntoIterator<Item = EnvVar>) {
    for variable in more {
        if env.iter().all(|one| one.name != variable.name) {
            env.push(variable);
        }
    }
}

/// The variables of one of the Pod's containers that a sidecar asks for.
fn transferred(transfer: &TransferEnv, pod: &Pod) -> Vec<EnvVar> {
    let source = source_name(transfer, pod);
    let parts = PodParts::of(pod);
    let mut containers = parts.containers.iter();
    let Some(source) = containers.find(|one| one.name == source) else {
        return Vec::new();
    };
    let names: BTreeSet<&str> = std::iter::once(&transfer.env_name)
        .chain(&transfer.env_names)
        .map(String::as_str)
        .collect();
    let env = source.env.iter().flatten();
    env.filter(|one| names.contains(one.name.as_str()))
        .cloned()
        .collect()
}

fn source_name(transfer: &TransferEnv, pod: &Pod) -> String {
    if !transfer.source_container_name.is_empty() {
        return transfer.source_container_name.clone();
    }
    let from = transfer.source_container_name_from.as_ref();
    let path = from.and_then(|from| from.field_ref.as_ref());
    let path = path.map_or("", |field| field.field_path.as_str());
    let keyed = |prefix: &str| {
        let key = path.strip_prefix(prefix)?.strip_suffix("']")?;
        Some(key.to_owned())
    };
    if let Some(key) = keyed("metadata.labels['") {
        return pod.labels().get(&key).cloned().unwrap_or_default();
    }
    if let Some(key) = keyed("metadata.annotations['") {
        return pod.annotations().get(&key).cloned().unwrap_or_default();
    }
    match path {
        "metadata.name" => pod.name_any(),
        _ => String::new(),
    }
}

/// The variables that paths of these mounts are made of: `$(POD_NAME)/log`.
fn used_in_paths(mounts: &[&VolumeMount], source: &Container) -> Vec<EnvVar> {
    let is_used = |variable: &&EnvVar| {
        let reference = format!("$({})", variable.name);
        let mut paths = mounts.iter().filter_map(|one| one.sub_path_expr.as_ref());
        paths.any(|path| path.contains(&reference))
    };
    let env = source.env.iter().flatten();
    env.filter(is_used).cloned().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::inject::pod::tests::{Case, pod_with, set_of};

    /// The sidecar as the Pod has it.
    fn injected(sidecar: Value, pod: Value) -> Value {
        let case = Case {
            sets: vec![set_of("s", json!({"containers": [sidecar]}))],
            ..Case::default()
        };
        let pod = case.inject(pod_with(pod)).unwrap();
        json!(pod.spec.unwrap().containers[0])
    }

    fn names(list: &Value, field: &str) -> Vec<String> {
        let list = list.as_array().cloned().unwrap_or_default();
        let name = |one: &Value| one[field].as_str().unwrap().to_owned();
        list.iter().map(name).collect()
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
    fn own_variables_come_first_and_win() {
        let side = json!({"name": "side", "env": [{"name": "A", "value": "own"}],
            "transferEnv": [{"sourceContainerName": "app", "envName": "A", "envNames": ["B"]},
                            {"sourceContainerName": "none", "envName": "B"}]});
        let side = injected(side, app());
        assert_eq!(names(&side["env"], "name"), ["A", "IS_INJECTED", "B"]);
        assert_eq!(side["env"][0]["value"], "own");
        assert_eq!(side["env"][2]["value"], "2");
    }

    #[test]
    fn the_pod_may_say_which_container_variables_come_from() {
        for path in ["metadata.labels['main']", "metadata.annotations['main']"] {
            let from = json!({"fieldRef": {"fieldPath": path}});
            let side = json!({"name": "side", "transferEnv": [
                {"sourceContainerNameFrom": from, "envName": "B"}]});
            let case = Case {
                sets: vec![set_of("s", json!({"containers": [side]}))],
                ..Case::default()
            };
            let mut pod = pod_with(app());
            let said = [("main".to_owned(), "app".to_owned())];
            pod.metadata
                .labels
                .get_or_insert_default()
                .extend(said.clone());
            pod.metadata.annotations = Some(said.into());
            let pod = case.inject(pod).unwrap();
            let side = json!(pod.spec.unwrap().containers[0]);
            assert_eq!(names(&side["env"], "name"), ["IS_INJECTED", "B"], "{path}");
        }
    }

    #[test]
    fn mounts_are_shared_only_when_asked_for_with_what_their_paths_need() {
        let side = json!({"name": "side", "volumeMounts": [{"name": "own", "mountPath": "/tmp"}]});
        let plain = injected(side.clone(), app());
        assert_eq!(names(&plain["volumeMounts"], "name"), ["own"]);
        let mut shares = side;
        shares["shareVolumePolicy"] = json!({"type": "enabled"});
        shares["shareVolumeDevicePolicy"] = json!({"type": "enabled"});
        let side = injected(shares, app());
        assert_eq!(names(&side["volumeMounts"], "name"), ["own", "data"]);
        assert_eq!(names(&side["env"], "name"), ["IS_INJECTED", "P"]);
        assert_eq!(names(&side["volumeDevices"], "devicePath"), ["/dev/x"]);
    }
}
