//! The Deployment of an operator, and the objects beside it.

use std::collections::BTreeSet;

use kubewright_core::Description;
use serde_json::{Value, json};

use crate::certificates::WebhookCertificates;
use crate::components::{Component, component_object};
use crate::metrics::metrics_objects;
use crate::names::{METRICS_PORT, PROBES_PORT, WEBHOOK_PORT, labels, webhook_service};
use crate::options::{ManifestOptions, WebhookUse, namespace_of};
use crate::without_webhooks::without_webhook_calls;

/// The objects that run the operator in a cluster, besides those of [objects](crate::objects): a
/// Deployment, the Service and roles for its metrics, roles for the users of its kinds, and the
/// components in the options.
///
/// The Pod meets the restricted Pod security standard. Two replicas are never active at once:
/// without leader election there is one, and the old one stops before a new one starts.
pub fn deployment(description: &Description, options: &ManifestOptions, image: &str) -> Vec<Value> {
    if options.webhooks == WebhookUse::Off && description.serves() {
        return deployment(&without_webhook_calls(description), options, image);
    }
    let name = description.name.as_str();
    let labels = labels(description);
    let namespace = namespace_of(description, options);
    let mut objects = user_roles(description);
    objects.extend(metrics_objects(description, &namespace));
    // The options may list a component twice.
    let components: BTreeSet<Component> = options.components.iter().copied().collect();
    for component in components {
        objects.push(component_object(component, description, &namespace));
    }
    let strategy = match description.lease {
        Some(_) => "RollingUpdate",
        None => "Recreate",
    };
    objects.push(json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": labels,
        },
        "spec": {
            "replicas": 1,
            "strategy": {"type": strategy},
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {
                    "labels": labels,
                    "annotations": {"kubectl.kubernetes.io/default-container": "operator"},
                },
                "spec": pod(description, options, image),
            },
        },
    }));
    objects
}

