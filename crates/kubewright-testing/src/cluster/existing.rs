//! An existing cluster, which a test leaves as it was.

use std::fmt;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use http::{Method, Request};
use kube::client::ClientBuilder;
use kube::config::AuthInfo;
use kube::{Client, Config};
use kubewright::client::honor_no_proxy;
use kubewright_apiserver::User;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};

use super::forbidden::ForbiddenRequests;
use super::webhook_address::is_loopback;
use crate::faults::FaultLayer;
use crate::{Error, NodeChoice, OperatorChoice, Settings};

/// The label of each object that a test creates outside of its namespace. Objects without it are
/// never changed.
pub(super) const LABEL: &str = "kubewright.dev/test";

/// The user in errors of clients that authenticate as the kubeconfig does.
const KUBECONFIG_USER: &str = "of the current kubeconfig";
const POLL_INTERVAL: Duration = Duration::from_millis(100);
const DELETE_TIMEOUT: Duration = Duration::from_secs(120);

/// Tests share the definitions and roles of an operator, so that they run one after the other.
static RUNNING: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(1)));

/// The cluster of the current kubeconfig, which outlives the test.
pub(super) struct Existing {
    config: Box<Config>,
    kubeconfig: Option<PathBuf>,
    /// The paths of the objects that the test created outside of its namespace, in their order.
    created: Mutex<Vec<String>>,
    operator: OperatorChoice,
    nodes: NodeChoice,
    webhook_host: Option<String>,
    /// Whether the test has used an operator that the cluster runs.
    has_run: AtomicBool,
    _permit: OwnedSemaphorePermit,
}

impl Existing {
    /// Waits until no other test uses the cluster, and reads the kubeconfig.
    pub(super) async fn start(settings: &Settings) -> Result<Self, Error> {
        let permit = Arc::clone(&RUNNING).acquire_owned().await;
        let permit = permit.map_err(|_| Error::Unsupported {
            operation: "use an existing cluster".to_owned(),
            reason: "the process is ending",
        })?;
        let mut config = Config::infer()
            .await
            .map_err(Error::client(KUBECONFIG_USER))?;
        honor_no_proxy(&mut config);
        Ok(Self {
            config: Box::new(config),
            kubeconfig: settings.kubeconfig.clone(),
            created: Mutex::default(),
            operator: settings.operator,
            nodes: settings.nodes,
            webhook_host: settings.webhook_host.clone(),
            has_run: AtomicBool::new(false),
            _permit: permit,
        })
    }

    /// The name or address by which the cluster reaches this machine.
    pub(super) fn webhook_host(&self) -> Result<String, Error> {
        if let Some(host) = &self.webhook_host {
            return Ok(host.clone());
        }
        let server = self.config.cluster_url.host().unwrap_or_default();
        if is_loopback(server) {
            return Ok(Ipv4Addr::LOCALHOST.to_string());
        }
        Err(Error::Unsupported {
            operation: format!("serve webhooks to the cluster at {server}"),
            reason: "the address of this machine for the cluster is unknown; set \
                     KUBEWRIGHT_TEST_WEBHOOK_HOST",
        })
    }

    /// Whether a test may add nodes.
    pub(super) fn simulates_nodes(&self) -> bool {
        self.nodes == NodeChoice::Simulated
    }

    /// Whether the cluster runs the operator under test.
    pub(super) fn runs_operator(&self) -> bool {
        self.operator == OperatorChoice::Deployed
    }

    /// Whether this is the first call.
    pub(super) fn is_first_run(&self) -> bool {
        !self.has_run.swap(true, Ordering::Relaxed)
    }

    /// Deletes the object at `path`, which the test created, when the test ends.
    pub(super) fn delete_at_end(&self, path: &str) {
        let mut created = self.created.lock();
        if !created.iter().any(|known| known == path) {
            created.push(path.to_owned());
        }
    }

    pub(super) fn kubeconfig(&self) -> Result<PathBuf, Error> {
        self.kubeconfig.clone().ok_or_else(|| Error::Unsupported {
            operation: "find the kubeconfig of the existing cluster".to_owned(),
            reason: "neither KUBECONFIG nor HOME is set",
        })
    }

