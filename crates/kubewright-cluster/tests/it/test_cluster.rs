//! A cluster for tests.

use std::time::Duration;

use kubewright_apiserver::{AdmissionPlugins, Server, ServerOptions, User};
use kubewright_cluster::{Cluster, Controllers, node};
use kubewright_core::Clock;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::client::TestClient;

/// A running cluster on paused time.
pub(crate) struct TestCluster {
    pub(crate) server: Server,
    pub(crate) cluster: Cluster,
    pub(crate) admin: TestClient,
    cancel: CancellationToken,
    tasks: JoinSet<()>,
}

impl TestCluster {
    pub(crate) fn new() -> Self {
        Self::with(Controllers::all(), ServerOptions::default().history)
    }

    /// A cluster with some controllers, whose store keeps the given number of changes.
    pub(crate) fn with(controllers: Controllers, history: usize) -> Self {
        let start = "2026-01-01T00:00:00Z".parse().expect("a valid time");
        let server = Server::new(ServerOptions {
            clock: Clock::starting_at(start),
            history,
            admission: AdmissionPlugins::without_controllers(),
            ..ServerOptions::default()
        });
        let cancel = CancellationToken::new();
        let mut tasks = JoinSet::new();
        let cluster = Cluster::new(server.clone());
        let (running, stop) = (cluster.clone(), cancel.clone());
        tasks.spawn(async move { running.run(&controllers, stop).await });
        Self {
            admin: TestClient::new(&server, User::admin()),
            server,
            cluster,
            cancel,
            tasks,
        }
    }

    pub(crate) async fn add_nodes(&self, names: &[&str]) {
        for name in names {
            self.admin.post("/api/v1/nodes", &node(name)).await.ok();
        }
    }

    /// Creates a Pod of the namespace `default` with one container.
    pub(crate) async fn add_pod(&self, name: &str, mut spec: Value) -> Value {
        spec["containers"] = json!([{"name": "app", "image": "a:1"}]);
        let pod = json!({"metadata": {"name": name}, "spec": spec});
        self.admin
            .post("/api/v1/namespaces/default/pods", &pod)
            .await
            .ok()
    }

    /// A Pod of the namespace `default`, or the Status of the failed request.
    pub(crate) async fn pod(&self, name: &str) -> Value {
        self.admin
            .get(&format!("/api/v1/namespaces/default/pods/{name}"))
            .await
            .body
    }

    /// Checks `holds` after each write until it is true; fails after ten minutes of virtual time.
    pub(crate) async fn eventually(&self, what: &str, holds: impl AsyncFn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(600);
        let mut revisions = self.server.revisions();
        while !holds().await {
            let changed = timeout_at(deadline, revisions.changed()).await;
            assert!(changed.is_ok(), "never happened: {what}");
        }
    }

    /// Waits until there are no more writes.
    pub(crate) async fn settle(&self) {
        let mut revisions = self.server.revisions();
        let quiet = Duration::from_millis(1);
        while tokio::time::timeout(quiet, revisions.changed())
            .await
            .is_ok()
        {}
    }

    /// Stops the controllers and waits for their end.
    pub(crate) async fn stop(mut self) {
        self.cancel.cancel();
        while let Some(ended) = self.tasks.join_next().await {
            ended.expect("the controllers end without a panic");
        }
    }
}

/// The condition of an object with the given type; null when there is none.
pub(crate) fn condition<'a>(object: &'a Value, kind: &str) -> &'a Value {
    let conditions = object["status"]["conditions"].as_array();
    conditions
        .into_iter()
        .flatten()
        .find(|condition| condition["type"] == kind)
        .unwrap_or(&Value::Null)
}
