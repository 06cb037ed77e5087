use std::panic::Location;

use serde_json::{Value, json};

use super::failure::{Chain, fail};
use super::handle::Cluster;
use crate::Error;

impl Cluster {
    /// Adds a node that is only an object, and waits until it is Ready and takes Pods.
    ///
    /// # Panics
    ///
    /// When the cluster was started without nodes, or the node does not get Ready.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the node may be there without being Ready.
    #[track_caller]
    pub fn add_node(&self, name: &str) -> impl Future<Output = ()> {
        let location = Location::caller();
        async move {
            if let Err(error) = self.try_add_node(name).await {
                fail(location, Chain(&error));
            }
        }
    }

    /// Removes a node and its Pods, as a provider does with a machine that is gone.
    ///
    /// # Panics
    ///
    /// When the server refuses.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the node may be gone and its Pods not.
    #[track_caller]
    pub fn remove_node(&self, name: &str) -> impl Future<Output = ()> {
        let location = Location::caller();
        async move {
            if let Err(error) = self.try_remove_node(name).await {
                let tried = format!("remove node {name}");
                fail(location, format_args!("{tried}: {}", Chain(&error)));
            }
        }
    }

    pub(super) async fn try_add_node(&self, name: &str) -> Result<(), Error> {
        if !self.shared.backend.has_nodes() {
            return Err(Error::Unsupported {
                asked: format!("add node {name}"),
                why: "this cluster was started without nodes; start it with nodes(n)",
            });
        }
        let capacity = json!({ "cpu": "16", "memory": "64Gi", "pods": "110" });
        let mut node = json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": { "name": name, "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
            } },
            "status": { "allocatable": capacity, "capacity": capacity },
        });
        let path = format!("/api/v1/nodes/{name}");
        self.shared.backend.claim(&mut node, &path).await?;
        self.send("POST", "/api/v1/nodes", &node)
            .await
            .map_err(failed(format!("add node {name}")))?;
        self.until(&format!("node {name} to be Ready"), async || {
            let node = self.read(&path).await;
            Ok(missing(&node.map_err(failed(format!("read node {name}")))?))
        })
        .await
    }

    async fn try_remove_node(&self, name: &str) -> Result<(), kube::Error> {
        self.send("DELETE", &format!("/api/v1/nodes/{name}"), &json!({}))
            .await?;
        // Kubernetes' own collector takes a minute to find Pods whose node is gone.
        let pods = self
            .read(&format!("/api/v1/pods?fieldSelector=spec.nodeName={name}"))
            .await?;
        for pod in pods["items"].as_array().into_iter().flatten() {
            let part = |field: &str| pod["metadata"][field].as_str().unwrap_or_default();
            let path = format!(
                "/api/v1/namespaces/{}/pods/{}",
                part("namespace"),
                part("name")
            );
            let at_once = json!({ "gracePeriodSeconds": 0 });
            match self.send("DELETE", &path, &at_once).await {
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                answer => drop(answer?),
            }
        }
        Ok(())
    }
}

/// What keeps a node from taking Pods.
fn missing(node: &Value) -> Option<String> {
    let conditions = node["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    if !conditions.any(|one| one["type"] == "Ready" && one["status"] == "True") {
        return Some("not Ready".to_owned());
    }
    let taints = node["spec"]["taints"].as_array();
    let first = taints.into_iter().flatten().next()?;
    Some(format!("tainted {}", first["key"]))
}

fn failed(tried: String) -> impl FnOnce(kube::Error) -> Error {
    |source| Error::Request {
        tried,
        source: Box::new(source),
    }
}
