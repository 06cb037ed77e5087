use k8s_openapi::api::core::v1::{Container, HTTPGetAction, LifecycleHandler, Probe};

use crate::SidecarSet;

/// Gives the containers of a set what the API server gives those of a Pod, so that a set and the
/// Pods that have its containers can be compared.
///
/// Kubernetes' own defaults: `k8s.io/kubernetes/pkg/apis/core/v1/defaults.go`.
pub fn fill_in(set: &mut SidecarSet) {
    for sidecar in &mut set.spec.containers {
        container(&mut sidecar.container);
    }
}

fn container(container: &mut Container) {
    let pull_policy = pull_policy(container.image.as_deref().unwrap_or_default());
    or(&mut container.image_pull_policy, pull_policy);
    or(
        &mut container.termination_message_path,
        "/dev/termination-log",
    );
    or(&mut container.termination_message_policy, "File");
    for port in container.ports.iter_mut().flatten() {
        or(&mut port.protocol, "TCP");
    }
    for variable in container.env.iter_mut().flatten() {
        let source = variable.value_from.as_mut();
        if let Some(field) = source.and_then(|source| source.field_ref.as_mut()) {
            or(&mut field.api_version, "v1");
        }
    }
    for one in [
        &mut container.liveness_probe,
        &mut container.readiness_probe,
        &mut container.startup_probe,
    ] {
        one.iter_mut().for_each(probe);
    }
    if let Some(lifecycle) = &mut container.lifecycle {
        for one in [&mut lifecycle.post_start, &mut lifecycle.pre_stop] {
            one.iter_mut().for_each(handler);
        }
    }
}

/// What changes without its name changing is fetched each time.
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
        or(&mut grpc.service, "");
    }
}

fn handler(handler: &mut LifecycleHandler) {
    handler.http_get.iter_mut().for_each(http_get);
}

fn http_get(action: &mut HTTPGetAction) {
    or(&mut action.path, "/");
    or(&mut action.scheme, "HTTP");
}

fn or(field: &mut Option<String>, default: &str) {
    field.get_or_insert_with(|| default.to_owned());
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::fill_in;
    use crate::SidecarSet;

    fn filled(container: Value) -> Value {
        let set = json!({
            "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
            "metadata": {"name": "s"}, "spec": {"containers": [container]},
        });
        let mut set: SidecarSet = serde_json::from_value(set).unwrap();
        fill_in(&mut set);
        let once = set.clone();
        fill_in(&mut set);
        assert_eq!(set.spec, once.spec, "filling in twice differs");
        serde_json::to_value(&set).unwrap()["spec"]["containers"][0].clone()
    }

    #[test]
    fn a_container_gets_what_a_pods_container_gets() {
        assert_eq!(
            filled(json!({
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
    fn images_that_may_change_are_always_pulled() {
        for (image, wanted) in [
            ("log", "Always"),
            ("log:latest", "Always"),
            ("host:5000/log", "Always"),
            ("host:5000/log:1", "IfNotPresent"),
            ("log@sha256:0", "IfNotPresent"),
        ] {
            let container = filled(json!({"name": "a", "image": image}));
            assert_eq!(container["imagePullPolicy"], wanted, "{image}");
        }
        let kept = filled(json!({"name": "a", "image": "log", "imagePullPolicy": "Never"}));
        assert_eq!(kept["imagePullPolicy"], "Never");
    }
}
