//! Adds and removes simulated nodes.

use std::panic::Location;

use serde_json::{Value, json};

use super::failure::{Chain, fail};
use super::handle::Cluster;
use super::objects::is_condition_true;
use crate::Error;

impl Cluster {
    /// Adds a simulated node, and waits until it is Ready and accepts Pods.
    ///
    /// # Panics
    ///
    /// When the cluster was started without nodes, or the node does not become Ready.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the node may exist without being Ready.
    #[track_caller]
    pub fn add_node(&self, name: &str) -> impl Future<Output = ()> {
        let location = Location::caller();
        async move {
            if let Err(error) = self.try_add_node(name).await {
                fail(location, Chain(&error));
            }
        }
    }

    /// Removes a node and its Pods, as a cloud provider does when a machine is gone.
    ///
    /// # Panics
    ///
    /// When a request fails.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the node may be deleted and its Pods not.
    #[track_caller]
    pub fn remove_node(&self, name: &str) -> impl Future<Output = ()> {
        let location = Location::caller();
        async move {
            if let Err(error) = self.try_remove_node(name).await {
                fail(
                    location,
                    format_args!("remove node {name}: {}", Chain(&error)),
                );
            }
        }
    }

    pub(super) async fn try_add_node(&self, name: &str) -> Result<(), Error> {
        if !self.shared.backend.has_nodes() {
            return Err(Error::Unsupported {
                operation: format!("add node {name}"),
                reason: "this cluster was started without nodes; start it with nodes(n)",
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
            .map_err(Error::request(format!("add node {name}")))?;
        self.until(&format!("node {name} to be Ready"), async || {
            let node = self
                .read(&path)
                .await
                .map_err(Error::request(format!("read node {name}")))?;
            Ok(unschedulable_reason(&node))
        })
        .await
    }

    async fn try_remove_node(&self, name: &str) -> Result<(), kube::Error> {
        self.send("DELETE", &format!("/api/v1/nodes/{name}"), &json!({}))
            .await?;
        // The Pod garbage collector needs a minute to find Pods whose node is gone.
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
            let immediately = json!({ "gracePeriodSeconds": 0 });
            match self.send("DELETE", &path, &immediately).await {
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                response => drop(response?),
            }
        }
        Ok(())
    }
}

/// Why a node accepts no Pods; `None` if it does.
fn unschedulable_reason(node: &Value) -> Option<String> {
    if !is_condition_true(node, "Ready") {
        return Some("not Ready".to_owned());
    }
    let taints = node["spec"]["taints"].as_array();
    let first = taints.into_iter().flatten().next()?;
    Some(format!("tainted {}", first["key"]))
}
