//! Optional objects beside the Deployment: NetworkPolicy, ServiceMonitor, PodDisruptionBudget.

use std::fmt;
use std::str::FromStr;

use kubewright_core::Description;
use serde_json::{Value, json};

use crate::error::Error;
use crate::names::{METRICS_PORT, WEBHOOK_PORT, labels};

/// An optional part of an operator's manifests; kubebuilder has the first two as folders of its
/// kustomize tree that are commented out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Component {
    /// A NetworkPolicy that allows only the necessary connections to the operator's Pods.
    NetworkPolicy,
    /// A ServiceMonitor, by which the Prometheus operator finds the metrics.
    Prometheus,
    /// A PodDisruptionBudget that allows the eviction of one replica at a time. It restricts
    /// nothing for a single replica, and only operators with leader election may have more.
    PodDisruptionBudget,
}

impl Component {
    /// All components.
    pub const ALL: [Self; 3] = [
        Self::NetworkPolicy,
        Self::Prometheus,
        Self::PodDisruptionBudget,
    ];

    /// Its name in flags.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NetworkPolicy => "network-policy",
            Self::Prometheus => "prometheus",
            Self::PodDisruptionBudget => "pod-disruption-budget",
        }
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Component {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let mut all = Self::ALL.into_iter();
        let found = all.find(|component| component.name() == name);
        found.ok_or_else(|| Error::Component {
            name: name.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}

/// The object of a component.
pub(crate) fn component_object(
    component: Component,
    description: &Description,
    namespace: &str,
) -> Value {
    let (version, kind, name, spec) = match component {
        Component::NetworkPolicy => (
            "networking.k8s.io/v1",
            "NetworkPolicy",
            description.name.clone(),
            network_policy(description),
        ),
        Component::Prometheus => (
            "monitoring.coreos.com/v1",
            "ServiceMonitor",
            format!("{}-metrics", description.name),
            service_monitor(description),
        ),
        Component::PodDisruptionBudget => (
            "policy/v1",
            "PodDisruptionBudget",
            description.name.clone(),
            disruption_budget(description),
        ),
    };
    json!({
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "labels": labels(description)},
        "spec": spec,
    })
}

/// Metrics are open to Pods in namespaces with the label `metrics: enabled`, as in kubebuilder.
/// Webhooks are called by the API server, which is in no namespace. Probes come from the Pod's own
/// node, which NetworkPolicies do not restrict.
fn network_policy(description: &Description) -> Value {
    let port = |number: u16| json!([{"port": number, "protocol": "TCP"}]);
    let readers = json!({"namespaceSelector": {"matchLabels": {"metrics": "enabled"}}});
    let mut ingress = vec![json!({"from": [readers], "ports": port(METRICS_PORT)})];
    if description.serves() {
        ingress.push(json!({"ports": port(WEBHOOK_PORT)}));
    }
    json!({
        "podSelector": {"matchLabels": labels(description)},
        "policyTypes": ["Ingress"],
        "ingress": ingress,
    })
}

/// Prometheus authenticates with its token. It cannot verify the certificate of the metrics, which
/// the operator signs itself.
fn service_monitor(description: &Description) -> Value {
    json!({
        "endpoints": [{
            "path": "/metrics",
            "port": "https",
            "scheme": "https",
            "bearerTokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token",
            "tlsConfig": {"insecureSkipVerify": true},
        }],
        "selector": {"matchLabels": labels(description)},
    })
}

/// `minAvailable: 1` would block the drain of the node with the only replica.
fn disruption_budget(description: &Description) -> Value {
    json!({
        "maxUnavailable": 1,
        "selector": {"matchLabels": labels(description)},
        // An unhealthy replica can always be evicted.
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    })
}

#[cfg(test)]
mod tests {
    use kubewright_core::Description;

    use super::{Component, component_object};
    use crate::to_yaml;

    const GOLDEN: &str = "\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  labels:
    app.kubernetes.io/name: web
  name: web
  namespace: tools
spec:
  ingress:
  - from:
    - namespaceSelector:
        matchLabels:
          metrics: enabled
    ports:
    - port: 8443
      protocol: TCP
  podSelector:
    matchLabels:
      app.kubernetes.io/name: web
  policyTypes:
  - Ingress
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  labels:
    app.kubernetes.io/name: web
  name: web-metrics
  namespace: tools
spec:
  endpoints:
  - bearerTokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token
    path: /metrics
    port: https
    scheme: https
    tlsConfig:
      insecureSkipVerify: true
  selector:
    matchLabels:
      app.kubernetes.io/name: web
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  labels:
    app.kubernetes.io/name: web
  name: web
  namespace: tools
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      app.kubernetes.io/name: web
  unhealthyPodEvictionPolicy: AlwaysAllow
";

    fn description() -> Description {
        Description {
            name: "web".to_owned(),
            ..Description::default()
        }
    }

    #[test]
    fn each_component_is_one_object_in_the_operators_namespace() {
        let objects =
            Component::ALL.map(|component| component_object(component, &description(), "tools"));
        let golden: Vec<serde_json::Value> = serde_saphyr::from_multiple(GOLDEN).unwrap();
        assert_eq!(objects.to_vec(), golden, "{}", to_yaml(&objects).unwrap());
    }

    #[test]
    fn network_policy_opens_the_webhook_port_to_the_api_server() {
        let mut serving = description();
        serving.authorizes = true;
        let policy = component_object(Component::NetworkPolicy, &serving, "tools");
        let rule = &policy["spec"]["ingress"][1];
        assert_eq!(rule["ports"][0]["port"], 9443);
        assert!(rule.get("from").is_none(), "{rule}");
    }

    #[test]
    fn component_is_parsed_from_its_name() {
        for component in Component::ALL {
            assert_eq!(component.name().parse::<Component>().unwrap(), component);
        }
        let error = "service-monitor".parse::<Component>().unwrap_err();
        assert!(error.to_string().contains("prometheus"), "{error}");
    }
}
