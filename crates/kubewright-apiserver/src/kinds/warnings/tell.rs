use kubewright_core::Kind;
use serde_json::Value;

use super::{Told, key_pair, network, pod, records, service, storage, workload};

/// What the writer of an object is told although nothing is wrong with it (`WarningsOnCreate`,
/// `WarningsOnUpdate` of k8s.io/kubernetes' strategies).
///
/// For a changed object, `old` is what was stored, and the new one has its generation already.
pub(crate) fn warnings(kind: &Kind, value: &Value, old: Option<&Value>) -> Vec<String> {
    let mut told = Told::default();
    if let Some(tell) = teller(kind) {
        tell(value, old, &mut told);
    }
    told.into_texts()
}

/// The same for an object of which only the status was written.
pub(crate) fn status_warnings(kind: &Kind, value: &Value) -> Vec<String> {
    let mut told = Told::default();
    match (kind.group(), kind.kind.as_str()) {
        ("", "Pod") => pod::status(value, &mut told),
        ("", "Service") | ("networking.k8s.io", "Ingress") => network::balancer(value, &mut told),
        _ => {}
    }
    told.into_texts()
}

type Tell = fn(&Value, Option<&Value>, &mut Told);

fn teller(kind: &Kind) -> Option<Tell> {
    Some(match (kind.group(), kind.kind.as_str()) {
        ("", "Pod") => pod::pod,
        ("", "PodTemplate") => workload::pod_template,
        ("", "ReplicationController") => workload::replication_controller,
        ("apps", "Deployment" | "ReplicaSet") => workload::replicated,
        ("apps", "DaemonSet") => workload::daemon_set,
        ("apps", "StatefulSet") => workload::stateful_set,
        ("batch", "Job") => workload::job,
        ("batch", "CronJob") => workload::cron_job,
        ("", "Service") => service::service,
        ("", "Endpoints") => network::endpoints,
        ("discovery.k8s.io", "EndpointSlice") => network::endpoint_slice,
        ("networking.k8s.io", "Ingress") => network::ingress,
        ("networking.k8s.io", "NetworkPolicy") => network::network_policy,
        ("", "PersistentVolume") => storage::volume,
        ("", "PersistentVolumeClaim") => storage::claim,
        ("storage.k8s.io", "StorageClass") => storage::class,
        ("storage.k8s.io", "CSIStorageCapacity") => storage::capacity,
        ("storage.k8s.io", "CSIDriver") => storage::driver,
        ("", "Secret") => key_pair::secret,
        ("", "ServiceAccount") => records::service_account,
        ("", "ResourceQuota") => records::resource_quota,
        ("", "Node") => records::node,
        ("node.k8s.io", "RuntimeClass") => records::runtime_class,
        ("resource.k8s.io", "ResourceSlice") => records::resource_slice,
        ("admissionregistration.k8s.io", _) => records::admission,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use kubewright_core::Kind;
    use serde_json::json;

    use super::{status_warnings, warnings};

    #[test]
    fn most_kinds_have_nothing_to_warn_of() {
        let map = Kind::new("", "v1", "ConfigMap");
        let budget = Kind::new("policy", "v1", "PodDisruptionBudget");
        let value = json!({"metadata": {"name": "a.b"}, "spec": {}});
        assert!(warnings(&map, &value, None).is_empty());
        assert!(warnings(&budget, &value, None).is_empty());
    }

    #[test]
    fn a_status_tells_of_its_addresses_only() {
        let pod = Kind::new("", "v1", "Pod");
        let value = json!({
            "metadata": {"name": "a.b"},
            "status": {"podIPs": [{"ip": "FD00::1"}], "hostIPs": [{"ip": "10.0.0.1"}]},
        });
        assert_eq!(
            status_warnings(&pod, &value),
            [
                "status.podIPs[0].ip: IPv6 address \"FD00::1\" should be in RFC 5952 canonical \
                 format (\"fd00::1\")"
            ]
        );
        let ingress = Kind::new("networking.k8s.io", "v1", "Ingress");
        let value = json!({"status": {"loadBalancer": {"ingress": [
            {"hostname": "a"}, {"ip": "FD00::2"},
        ]}}});
        assert_eq!(
            status_warnings(&ingress, &value),
            [
                "status.loadBalancer.ingress[1]: IPv6 address \"FD00::2\" should be in RFC 5952 \
                 canonical format (\"fd00::2\")"
            ]
        );
        assert!(status_warnings(&Kind::new("", "v1", "Node"), &value).is_empty());
    }
}
