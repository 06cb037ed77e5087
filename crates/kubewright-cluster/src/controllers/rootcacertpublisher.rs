//! The root CA certificate publisher: every namespace has the ConfigMap `kube-root-ca.crt`.

use kubewright_apiserver::store::Key;
use kubewright_kinds::core;
use kubewright_wire::status::Status;
use serde_json::json;

use crate::framework::{CONFIG_MAPS, Client, ControlLoop, ObjectChange, Step, WorkQueue};

const CONFIG_MAP: &str = "kube-root-ca.crt";
const DESCRIPTION: &str = "Contains a CA bundle that can be used to verify the kube-apiserver \
     when using internal endpoints such as the internal service IP or kubernetes.default.svc. \
     No other usage is guaranteed across distributions of Kubernetes clusters.";

/// Publishes in each namespace the certificate by which Pods verify the API server.
#[derive(Debug)]
pub(crate) struct RootCaCertPublisher {
    certificate_pem: String,
    namespaces: WorkQueue<String>,
}

impl RootCaCertPublisher {
    pub(crate) fn new(certificate_pem: String) -> Self {
        Self {
            certificate_pem,
            namespaces: WorkQueue::default(),
        }
    }

    async fn publish(&self, client: &Client, namespace: &str) -> Result<(), Status> {
        let found = client
            .store()
            .get(&Key::of(&core::NAMESPACE, None, namespace));
        if found.is_none_or(|namespace| namespace.is_terminating()) {
            return Ok(());
        }
        let data = json!({"ca.crt": self.certificate_pem});
        let key = Key::of(&core::CONFIG_MAP, Some(namespace), CONFIG_MAP);
        let Some(map) = client.store().get(&key) else {
            let map = json!({
                "apiVersion": "v1",
                "kind": core::CONFIG_MAP.kind,
                "metadata": {
                    "name": CONFIG_MAP,
                    "namespace": namespace,
                    "annotations": {"kubernetes.io/description": DESCRIPTION},
                },
                "data": data,
            });
            // A conflict means that the ConfigMap exists: the next change of it is observed.
            let created = client.create(&CONFIG_MAPS, Some(namespace), map);
            return created.await.map(drop);
        };
        if map.value()["data"] == data {
            return Ok(());
        }
        let operations = json!([{"op": "add", "path": "/data", "value": data}]);
        client.json_patch(&CONFIG_MAPS, &map, operations).await
    }
}

impl ControlLoop for RootCaCertPublisher {
    fn observe(&mut self, change: &ObjectChange<'_>) {
        let key = change.key;
        if key.is_of(&core::NAMESPACE) && change.before.is_none() {
            self.namespaces.add(key.name().to_owned());
        }
        let is_published = key.is_of(&core::CONFIG_MAP) && key.name() == CONFIG_MAP;
        if let Some(namespace) = key.namespace().filter(|_| is_published) {
            self.namespaces.add(namespace.to_owned());
        }
    }

    async fn step(&mut self, client: &Client) -> Step {
        let Some(namespace) = self.namespaces.pop() else {
            return self.namespaces.idle();
        };
        let result = self.publish(client, &namespace).await;
        self.namespaces.finish(namespace, result);
        Step::Worked
    }
}
