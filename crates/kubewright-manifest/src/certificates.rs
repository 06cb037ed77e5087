//! Permissions and objects for the serving certificate of an operator's webhooks.

use kubewright_core::{Description, PolicyRule, WebhookKind};
use serde_json::{Value, json};

use crate::names::webhook_service;

/// Where the serving certificate of an operator's webhooks comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WebhookCertificates {
    /// The user puts it into the Secret `NAME-webhook`, and its authority into the configurations.
    #[default]
    Given,
    /// cert-manager issues it and injects its authority.
    CertManager,
    /// The operator issues it and updates the configurations; its roles have the permissions.
    Managed,
}

const WRITE: [&str; 2] = ["get", "patch"];

/// The cluster-wide rules for updating the CA bundle in webhook configurations and
/// CustomResourceDefinitions.
pub fn certificate_rules(description: &Description) -> Vec<PolicyRule> {
    let rule = |group: &str, resource: &str, names: Vec<String>| PolicyRule {
        api_groups: vec![group.to_owned()],
        resources: vec![resource.to_owned()],
        resource_names: names,
        verbs: WRITE.map(str::to_owned).to_vec(),
        ..PolicyRule::default()
    };
    let mut rules = Vec::new();
    for (kind, resource) in [
        (WebhookKind::Mutating, "mutatingwebhookconfigurations"),
        (WebhookKind::Validating, "validatingwebhookconfigurations"),
    ] {
        if description
            .webhooks
            .iter()
            .any(|webhook| webhook.kind == kind)
        {
            let names = vec![description.name.clone()];
            rules.push(rule("admissionregistration.k8s.io", resource, names));
        }
    }
    let converted: Vec<String> = description
        .conversions
        .iter()
        .map(|conversion| conversion.hub.qualified_name())
        .collect();
    if !converted.is_empty() {
        let (group, resource) = ("apiextensions.k8s.io", "customresourcedefinitions");
        rules.push(rule(group, resource, converted));
    }
    rules
}

/// The rules in the operator's own namespace for creating and updating the Secret of this name.
pub fn secret_rules(secret: &str) -> Vec<PolicyRule> {
    let rule = |names: &[&str], verbs: &[&str]| PolicyRule {
        api_groups: vec![String::new()],
        resources: vec!["secrets".to_owned()],
        resource_names: names.iter().map(|&name| name.to_owned()).collect(),
        verbs: verbs.iter().map(|&verb| verb.to_owned()).collect(),
        ..PolicyRule::default()
    };
    // `create` cannot be restricted to a name.
    vec![rule(&[], &["create"]), rule(&[secret], &["get", "update"])]
}

/// The Role and RoleBinding for the Secret in the operator's own namespace.
pub(crate) fn certificate_objects(operator: &str, namespace: &str, labels: &Value) -> Vec<Value> {
    let name = webhook_service(operator);
    vec![
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "metadata": {"name": name, "namespace": namespace, "labels": labels},
            "rules": secret_rules(&name),
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": name, "namespace": namespace, "labels": labels},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": operator, "namespace": namespace}],
        }),
    ]
}

/// The Issuer and Certificate for cert-manager.
pub(crate) fn cert_manager_objects(operator: &str, namespace: &str, labels: &Value) -> Vec<Value> {
    let service = webhook_service(operator);
    let host = format!("{service}.{namespace}.svc");
    vec![
        json!({
            "apiVersion": "cert-manager.io/v1",
            "kind": "Issuer",
            "metadata": {"name": service, "namespace": namespace, "labels": labels},
            "spec": {"selfSigned": {}},
        }),
        json!({
            "apiVersion": "cert-manager.io/v1",
            "kind": "Certificate",
            "metadata": {"name": service, "namespace": namespace, "labels": labels},
            "spec": {
                "dnsNames": [host, format!("{host}.cluster.local")],
                "issuerRef": {"kind": "Issuer", "name": service},
                "privateKey": {"algorithm": "ECDSA", "size": 256},
                "secretName": service,
            },
        }),
    ]
}

/// Adds the annotation that makes cert-manager inject the CA bundle.
pub(crate) fn inject_ca(configuration: &mut Value, operator: &str, namespace: &str) {
    let certificate = format!("{namespace}/{}", webhook_service(operator));
    configuration["metadata"]["annotations"] =
        json!({"cert-manager.io/inject-ca-from": certificate});
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{cert_manager_objects, inject_ca};

    #[test]
    fn certificate_and_secret_are_named_after_the_service() {
        let objects = cert_manager_objects("web", "tools", &json!({}));
        let certificate = &objects[1];
        assert_eq!(certificate["spec"]["secretName"], "web-webhook");
        assert_eq!(certificate["spec"]["dnsNames"][0], "web-webhook.tools.svc");
        let mut configuration = json!({"metadata": {"name": "web"}});
        inject_ca(&mut configuration, "web", "tools");
        assert_eq!(
            configuration["metadata"]["annotations"],
            json!({"cert-manager.io/inject-ca-from": "tools/web-webhook"})
        );
    }
}