    /// A client that authenticates as the user of the kubeconfig for the administrator, by a token
    /// for a ServiceAccount, and by impersonation for other users.
    pub(super) async fn client(
        &self,
        user: &User,
        namespace: &str,
        forbidden: &ForbiddenRequests,
        fault_layer: &FaultLayer,
    ) -> Result<Client, Error> {
        let mut config = Config::clone(&self.config);
        namespace.clone_into(&mut config.default_namespace);
        if let Some((namespace, name)) = user.as_service_account() {
            config.auth_info = self.token(namespace, name).await?;
        } else if *user != User::admin() {
            config.auth_info.impersonate = Some(user.name.clone());
            config.auth_info.impersonate_groups = Some(user.groups.clone());
        }
        let builder = ClientBuilder::try_from(config).map_err(Error::client(&user.name))?;
        Ok(builder
            .with_layer(forbidden)
            .with_layer(fault_layer)
            .build())
    }

    async fn token(&self, namespace: &str, name: &str) -> Result<AuthInfo, Error> {
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token");
        let request = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": { "expirationSeconds": 3600 },
        });
        let operation = format!("request a token of ServiceAccount {namespace}/{name}");
        let response = self.send(&operation, Method::POST, &path, &request).await?;
        let token = json!({ "token": response["status"]["token"] });
        serde_json::from_value(token).map_err(Error::client(name))
    }

    /// Deletes the object at `path` when the test ends. Fails if the object exists already and no
    /// test created it.
    pub(super) async fn claim(&self, object: &str, path: &str) -> Result<(), Error> {
        let operation = format!("check whether a test created {object}");
        let found = self.send(&operation, Method::GET, path, &Value::Null).await;
        match found {
            Ok(found) if found["metadata"]["labels"][LABEL].is_string() => {}
            Ok(_) => {
                return Err(Error::Unsupported {
                    operation: format!("install {object}"),
                    reason: "the existing cluster has one already that no test created; remove it, \
                             or run the tests on another cluster",
                });
            }
            Err(error) if is_not_found(&error) => {}
            Err(error) => return Err(error),
        }
        self.delete_at_end(path);
        Ok(())
    }

    /// Deletes the objects that the test created in reverse order, and waits until they are gone.
    /// Nodes are the last: their simulated kubelets have to delete the Pods on them.
    pub(super) async fn clean_up(&self) -> Result<(), Error> {
        let created = std::mem::take(&mut *self.created.lock());
        let (nodes, others): (Vec<String>, Vec<String>) =
            created.into_iter().partition(|path| is_node(path));
        let deleted = self.delete_all(&others).await;
        deleted.and(self.delete_all(&nodes).await)
    }

    /// Deletes objects in reverse order. Continues after an error, and returns the first one.
    async fn delete_all(&self, paths: &[String]) -> Result<(), Error> {
        let mut result = Ok(());
        for path in paths.iter().rev() {
            let operation = format!("delete {path}");
            let deleted = self
                .send(&operation, Method::DELETE, path, &json!({}))
                .await;
            result = result.and(match deleted {
                Err(error) if !is_not_found(&error) => Err(error),
                _ => Ok(()),
            });
        }
        for path in paths.iter().rev() {
            result = result.and(self.wait_until_gone(path).await);
        }
        result
    }

    async fn wait_until_gone(&self, path: &str) -> Result<(), Error> {
        let start = Instant::now();
        loop {
            let operation = format!("check whether {path} is gone");
            match self.send(&operation, Method::GET, path, &Value::Null).await {
                Err(error) if is_not_found(&error) => return Ok(()),
                Err(error) => return Err(error),
                Ok(_) if start.elapsed() >= DELETE_TIMEOUT => {
                    return Err(Error::Timeout {
                        condition: format!("{path} to be gone"),
                        elapsed: start.elapsed(),
                        last: "still there".to_owned(),
                    });
                }
                Ok(_) => sleep(POLL_INTERVAL).await,
            }
        }
    }

    async fn send(
        &self,
        operation: &str,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Result<Value, Error> {
        let client = Client::try_from(Config::clone(&self.config))
            .map_err(Error::client(KUBECONFIG_USER))?;
        let body = match body {
            Value::Null => Vec::new(),
            body => body.to_string().into_bytes(),
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", "application/json")
            .body(body)
            .map_err(Error::client(KUBECONFIG_USER))?;
        let response = client.request::<Value>(request).await;
        response.map_err(Error::request(operation))
    }
}

fn is_node(path: &str) -> bool {
    path.starts_with("/api/v1/nodes/")
}

fn is_not_found(error: &Error) -> bool {
    let Error::Request { source, .. } = error else {
        return false;
    };
    matches!(&**source, kube::Error::Api(status) if status.code == 404)
}

impl fmt::Debug for Existing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Existing")
            .field("server", &self.config.cluster_url)
            .finish_non_exhaustive()
    }
}
