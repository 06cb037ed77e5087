use kubewright_core::Kind;

use super::{access, cluster, config, network, node, pod, storage, workload};
use crate::table::cell::Cell;
use crate::table::column::{AGE, Column, NAME};

/// What kinds without columns of their own show.
static PLAIN: &[Column] = &[
    NAME,
    Column::date("Created At", Cell::Text("/metadata/creationTimestamp")),
];
/// Many kinds show only this.
const NAME_AND_AGE: &[Column] = &[NAME, AGE];

/// The columns of a built-in kind.
pub(in crate::table) fn columns(kind: &Kind) -> &'static [Column] {
    match (kind.group(), kind.kind.as_str()) {
        ("", kind) => core(kind),
        ("apps" | "batch" | "autoscaling" | "policy", kind) => workloads(kind),
        ("networking.k8s.io" | "discovery.k8s.io", kind) => networking(kind),
        ("storage.k8s.io", kind) => storage(kind),
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => access::BINDING,
        ("certificates.k8s.io", "CertificateSigningRequest") => access::SIGNING_REQUEST,
        ("events.k8s.io", "Event") => config::EVENT,
        ("coordination.k8s.io", "Lease") => config::LEASE,
        ("node.k8s.io", "RuntimeClass") => cluster::RUNTIME_CLASS,
        ("scheduling.k8s.io", "PriorityClass") => cluster::PRIORITY_CLASS,
        ("admissionregistration.k8s.io", kind) => admission(kind),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema") => cluster::FLOW_SCHEMA,
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration") => cluster::PRIORITY_LEVEL,
        ("resource.k8s.io", "ResourceClaim") => cluster::RESOURCE_CLAIM,
        ("resource.k8s.io", "ResourceSlice") => cluster::RESOURCE_SLICE,
        ("resource.k8s.io", "DeviceClass" | "ResourceClaimTemplate") => NAME_AND_AGE,
        _ => PLAIN,
    }
}

/// Whether a kind has no columns of its own.
pub(in crate::table) fn is_plain(columns: &[Column]) -> bool {
    std::ptr::eq(columns.as_ptr(), PLAIN.as_ptr())
}

fn core(kind: &str) -> &'static [Column] {
    match kind {
        "Pod" => pod::POD,
        "PodTemplate" => pod::POD_TEMPLATE,
        "Node" => node::NODE,
        "Namespace" => config::NAMESPACE,
        "ConfigMap" => config::CONFIG_MAP,
        "Secret" => config::SECRET,
        "Event" => config::EVENT,
        "ResourceQuota" => config::RESOURCE_QUOTA,
        "ServiceAccount" => NAME_AND_AGE,
        "Service" => network::SERVICE,
        "Endpoints" => network::ENDPOINTS,
        "ReplicationController" => workload::REPLICATION_CONTROLLER,
        "PersistentVolume" => storage::VOLUME,
        "PersistentVolumeClaim" => storage::CLAIM,
        _ => PLAIN,
    }
}

fn workloads(kind: &str) -> &'static [Column] {
    match kind {
        "Deployment" => workload::DEPLOYMENT,
        "ReplicaSet" => workload::REPLICA_SET,
        "StatefulSet" => workload::STATEFUL_SET,
        "DaemonSet" => workload::DAEMON_SET,
        "ControllerRevision" => workload::CONTROLLER_REVISION,
        "Job" => workload::JOB,
        "CronJob" => workload::CRON_JOB,
        "Scale" => workload::SCALE,
        "PodDisruptionBudget" => workload::DISRUPTION_BUDGET,
        _ => PLAIN,
    }
}

fn networking(kind: &str) -> &'static [Column] {
    match kind {
        "Ingress" => network::INGRESS,
        "IngressClass" => network::INGRESS_CLASS,
        "NetworkPolicy" => network::NETWORK_POLICY,
        "ServiceCIDR" => network::SERVICE_CIDR,
        "IPAddress" => network::IP_ADDRESS,
        "EndpointSlice" => network::ENDPOINT_SLICE,
        _ => PLAIN,
    }
}

fn storage(kind: &str) -> &'static [Column] {
    match kind {
        "StorageClass" => storage::STORAGE_CLASS,
        "VolumeAttachment" => storage::ATTACHMENT,
        "VolumeAttributesClass" => storage::ATTRIBUTES_CLASS,
        "CSIDriver" => storage::CSI_DRIVER,
        "CSINode" => storage::CSI_NODE,
        "CSIStorageCapacity" => storage::CSI_CAPACITY,
        _ => PLAIN,
    }
}

fn admission(kind: &str) -> &'static [Column] {
    match kind {
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => cluster::WEBHOOKS,
        "ValidatingAdmissionPolicy" => cluster::VALIDATING_POLICY,
        "MutatingAdmissionPolicy" => cluster::MUTATING_POLICY,
        "ValidatingAdmissionPolicyBinding" | "MutatingAdmissionPolicyBinding" => {
            cluster::POLICY_BINDING
        }
        _ => PLAIN,
    }
}
