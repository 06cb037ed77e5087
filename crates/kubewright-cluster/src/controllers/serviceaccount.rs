//! The service account controller: every namespace has the ServiceAccount `default`.

use kubewright_apiserver::store::Key;
use kubewright_kinds::core;
use kubewright_wire::status::Status;
use serde_json::json;

use crate::framework::{Client, ControlLoop, ObjectChange, SERVICE_ACCOUNTS, Step, WorkQueue};

/// The account that Pods run as unless they name another.
const DEFAULT_ACCOUNT: &str = "default";

/// Creates the ServiceAccount `default` of each namespace.
#[derive(Debug, Default)]
pub(crate) struct ServiceAccountController {
    namespaces: WorkQueue<String>,
}

impl ControlLoop for ServiceAccountController {
    fn observe(&mut self, change: &ObjectChange<'_>) {
        let is_deleted = change.after.is_none();
        let key = change.key;
        if key.is_of(&core::NAMESPACE) && change.before.is_none() {
            self.namespaces.add(key.name().to_owned());
        }
        let is_default = key.is_of(&core::SERVICE_ACCOUNT) && key.name() == DEFAULT_ACCOUNT;
        if let Some(namespace) = key.namespace().filter(|_| is_default && is_deleted) {
            self.namespaces.add(namespace.to_owned());
        }
    }

    async fn step(&mut self, client: &Client) -> Step {
        let Some(namespace) = self.namespaces.pop() else {
            return self.namespaces.idle();
        };
        let result = ensure_account(client, &namespace).await;
        self.namespaces.finish(namespace, result);
        Step::Worked
    }
}

async fn ensure_account(client: &Client, namespace: &str) -> Result<(), Status> {
    let found = client
        .store()
        .get(&Key::of(&core::NAMESPACE, None, namespace));
    if found.is_none_or(|namespace| namespace.is_terminating()) {
        return Ok(());
    }
    let key = Key::of(&core::SERVICE_ACCOUNT, Some(namespace), DEFAULT_ACCOUNT);
    if client.store().get(&key).is_some() {
        return Ok(());
    }
    let account = json!({
        "apiVersion": "v1",
        "kind": core::SERVICE_ACCOUNT.kind,
        "metadata": {"name": DEFAULT_ACCOUNT, "namespace": namespace},
    });
    // A conflict means that the account exists: `finish` takes it for success.
    let created = client.create(&SERVICE_ACCOUNTS, Some(namespace), account);
    created.await.map(drop)
}
