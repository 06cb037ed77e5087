//! The Service and configurations of an operator's webhooks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubewright_core::{
    ConversionDescription, Description, Reinvocation, WebhookDescription, WebhookKind,
};
use serde_json::{Value, json};

use crate::certificates::{WebhookCertificates, cert_manager_objects, inject_ca};
use crate::matching::{Selected, named_expression};
use crate::names::{WEBHOOK_PORT, webhook_service};
use crate::options::ManifestOptions;

/// The Service and the configurations of an operator's webhooks; empty when it has none.
pub(crate) fn webhook_objects(
    description: &Description,
    namespace: &str,
    options: &ManifestOptions,
) -> Vec<Value> {
    if !description.serves() {
        return Vec::new();
    }
    let name = description.name.as_str();
    let labels = json!({"app.kubernetes.io/name": name});
    let mut objects = Vec::new();
    if options.webhook_url.is_none() {
        objects.push(json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": webhook_service(name), "namespace": namespace, "labels": labels},
            "spec": {
                "ports": [{"name": "webhook", "port": 443, "protocol": "TCP", "targetPort": WEBHOOK_PORT}],
                "selector": labels,
            },
        }));
    }
    if options.certificates == WebhookCertificates::CertManager {
        objects.extend(cert_manager_objects(name, namespace, &labels));
    }
    for (kind, configuration_kind) in [
        (WebhookKind::Mutating, "MutatingWebhookConfiguration"),
        (WebhookKind::Validating, "ValidatingWebhookConfiguration"),
    ] {
        let webhooks: Vec<Value> = description
            .webhooks
            .iter()
            .filter(|webhook| webhook.kind == kind)
            .map(|webhook| entry(webhook, name, namespace, options))
            .collect();
        if !webhooks.is_empty() {
            let mut configuration = json!({
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": configuration_kind,
                "metadata": {"name": name, "labels": labels},
                "webhooks": webhooks,
            });
            if options.certificates == WebhookCertificates::CertManager {
                inject_ca(&mut configuration, name, namespace);
            }
            objects.push(configuration);
        }
    }
    objects
}

fn entry(
    webhook: &WebhookDescription,
    operator: &str,
    namespace: &str,
    options: &ManifestOptions,
) -> Value {
    let resource = &webhook.resource;
    let operations: Vec<&str> = webhook
        .operations
        .iter()
        .map(|operation| operation.as_str())
        .collect();
    let resources = match &webhook.subresource {
        Some(subresource) => format!("{}/{subresource}", resource.plural),
        None => resource.plural.clone(),
    };
    let mut entry = json!({
        "name": webhook.name,
        "admissionReviewVersions": ["v1"],
        "clientConfig": client_config(&webhook.path, operator, namespace, options),
        "failurePolicy": webhook.failure_policy,
        "rules": [{
            "apiGroups": [resource.kind.group()],
            "apiVersions": [resource.kind.version()],
            "operations": operations,
            "resources": [resources],
        }],
        "sideEffects": webhook.side_effects,
        "timeoutSeconds": webhook.timeout.as_secs(),
    });
    if webhook.reinvocation == Reinvocation::IfNeeded && webhook.kind == WebhookKind::Mutating {
        entry["reinvocationPolicy"] = json!(webhook.reinvocation);
    }
    let selected = Selected {
        resource,
        namespaces: &webhook.namespaces,
        objects: &webhook.objects,
        exemption: webhook.exemption,
    };
    selected.add_selectors(&mut entry, namespace);
    if !webhook.conditions.is_empty() {
        entry["matchConditions"] = webhook.conditions.iter().map(named_expression).collect();
    }
    entry
}

/// Sets the conversion webhook of a definition, if the operator converts its kind.
pub(crate) fn set_conversion(
    definition: &mut Value,
    description: &Description,
    namespace: &str,
    options: &ManifestOptions,
) {
    let name = definition["metadata"]["name"].as_str().unwrap_or_default();
    if description.conversion_of(name).is_none() {
        return;
    }
    let operator = description.name.as_str();
    let client = client_config(ConversionDescription::PATH, operator, namespace, options);
    definition["spec"]["conversion"] = json!({
        "strategy": "Webhook",
        "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]},
    });
    if options.certificates == WebhookCertificates::CertManager {
        inject_ca(definition, operator, namespace);
    }
}

