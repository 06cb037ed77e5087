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

use super::reach::is_loopback;
use super::refusals::Refusals;
use crate::faults::Door;
use crate::{Error, NodeChoice, OperatorChoice, Settings};

/// What each object carries that a test installs outside its namespace: what does not carry it is
/// somebody else's, and refused.
pub(super) const LABEL: &str = "kubewright.dev/test";

const POLL: Duration = Duration::from_millis(100);
const GONE_WITHIN: Duration = Duration::from_secs(120);

/// Tests share the definitions and roles of an operator: one at a time.
static TURN: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(1)));

/// A cluster that was there before and stays: that of the current kubeconfig.
pub(super) struct Existing {
    config: Box<Config>,
    kubeconfig: Option<PathBuf>,
    /// The paths of what the test has made outside its namespace, in their order.
    made: Mutex<Vec<String>>,
    operator: OperatorChoice,
    nodes: NodeChoice,
    webhook_host: Option<String>,
    /// Whether the test has asked for an operator that the cluster runs.
    has_run: AtomicBool,
    _turn: OwnedSemaphorePermit,
}

impl Existing {
    /// Waits for its turn, and reads where the cluster is.
    pub(super) async fn start(settings: &Settings) -> Result<Self, Error> {
        let turn = Arc::clone(&TURN).acquire_owned().await;
        let turn = turn.map_err(|_| Error::Unsupported {
            asked: "use an existing cluster".to_owned(),
            why: "the process is ending",
        })?;
        let mut config = Config::infer().await.map_err(|source| Error::Client {
            user: "of the current kubeconfig".to_owned(),
            source: source.into(),
        })?;
        honor_no_proxy(&mut config);
        Ok(Self {
            config: Box::new(config),
            kubeconfig: settings.kubeconfig.clone(),
            made: Mutex::default(),
            operator: settings.operator,
            nodes: settings.nodes,
            webhook_host: settings.webhook_host.clone(),
            has_run: AtomicBool::new(false),
            _turn: turn,
        })
    }

