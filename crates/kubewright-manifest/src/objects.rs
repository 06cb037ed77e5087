//! The objects that a cluster needs before an operator can run.

use kubewright_core::Description;
use serde_json::{Value, json};

use crate::certificates::{WebhookCertificates, certificate_objects, certificate_rules};
use crate::crd::tidy_crd;
use crate::names::labels;
use crate::options::{ManifestOptions, WebhookUse, namespace_of};
use crate::policies::policy_objects;
use crate::roles::roles;
use crate::webhooks::{set_conversion, webhook_objects};
use crate::without_webhooks::without_webhook_calls;

/// The objects that a cluster needs before the operator can run: its Namespace, the
/// CustomResourceDefinitions, a ServiceAccount bound to roles with exactly the rules of the
/// description, for webhooks a Service and their configurations, and the policies.
///
/// The objects are in an order in which they can be created.
pub fn objects(description: &Description, options: &ManifestOptions) -> Vec<Value> {
    if options.webhooks == WebhookUse::Off && description.serves() {
        return objects(&without_webhook_calls(description), options);
    }
    let name = description.name.as_str();
    let namespace = namespace_of(description, options);
    let labels = labels(description);
    let is_managed = options.certificates == WebhookCertificates::Managed && description.serves();
    let certificate_rules = if is_managed {
        certificate_rules(description)
    } else {
        Vec::new()
    };
    let mut objects = vec![json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": namespace, "labels": labels},
    })];
    objects.extend(description.custom_resources.iter().map(|crd| {
        let mut definition = tidy_crd(crd);
        add_labels(&mut definition, &labels);
        set_conversion(&mut definition, description, &namespace, options);
        definition
    }));
    objects.push(json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
    }));
    objects.extend(roles(description, &namespace, certificate_rules));
    if is_managed {
        objects.extend(certificate_objects(name, &namespace, &labels));
    }
    objects.extend(webhook_objects(description, &namespace, options));
    objects.extend(policy_objects(description, &namespace));
    objects
}

/// Adds labels that the definition does not have.
fn add_labels(crd: &mut Value, labels: &Value) {
    let mut merged = labels.clone();
    if let (Some(merged), Some(own)) = (
        merged.as_object_mut(),
        crd["metadata"]["labels"].as_object(),
    ) {
        merged.extend(own.clone());
    }
    crd["metadata"]["labels"] = merged;
}

#[cfg(test)]
mod tests {
    use kubewright_core::{ControllerDescription, Description, Kind, Resource, Scope};
    use serde_json::json;

    use super::{ManifestOptions, objects};

    fn description() -> Description {
        let set = Resource::new(Kind::new("ex.io", "v1", "Set"), "sets", Scope::Namespaced);
        Description {
            name: "sets".to_owned(),
            controllers: vec![ControllerDescription {
                name: "set".to_owned(),
                resource: set,
                uses: Vec::new(),
            }],
            custom_resources: vec![json!({
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": "sets.ex.io", "labels": {"team": "a"}},
                "spec": {"group": "ex.io", "versions": []},
            })],
            ..Description::default()
        }
    }

    #[test]
    fn objects_are_in_an_order_in_which_they_can_be_created() {
        let kinds: Vec<_> = objects(&description(), &ManifestOptions::default())
            .iter()
            .map(|object| object["kind"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(
            kinds,
            [
                "Namespace",
                "CustomResourceDefinition",
                "ServiceAccount",
                "ClusterRole",
                "ClusterRoleBinding"
            ]
        );
    }

    #[test]
    fn service_account_is_in_the_namespace_of_the_options() {
        let options = ManifestOptions {
            namespace: Some("tools".to_owned()),
            ..ManifestOptions::default()
        };
        let in_tools = objects(&description(), &options);
        assert_eq!(in_tools[0]["metadata"]["name"], "tools");
        assert_eq!(in_tools[2]["metadata"]["namespace"], "tools");
        assert_eq!(
            in_tools[4]["subjects"],
            json!([{"kind": "ServiceAccount", "name": "sets", "namespace": "tools"}])
        );
        let by_default = objects(&description(), &ManifestOptions::default());
        assert_eq!(by_default[0]["metadata"]["name"], "sets-system");
    }

    #[test]
    fn role_has_the_rules_of_the_description() {
        let objects = objects(&description(), &ManifestOptions::default());
        assert_eq!(
            objects[3]["rules"],
            json!([
                {"apiGroups": ["ex.io"], "resources": ["sets"], "verbs": ["get", "list", "watch"]},
                {"apiGroups": ["ex.io"], "resources": ["sets/status"], "verbs": ["patch"]},
            ])
        );
    }

    #[test]
    fn labels_of_the_definition_are_kept() {
        let objects = objects(&description(), &ManifestOptions::default());
        assert_eq!(
            objects[1]["metadata"]["labels"],
            json!({"app.kubernetes.io/name": "sets", "team": "a"})
        );
    }
}
