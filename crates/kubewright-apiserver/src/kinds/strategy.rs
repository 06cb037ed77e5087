use kubewright_core::Kind;
use serde_json::{Map, Value, json};

use super::defaults::first_template_generation;
use super::endpoint_slice::drop_topology;
use super::{namespace, pod};

/// What happens to the dependents of a deleted object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// They are deleted afterwards.
    Background,
    /// They are deleted first.
    Foreground,
    /// They stay.
    Orphan,
    /// The kind takes no part in garbage collection.
    Unsupported,
}

/// Kinds that exist in several versions of which only one is stored, and whose conversion is not
/// there yet: the other versions answer 501.
pub(crate) fn is_convertible(kind: &Kind) -> bool {
    !matches!((kind.group(), kind.version()), ("autoscaling", "v1"))
}

/// Whether a PUT of an absent object creates it (`AllowCreateOnUpdate` of the kind's strategy).
pub(crate) fn creates_on_update(kind: &Kind) -> bool {
    matches!(
        (kind.group(), kind.kind.as_str()),
        ("coordination.k8s.io", "Lease" | "LeaseCandidate")
            | ("", "Endpoints" | "Event" | "LimitRange" | "Service")
            | ("events.k8s.io", "Event")
            | ("node.k8s.io", "RuntimeClass")
            | (
                "rbac.authorization.k8s.io",
                "Role" | "ClusterRole" | "RoleBinding" | "ClusterRoleBinding"
            )
    )
}

/// Whether a PUT must name the revision it was read at (`AllowUnconditionalUpdate` is false).
pub(crate) fn requires_revision(kind: &Kind) -> bool {
    matches!(
        (kind.group(), kind.kind.as_str()),
        (
            "admissionregistration.k8s.io" | "coordination.k8s.io" | "node.k8s.io",
            _
        ) | ("policy", "PodDisruptionBudget")
            | (
                "storage.k8s.io",
                "CSIDriver" | "CSINode" | "CSIStorageCapacity" | "VolumeAttachment"
            )
            | (
                "certificates.k8s.io",
                "ClusterTrustBundle" | "PodCertificateRequest"
            )
            | ("resource.k8s.io", "ResourcePoolStatusRequest")
            | ("internal.apiserver.k8s.io" | "storagemigration.k8s.io", _)
    )
}

/// Whether objects of the kind count the changes of their specification.
pub(crate) fn has_generation(kind: &Kind) -> bool {
    match (kind.group(), kind.kind.as_str()) {
        ("apps", kind) => kind != "ControllerRevision",
        ("", "Pod" | "PodTemplate" | "ReplicationController")
        | ("batch" | "admissionregistration.k8s.io", _)
        | ("discovery.k8s.io", "EndpointSlice")
        | ("flowcontrol.apiserver.k8s.io", "FlowSchema" | "PriorityLevelConfiguration")
        | ("networking.k8s.io", "Ingress" | "IngressClass" | "NetworkPolicy")
        | ("policy", "PodDisruptionBudget")
        | ("scheduling.k8s.io", "PriorityClass")
        | ("resource.k8s.io", "DeviceClass" | "ResourceSlice")
        | ("apiextensions.k8s.io", "CustomResourceDefinition") => true,
        _ => false,
    }
}

/// Whether a delete that really deletes answers the object instead of a Status
/// (`ReturnDeletedObject` of the kind's storage).
pub(crate) fn delete_answers_object(kind: &Kind) -> bool {
    matches!(
        (kind.group(), kind.kind.as_str()),
        ("resource.k8s.io", _)
            | (
                "",
                "Namespace"
                    | "Pod"
                    | "Service"
                    | "ServiceAccount"
                    | "PersistentVolume"
                    | "PersistentVolumeClaim"
                    | "PodTemplate"
                    | "ResourceQuota",
            )
            | (
                "storage.k8s.io",
                "StorageClass"
                    | "CSIDriver"
                    | "CSINode"
                    | "VolumeAttachment"
                    | "VolumeAttributesClass",
            )
    )
}

/// What happens to dependents when the request does not say.
pub(crate) fn default_propagation(kind: &Kind) -> Propagation {
    match (kind.group(), kind.kind.as_str()) {
        ("batch", "Job") | ("", "ReplicationController") => Propagation::Orphan,
        ("" | "events.k8s.io", "Event") => Propagation::Unsupported,
        _ => Propagation::Background,
    }
}

/// Whether a create keeps the status it was sent; all other kinds with a status subresource start
/// without one.
pub(crate) fn keeps_status_on_create(kind: &Kind) -> bool {
    // A kubelet registers its Node with its status.
    kind.group().is_empty() && kind.kind == "Node"
}

/// What the server itself fills into a new object of some kinds (`PrepareForCreate`).
pub(crate) fn prepare_create(kind: &Kind, object: &mut Map<String, Value>) {
    match (kind.group(), kind.kind.as_str()) {
        ("", "Namespace") => namespace::prepare_create(object),
        ("apps", "DaemonSet") => first_template_generation(object),
        ("", "Pod") => pod::prepare_create(object),
        ("discovery.k8s.io", "EndpointSlice") => drop_topology(object.get_mut("endpoints")),
        ("coordination.k8s.io", "Lease") => {
            // The gate CoordinatedLeaderElection is off by default.
            if let Some(Value::Object(spec)) = object.get_mut("spec") {
                spec.remove("strategy");
                spec.remove("preferredHolder");
            }
        }
        ("", "PersistentVolume" | "PersistentVolumeClaim") => {
            object.insert("status".to_owned(), json!({"phase": "Pending"}));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::Kind;
    use serde_json::json;

    use super::{creates_on_update, has_generation, prepare_create, requires_revision};

    #[test]
    fn put_creates_only_what_kubernetes_lets_it_create() {
        assert!(creates_on_update(&Kind::new("", "v1", "Service")));
        assert!(!creates_on_update(&Kind::new("", "v1", "ConfigMap")));
    }

    #[test]
    fn leases_are_updated_only_with_their_revision() {
        let lease = Kind::new("coordination.k8s.io", "v1", "Lease");
        assert!(requires_revision(&lease));
        assert!(!requires_revision(&Kind::new("", "v1", "Pod")));
    }

    #[test]
    fn deployments_count_generations_and_config_maps_do_not() {
        assert!(has_generation(&Kind::new("apps", "v1", "Deployment")));
        assert!(!has_generation(&Kind::new("", "v1", "ConfigMap")));
    }

    #[test]
    fn a_new_pod_is_pending() {
        let mut pod = json!({"spec": {}, "status": {"phase": "Running"}});
        prepare_create(
            &Kind::new("", "v1", "Pod"),
            pod.as_object_mut().expect("written as one"),
        );
        assert_eq!(
            pod["status"],
            json!({"phase": "Pending", "qosClass": "BestEffort"})
        );
    }
}