    /// By which name or address the cluster reaches this machine.
    pub(super) fn webhook_host(&self) -> Result<String, Error> {
        if let Some(host) = &self.webhook_host {
            return Ok(host.clone());
        }
        let server = self.config.cluster_url.host().unwrap_or_default();
        match is_loopback(server) {
            true => Ok(Ipv4Addr::LOCALHOST.to_string()),
            false => Err(Error::Unsupported {
                asked: format!("serve webhooks to the cluster at {server}"),
                why: "how it reaches this machine is not known; say so by \
                      KUBEWRIGHT_TEST_WEBHOOK_HOST",
            }),
        }
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

    /// Removes what stands at `path` when the test ends: it has made it.
    pub(super) fn remember(&self, path: &str) {
        let mut made = self.made.lock();
        if !made.iter().any(|one| one == path) {
            made.push(path.to_owned());
        }
    }

    pub(super) fn kubeconfig(&self) -> Result<PathBuf, Error> {
        self.kubeconfig.clone().ok_or_else(|| Error::Unsupported {
            asked: "name the kubeconfig of the existing cluster".to_owned(),
            why: "neither KUBECONFIG nor HOME is set",
        })
    }

    /// Calls as the kubeconfig's own user for the administrator, by a token for a ServiceAccount,
    /// by impersonation for others.
    pub(super) async fn client(
        &self,
        user: &User,
        namespace: &str,
        refusals: &Refusals,
        door: &Door,
    ) -> Result<Client, Error> {
        let mut config = Config::clone(&self.config);
        namespace.clone_into(&mut config.default_namespace);
        if let Some((namespace, name)) = user.as_service_account() {
            config.auth_info = self.token(namespace, name).await?;
        } else if *user != User::admin() {
            config.auth_info.impersonate = Some(user.name.clone());
            config.auth_info.impersonate_groups = Some(user.groups.clone());
        }
        let builder = ClientBuilder::try_from(config).map_err(|source| Error::Client {
            user: user.name.clone(),
            source: source.into(),
        })?;
        Ok(builder.with_layer(refusals).with_layer(door).build())
    }

    async fn token(&self, namespace: &str, name: &str) -> Result<AuthInfo, Error> {
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token");
        let request = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": { "expirationSeconds": 3600 },
        });
        let tried = format!("ask for a token of ServiceAccount {namespace}/{name}");
        let answer = self.send(&tried, Method::POST, &path, &request).await?;
        let token = json!({ "token": answer["status"]["token"] });
        serde_json::from_value(token).map_err(|source| Error::Client {
            user: name.to_owned(),
            source: source.into(),
        })
    }

    /// Makes sure that what stands at `path`, if anything does, is a test's, and that it goes with
    /// this one.
    pub(super) async fn claim(&self, what: &str, path: &str) -> Result<(), Error> {
        let tried = format!("look whether {what} is somebody's");
        let found = self.send(&tried, Method::GET, path, &Value::Null).await;
        match found {
            Ok(object) if object["metadata"]["labels"][LABEL].is_string() => {}
            Ok(_) => {
                return Err(Error::Unsupported {
                    asked: format!("install {what}"),
                    why: "the existing cluster has one already that no test has made; remove it, \
                          or run the tests on another cluster",
                });
            }
            Err(error) if is_missing(&error) => {}
            Err(error) => return Err(error),
        }
        self.remember(path);
        Ok(())
    }

    /// Removes what the test has made, the last first, and waits until it is gone. Nodes go after
    /// all else: whoever plays their kubelets has to see the Pods on them go.
    pub(super) async fn clean_up(&self) -> Result<(), Error> {
        let made = std::mem::take(&mut *self.made.lock());
        let (nodes, others): (Vec<String>, Vec<String>) =
            made.into_iter().partition(|path| is_node(path));
        let removed = self.remove_all(&others).await;
        removed.and(self.remove_all(&nodes).await)
    }

    /// Goes on after a failure, which it answers in the end: what can go goes.
    async fn remove_all(&self, made: &[String]) -> Result<(), Error> {
        let mut removed = Ok(());
        for path in made.iter().rev() {
            let tried = format!("remove {path}");
            let deleted = self.send(&tried, Method::DELETE, path, &json!({})).await;
            removed = removed.and(match deleted {
                Err(error) if !is_missing(&error) => Err(error),
                _ => Ok(()),
            });
        }
        for path in made.iter().rev() {
            removed = removed.and(self.gone(path).await);
        }
        removed
    }

    async fn gone(&self, path: &str) -> Result<(), Error> {
        let start = Instant::now();
        loop {
            let tried = format!("look whether {path} is gone");
            match self.send(&tried, Method::GET, path, &Value::Null).await {
                Err(error) if is_missing(&error) => return Ok(()),
                Err(error) => return Err(error),
                Ok(_) if start.elapsed() >= GONE_WITHIN => {
                    return Err(Error::Waited {
                        what: format!("{path} to go"),
                        waited: start.elapsed(),
                        last: "still there".to_owned(),
                    });
                }
                Ok(_) => sleep(POLL).await,
            }
        }
    }

    async fn send(
        &self,
        tried: &str,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Result<Value, Error> {
        let of_user = |source: Box<dyn std::error::Error + Send + Sync>| Error::Client {
            user: "of the current kubeconfig".to_owned(),
            source,
        };
        let client = Client::try_from(Config::clone(&self.config));
        let client = client.map_err(|source| of_user(source.into()))?;
        let body = match body {
            Value::Null => Vec::new(),
            body => body.to_string().into_bytes(),
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", "application/json")
            .body(body)
            .map_err(|source| of_user(source.into()))?;
        let answer = client.request::<Value>(request).await;
        answer.map_err(|source| Error::Request {
            tried: tried.to_owned(),
            source: Box::new(source),
        })
    }
}

fn is_node(path: &str) -> bool {
    path.starts_with("/api/v1/nodes/")
}

fn is_missing(error: &Error) -> bool {
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
