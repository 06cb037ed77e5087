//! The names of the built-in API groups.

/// ValidatingWebhookConfiguration, ValidatingAdmissionPolicy and the like.
pub const ADMISSION_REGISTRATION: &str = "admissionregistration.k8s.io";
/// CustomResourceDefinition.
pub const API_EXTENSIONS: &str = "apiextensions.k8s.io";
/// APIService.
pub const API_REGISTRATION: &str = "apiregistration.k8s.io";
/// Deployment, StatefulSet and the like.
pub const APPS: &str = "apps";
/// TokenReview and the like.
pub const AUTHENTICATION: &str = "authentication.k8s.io";
/// SubjectAccessReview and the like.
pub const AUTHORIZATION: &str = "authorization.k8s.io";
/// HorizontalPodAutoscaler.
pub const AUTOSCALING: &str = "autoscaling";
/// Job and CronJob.
pub const BATCH: &str = "batch";
/// CertificateSigningRequest.
pub const CERTIFICATES: &str = "certificates.k8s.io";
/// Lease.
pub const COORDINATION: &str = "coordination.k8s.io";
/// Pod, Service and the like; the group without a name.
pub const CORE: &str = "";
/// EndpointSlice.
pub const DISCOVERY: &str = "discovery.k8s.io";
/// The newer form of Event.
pub const EVENTS: &str = "events.k8s.io";
/// FlowSchema and PriorityLevelConfiguration.
pub const FLOW_CONTROL: &str = "flowcontrol.apiserver.k8s.io";
/// Ingress, NetworkPolicy and the like.
pub const NETWORKING: &str = "networking.k8s.io";
/// RuntimeClass.
pub const NODE: &str = "node.k8s.io";
/// PodDisruptionBudget.
pub const POLICY: &str = "policy";
/// Role, RoleBinding and the like.
pub const RBAC: &str = "rbac.authorization.k8s.io";
/// ResourceClaim and the like.
pub const RESOURCE: &str = "resource.k8s.io";
/// PriorityClass.
pub const SCHEDULING: &str = "scheduling.k8s.io";
/// StorageClass and the like.
pub const STORAGE: &str = "storage.k8s.io";
