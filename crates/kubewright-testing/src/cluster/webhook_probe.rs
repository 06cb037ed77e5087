//! Waits until webhook configurations take effect.

use kubewright_core::{Description, WebhookKind};
use serde_json::json;

use super::backend::Backend;
use super::handle::Cluster;
use crate::Error;

impl Cluster {
    /// Waits until the server calls the webhooks of an operator.
    ///
    /// A real server learns of configurations by watching them, in order: once a configuration
    /// that was created later has an effect, the earlier ones have one too.
    pub(super) async fn wait_for_webhooks(&self, description: &Description) -> Result<(), Error> {
        if matches!(self.shared.backend, Backend::Embedded(_)) {
            return Ok(());
        }
        for (kind, plural) in [
            (WebhookKind::Mutating, "mutatingwebhookconfigurations"),
            (WebhookKind::Validating, "validatingwebhookconfigurations"),
        ] {
            let mut webhooks = description.webhooks.iter();
            if webhooks.any(|webhook| webhook.kind == kind) {
                self.probe_webhooks(plural).await?;
            }
        }
        Ok(())
    }

    async fn probe_webhooks(&self, plural: &str) -> Result<(), Error> {
        let path = format!("/apis/admissionregistration.k8s.io/v1/{plural}");
        let operation = format!("wait until {plural} have an effect");
        let label = json!({"kubewright.dev/probe": self.namespace});
        let name = format!("probe-{}", self.namespace);
        let configuration = json!({
            "metadata": {"name": name},
            "webhooks": [{
                "name": "probe.kubewright.dev",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "timeoutSeconds": 1,
                // No process listens on this port: each call fails, and with it the request.
                "clientConfig": {"url": "https://127.0.0.1:1/"},
                "objectSelector": {"matchLabels": label},
                "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
                    "resources": ["configmaps"]}],
            }],
        });
        self.shared.backend.delete_at_end(&format!("{path}/{name}"));
        self.send("POST", &path, &configuration)
            .await
            .map_err(Error::request(&operation))?;
        let probe = json!({"metadata": {"name": "probe", "labels": label}});
        let create = format!(
            "/api/v1/namespaces/{}/configmaps?dryRun=All",
            self.namespace
        );
        self.until(&operation, async || {
            let is_denied = self.send("POST", &create, &probe).await.is_err();
            Ok((!is_denied).then(|| "the webhook was not called".to_owned()))
        })
        .await?;
        self.send("DELETE", &format!("{path}/{name}"), &json!({}))
            .await
            .map(drop)
            .map_err(Error::request(&operation))
    }
}
