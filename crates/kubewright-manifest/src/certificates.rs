use serde_json::{Value, json};

use crate::webhooks::webhook_service;

/// Who makes the certificate that an operator's webhooks are served with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WebhookCertificates {
    /// The one who installs the operator puts it into the Secret `NAME-webhook`, and its authority
    /// into the configurations.
    #[default]
    Given,
    /// cert-manager does both.
    CertManager,
}

/// What cert-manager needs to make the certificate.
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

/// What makes cert-manager write the authority into a configuration.
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
