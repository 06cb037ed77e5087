use kubewright_wire::status::Status;
use serde_json::json;

use super::client::{CONFIG_MAPS, SERVICE_ACCOUNTS};
use super::{Client, Controller, Event, Step, Work};
use kubewright_apiserver::store::Key;

const ACCOUNT: &str = "default";
const CERTIFICATE: &str = "kube-root-ca.crt";
const DESCRIPTION: &str = "Contains a CA bundle that can be used to verify the kube-apiserver \
     when using internal endpoints such as the internal service IP or kubernetes.default.svc. \
     No other usage is guaranteed across distributions of Kubernetes clusters.";

/// Keeps in every namespace the account that Pods run as unless they name another, and the
/// certificate by which they know the server.
#[derive(Debug)]
pub(super) struct Accounts {
    certificate: String,
    namespaces: Work<String>,
}

impl Accounts {
    pub(super) fn new(certificate: String) -> Self {
        Self {
            certificate,
            namespaces: Work::default(),
        }
    }

    async fn ensure(&self, cluster: &Client, namespace: &str) -> Result<(), Status> {
        let found = cluster
            .store()
            .get(&Key::new("namespaces", None, namespace));
        if found.is_none_or(|namespace| namespace.is_terminating()) {
            return Ok(());
        }
        let is_missing = |resource: &str, name: &str| {
            let key = Key::new(resource, Some(namespace), name);
            cluster.store().get(&key).is_none()
        };
        if is_missing("serviceaccounts", ACCOUNT) {
            let account = json!({
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": {"name": ACCOUNT, "namespace": namespace},
            });
            let made = cluster.create(&SERVICE_ACCOUNTS, Some(namespace), account);
            unless_there(made.await)?;
        }
        let publisher = "system:serviceaccount:kube-system:root-ca-cert-publisher";
        let publisher = cluster.acting_as(publisher);
        let key = Key::new("configmaps", Some(namespace), CERTIFICATE);
        let data = json!({"ca.crt": self.certificate});
        let Some(map) = cluster.store().get(&key) else {
            let map = json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {
                    "name": CERTIFICATE,
                    "namespace": namespace,
                    "annotations": {"kubernetes.io/description": DESCRIPTION},
                },
                "data": data,
            });
            let made = publisher.create(&CONFIG_MAPS, Some(namespace), map);
            return unless_there(made.await);
        };
        if map.value()["data"] == data {
            return Ok(());
        }
        let operations = json!([{"op": "add", "path": "/data", "value": data}]);
        let changed = publisher.json_patch(&CONFIG_MAPS, &map, operations);
        changed.await
    }
}

/// What somebody else made in the meantime is there as well.
fn unless_there(made: Result<(), Status>) -> Result<(), Status> {
    match made {
        Err(failure) if failure.code == 409 => Ok(()),
        other => other,
    }
}

impl Controller for Accounts {
    fn observe(&mut self, event: &Event<'_>) {
        let is_gone = event.now.is_none();
        let namespace = match (event.key.resource(), event.key.name()) {
            ("namespaces", name) if event.before.is_none() => Some(name),
            ("serviceaccounts", ACCOUNT) if is_gone => event.key.namespace(),
            ("configmaps", CERTIFICATE) => event.key.namespace(),
            _ => None,
        };
        if let Some(namespace) = namespace {
            self.namespaces.add(namespace.to_owned());
        }
    }

    async fn step(&mut self, cluster: &Client) -> Step {
        let Some(namespace) = self.namespaces.next() else {
            return self.namespaces.idle();
        };
        let result = self.ensure(cluster, &namespace).await;
        self.namespaces.settle(namespace, result);
        Step::Worked
    }
}