fn pod(description: &Description, options: &ManifestOptions, image: &str) -> Value {
    let field = |path: &str| json!({"fieldRef": {"fieldPath": path}});
    let mut pod = json!({
        "serviceAccountName": description.name,
        // Requests and reconciles in flight can complete: the program waits for at most 30 s.
        "terminationGracePeriodSeconds": 40,
        "securityContext": {
            "runAsNonRoot": true,
            "runAsUser": 65532,
            "runAsGroup": 65532,
            "fsGroup": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [{
            "name": "operator",
            "image": image,
            "args": arguments(description, options),
            "ports": [
                {"name": "probes", "containerPort": PROBES_PORT, "protocol": "TCP"},
                {"name": "metrics", "containerPort": METRICS_PORT, "protocol": "TCP"},
            ],
            "livenessProbe": {
                "httpGet": {"path": "/healthz", "port": "probes"},
                "initialDelaySeconds": 15,
                "periodSeconds": 20,
            },
            "readinessProbe": {
                "httpGet": {"path": "/readyz", "port": "probes"},
                "initialDelaySeconds": 5,
                "periodSeconds": 10,
            },
            "env": [
                {"name": "POD_NAME", "valueFrom": field("metadata.name")},
                {"name": "POD_NAMESPACE", "valueFrom": field("metadata.namespace")},
            ],
            "resources": {
                "requests": {"cpu": "10m", "memory": "32Mi"},
                "limits": {"memory": "128Mi"},
            },
            "securityContext": {
                "allowPrivilegeEscalation": false,
                "capabilities": {"drop": ["ALL"]},
                "readOnlyRootFilesystem": true,
            },
        }],
    });
    if description.serves() {
        let port = json!({"name": "webhook", "containerPort": WEBHOOK_PORT, "protocol": "TCP"});
        push(&mut pod["containers"][0]["ports"], port);
        match options.certificates {
            WebhookCertificates::Managed => {
                let flag = json!("--managed-certificates");
                push(&mut pod["containers"][0]["args"], flag);
            }
            _ => mount_certificate(&mut pod, &webhook_service(&description.name)),
        }
    }
    pod
}

fn arguments(description: &Description, options: &ManifestOptions) -> Vec<String> {
    let mut arguments = vec![
        "run".to_owned(),
        format!("--health-probe-bind-address=:{PROBES_PORT}"),
        format!("--metrics-bind-address=:{METRICS_PORT}"),
    ];
    if description.lease.is_some() {
        arguments.push("--leader-elect".to_owned());
    }
    if description.uses_policy_fallbacks {
        arguments.push("--no-policies".to_owned());
    }
    if options.webhooks == WebhookUse::Off {
        arguments.push("--no-webhooks".to_owned());
    }
    arguments
}

fn push(list: &mut Value, item: Value) {
    if let Some(items) = list.as_array_mut() {
        items.push(item);
    }
}

/// Mounts the Secret with the webhooks' certificate, which has the name of the Service.
fn mount_certificate(pod: &mut Value, secret: &str) {
    const FOLDER: &str = "/var/run/webhook-certificate";
    let container = &mut pod["containers"][0];
    push(
        &mut container["args"],
        json!(format!("--webhook-certs={FOLDER}")),
    );
    container["volumeMounts"] =
        json!([{"name": "webhook-certificate", "mountPath": FOLDER, "readOnly": true}]);
    pod["volumes"] = json!([{
        "name": "webhook-certificate",
        "secret": {"secretName": secret, "defaultMode": 0o440},
    }]);
}

/// For each kind of the operator an admin, an editor and a viewer role. There are no bindings.
fn user_roles(description: &Description) -> Vec<Value> {
    const EDIT: [&str; 7] = [
        "create", "delete", "get", "list", "patch", "update", "watch",
    ];
    let roles: [(&str, &[&str]); 3] = [
        ("admin", &["*"]),
        ("editor", &EDIT),
        ("viewer", &["get", "list", "watch"]),
    ];
    let mut objects = Vec::new();
    for crd in &description.custom_resources {
        let (group, names) = (&crd["spec"]["group"], &crd["spec"]["names"]);
        let plural = names["plural"].as_str().unwrap_or_default();
        let kind = names["kind"].as_str().unwrap_or_default().to_lowercase();
        for (role, verbs) in roles {
            objects.push(json!({
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRole",
                "metadata": {
                    "name": format!("{}-{kind}-{role}", description.name),
                    "labels": labels(description),
                },
                "rules": [
                    {"apiGroups": [group], "resources": [plural], "verbs": verbs},
                    {"apiGroups": [group], "resources": [format!("{plural}/status")], "verbs": ["get"]},
                ],
            }));
        }
    }
    objects
}

#[cfg(test)]
mod tests {
    use kubewright_core::Description;
    use serde_json::json;

    use super::deployment;
    use crate::{Component, ManifestOptions};

    fn description() -> Description {
        Description {
            name: "web".to_owned(),
            custom_resources: vec![json!({
                "metadata": {"name": "sites.ex.io"},
                "spec": {"group": "ex.io", "names": {"plural": "sites", "kind": "Site"}},
            })],
            ..Description::default()
        }
    }

    #[test]
    fn pod_runs_the_image_as_non_root_with_the_operators_account() {
        let objects = deployment(&description(), &ManifestOptions::default(), "r/web:1");
        let deployment = objects.last().unwrap();
        assert_eq!(deployment["metadata"]["namespace"], "web-system");
        let template = &deployment["spec"]["template"];
        assert_eq!(
            template["metadata"]["labels"],
            deployment["spec"]["selector"]["matchLabels"]
        );
        assert_eq!(template["spec"]["serviceAccountName"], "web");
        assert_eq!(template["spec"]["securityContext"]["runAsNonRoot"], true);
        assert_eq!(template["spec"]["containers"][0]["image"], "r/web:1");
    }

    #[test]
    fn each_kind_has_three_roles_for_its_users() {
        let objects = deployment(&description(), &ManifestOptions::default(), "r/web:1");
        let names: Vec<_> = objects
            .iter()
            .map(|object| object["metadata"]["name"].clone())
            .collect();
        assert_eq!(
            names,
            [
                "web-site-admin",
                "web-site-editor",
                "web-site-viewer",
                "web-metrics-auth",
                "web-metrics-auth",
                "web-metrics-reader",
                "web-metrics",
                "web"
            ]
        );
        assert_eq!(
            objects[2]["rules"],
            json!([
                {"apiGroups": ["ex.io"], "resources": ["sites"], "verbs": ["get", "list", "watch"]},
                {"apiGroups": ["ex.io"], "resources": ["sites/status"], "verbs": ["get"]},
            ])
        );
    }

    #[test]
    fn components_are_included_only_when_the_options_list_them() {
        let kinds = |components: &[Component]| {
            let options = ManifestOptions {
                components: components.to_vec(),
                ..ManifestOptions::default()
            };
            let objects = deployment(&description(), &options, "r/web:1");
            objects
                .iter()
                .map(|object| object["kind"].clone())
                .collect::<Vec<_>>()
        };
        let mut expected = kinds(&[]);
        let optional = ["NetworkPolicy", "ServiceMonitor", "PodDisruptionBudget"];
        assert!(optional.iter().all(|kind| !expected.contains(&json!(kind))));
        let last = expected.pop();
        expected.extend(optional.map(|kind| json!(kind)));
        expected.extend(last);
        assert_eq!(kinds(&Component::ALL), expected, "before the Deployment");
        let twice = [Component::ALL, Component::ALL].concat();
        assert_eq!(kinds(&twice), expected, "each of them once");
    }

    #[test]
    fn deployment_rolls_only_with_leader_election() {
        let options = ManifestOptions::default();
        let mut description = description();
        let strategy_and_container = |description: &Description| {
            let objects = deployment(description, &options, "r/web:1");
            let spec = objects.last().unwrap()["spec"].clone();
            let container = spec["template"]["spec"]["containers"][0].clone();
            (spec["strategy"]["type"].clone(), container)
        };
        let (strategy, container) = strategy_and_container(&description);
        assert_eq!(strategy, "Recreate");
        assert_eq!(
            container["args"],
            json!([
                "run",
                "--health-probe-bind-address=:8081",
                "--metrics-bind-address=:8443"
            ])
        );
        assert_eq!(container["readinessProbe"]["httpGet"]["path"], "/readyz");
        description.lease = Some("web".to_owned());
        let (elected_strategy, elected) = strategy_and_container(&description);
        assert_eq!(elected_strategy, "RollingUpdate");
        assert_eq!(elected["args"][3], "--leader-elect");
        description.uses_policy_fallbacks = true;
        let (_, with_fallbacks) = strategy_and_container(&description);
        assert_eq!(with_fallbacks["args"][4], "--no-policies");
    }
}