fn client_config(path: &str, operator: &str, namespace: &str, options: &ManifestOptions) -> Value {
    let mut client = match &options.webhook_url {
        Some(base) => json!({"url": format!("{}{path}", base.trim_end_matches('/'))}),
        None => json!({"service": {
            "name": webhook_service(operator),
            "namespace": namespace,
            "path": path,
        }}),
    };
    if let Some(pem) = &options.webhook_ca {
        client["caBundle"] = json!(STANDARD.encode(pem));
    }
    client
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kubewright_core::{
        Description, Exemption, FailurePolicy, Kind, LabelSelector, NamedExpression, Operation,
        Reinvocation, Resource, Scope, SideEffects, WebhookDescription, WebhookKind,
    };
    use serde_json::json;

    use super::webhook_objects;
    use crate::ManifestOptions;

    fn description(kind: Kind, plural: &str, webhook: WebhookKind) -> Description {
        Description {
            name: "sets".to_owned(),
            webhooks: vec![WebhookDescription {
                name: "vset-v1.sets.ex.io".to_owned(),
                kind: webhook,
                path: WebhookDescription::default_path(webhook, &kind),
                exemption: match kind.group() {
                    "" => Exemption::SystemNamespaces,
                    _ => Exemption::Nothing,
                },
                resource: Resource::new(kind, plural, Scope::Namespaced),
                subresource: None,
                operations: vec![Operation::Create, Operation::Update],
                failure_policy: FailurePolicy::Fail,
                timeout: Duration::from_secs(5),
                side_effects: SideEffects::None,
                reinvocation: Reinvocation::Never,
                objects: LabelSelector::default(),
                namespaces: "team=a".parse().unwrap(),
                conditions: vec![NamedExpression {
                    name: "small".to_owned(),
                    expression: "object.spec.size < 9".to_owned(),
                }],
                reads: Vec::new(),
            }],
            ..Description::default()
        }
    }

    #[test]
    fn webhook_is_called_through_its_service() {
        let description = description(
            Kind::new("ex.io", "v1", "Set"),
            "sets",
            WebhookKind::Validating,
        );
        let objects = webhook_objects(&description, "tools", &ManifestOptions::default());
        let kinds: Vec<_> = objects.iter().map(|object| &object["kind"]).collect();
        assert_eq!(kinds, ["Service", "ValidatingWebhookConfiguration"]);
        assert_eq!(objects[0]["metadata"]["namespace"], "tools");
        assert_eq!(
            objects[1]["webhooks"][0],
            json!({
                "name": "vset-v1.sets.ex.io",
                "admissionReviewVersions": ["v1"],
                "clientConfig": {"service": {
                    "name": "sets-webhook", "namespace": "tools", "path": "/validate-ex-io-v1-set",
                }},
                "failurePolicy": "Fail",
                "rules": [{"apiGroups": ["ex.io"], "apiVersions": ["v1"],
                    "operations": ["CREATE", "UPDATE"], "resources": ["sets"]}],
                "sideEffects": "None",
                "timeoutSeconds": 5,
                "namespaceSelector": {"matchLabels": {"team": "a"}},
                "matchConditions": [{"name": "small", "expression": "object.spec.size < 9"}],
            })
        );
    }

    #[test]
    fn rule_of_a_subresource_does_not_match_the_object() {
        let mut description = description(
            Kind::new("ex.io", "v1", "Set"),
            "sets",
            WebhookKind::Validating,
        );
        description.webhooks[0].subresource = Some("status".to_owned());
        let objects = webhook_objects(&description, "tools", &ManifestOptions::default());
        let rule = &objects[1]["webhooks"][0]["rules"][0];
        assert_eq!(rule["resources"], json!(["sets/status"]));
    }

    #[test]
    fn webhook_for_pods_exempts_the_system_namespaces() {
        let description = description(Kind::new("", "v1", "Pod"), "pods", WebhookKind::Mutating);
        let options = ManifestOptions {
            webhook_url: Some("https://127.0.0.1:7/".to_owned()),
            webhook_ca: Some("CA".to_owned()),
            ..ManifestOptions::default()
        };
        let objects = webhook_objects(&description, "tools", &options);
        assert_eq!(objects.len(), 1, "no Service is needed for a url");
        let webhook = &objects[0]["webhooks"][0];
        assert_eq!(
            webhook["namespaceSelector"],
            json!({"matchLabels": {"team": "a"}, "matchExpressions": [{
                "key": "kubernetes.io/metadata.name", "operator": "NotIn",
                "values": ["kube-system", "tools"],
            }]})
        );
        assert_eq!(
            webhook["clientConfig"],
            json!({"url": "https://127.0.0.1:7/mutate--v1-pod", "caBundle": "Q0E="})
        );
    }
}
