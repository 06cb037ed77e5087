use kubewright_core::Description;
use serde_json::{Value, json};

use crate::certificates::{certificate_objects, certificate_rules};
use crate::policies::policy_objects;
use crate::roles::roles;
use crate::webhooks::{conversion, webhook_objects};
use crate::without_webhooks::uncalled;
use crate::{Component, WebhookCertificates, tidy_crd};

/// What the same operator's manifests may differ in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManifestOptions {
    /// Where the operator runs; `NAME-system` when none is given.
    pub namespace: Option<String>,
    /// Whether webhooks are called at all.
    pub webhooks: WebhookUse,
    /// Where webhooks are called instead of their Service, such as `https://127.0.0.1:9443`.
    pub webhook_url: Option<String>,
    /// The authority (PEM) that signed the webhooks' certificate.
    pub webhook_ca: Option<String>,
    /// Who makes the webhooks' certificate.
    pub certificates: WebhookCertificates,
    /// What comes with the Deployment beside what it needs.
    pub components: Vec<Component>,
}

/// Whether the API server calls an operator that has something to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WebhookUse {
    /// It does, as the description says.
    #[default]
    Wired,
    /// It does not: nothing that it would need is printed, and of kinds that the operator converts
    /// only the stored version is served. What fails closed would stop every write otherwise.
    Off,
}

/// What a cluster needs before the operator can run: its Namespace, the CustomResourceDefinitions,
/// a ServiceAccount bound to roles with exactly the rules of the description, for webhooks a
/// Service and their configurations, and the policies.
///
/// The order is one in which the objects can be created.
pub fn objects(description: &Description, options: &ManifestOptions) -> Vec<Value> {
    if options.webhooks == WebhookUse::Off && description.serves() {
        return objects(&uncalled(description), options);
    }
    let name = description.name.as_str();
    let namespace = namespace_of(description, options);
    let labels = labels(description);
    let is_managed = options.certificates == WebhookCertificates::Managed && description.serves();
    let further = match is_managed {
        true => certificate_rules(description),
        false => Vec::new(),
    };
    let mut objects = vec![json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": namespace, "labels": labels},
    })];
    objects.extend(description.custom_resources.iter().map(|crd| {
        let mut crd = tidy_crd(crd);
        add_labels(&mut crd, &labels);
        conversion(&mut crd, description, &namespace, options);
        crd
    }));
    objects.push(json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
    }));
    objects.extend(roles(description, &namespace, further));
    if is_managed {
        objects.extend(certificate_objects(name, &namespace, &labels));
    }
    objects.extend(webhook_objects(description, &namespace, options));
    objects.extend(policy_objects(description, &namespace));
    objects
}

/// Where the operator runs.
pub(crate) fn namespace_of(description: &Description, options: &ManifestOptions) -> String {
    match &options.namespace {
        Some(namespace) => namespace.clone(),
        None => format!("{}-system", description.name),
    }
}

/// What all objects of the operator carry.
pub(crate) fn labels(description: &Description) -> Value {
    json!({"app.kubernetes.io/name": description.name})
}

/// Labels that the user gave the definition win.
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
    fn kinds_come_in_an_order_that_can_be_created() {
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
    fn the_account_lives_in_the_chosen_namespace_and_is_bound_there() {
        let options = ManifestOptions {
            namespace: Some("tools".to_owned()),
            ..ManifestOptions::default()
        };
        let objects = objects(&description(), &options);
        assert_eq!(objects[0]["metadata"]["name"], "tools");
        assert_eq!(objects[2]["metadata"]["namespace"], "tools");
        assert_eq!(
            objects[4]["subjects"],
            json!([{"kind": "ServiceAccount", "name": "sets", "namespace": "tools"}])
        );
        let elsewhere = super::objects(&description(), &ManifestOptions::default());
        assert_eq!(elsewhere[0]["metadata"]["name"], "sets-system");
    }

    #[test]
    fn the_role_has_the_rules_of_the_description() {
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
