//! The table of the built-in plugins.

use kubewright_wire::status::Status;

use super::{
    default_toleration_seconds, limit_ranger, namespace_lifecycle, pod_security, priority,
    service_account, taint_nodes_by_condition,
};
use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::admission::plugin::AdmissionPlugin;

/// Changes the object of a request, or denies the request.
type Mutate = fn(&AdmissionContext, &mut AdmissionAttributes) -> Result<(), Status>;
/// Denies a request.
type Validate = fn(&AdmissionContext, &AdmissionAttributes) -> Result<(), Status>;

/// A built-in plugin with the steps that it takes part in.
pub(crate) struct Plugin {
    pub(crate) name: AdmissionPlugin,
    pub(crate) mutate: Option<Mutate>,
    pub(crate) validate: Option<Validate>,
}

/// The plugins in the order in which Kubernetes calls them. The chain itself calls ResourceQuota,
/// which follows policies and webhooks.
pub(crate) static PLUGINS: &[Plugin] = &[
    Plugin {
        name: AdmissionPlugin::NamespaceLifecycle,
        mutate: Some(namespace_lifecycle::mutate),
        validate: None,
    },
    Plugin {
        name: AdmissionPlugin::LimitRanger,
        mutate: Some(limit_ranger::mutate),
        validate: Some(limit_ranger::validate),
    },
    Plugin {
        name: AdmissionPlugin::ServiceAccount,
        mutate: Some(service_account::mutate),
        validate: None,
    },
    Plugin {
        name: AdmissionPlugin::TaintNodesByCondition,
        mutate: Some(taint_nodes_by_condition::mutate),
        validate: None,
    },
    Plugin {
        name: AdmissionPlugin::PodSecurity,
        mutate: None,
        validate: Some(pod_security::validate),
    },
    Plugin {
        name: AdmissionPlugin::Priority,
        mutate: Some(priority::mutate),
        validate: Some(priority::validate),
    },
    Plugin {
        name: AdmissionPlugin::DefaultTolerationSeconds,
        mutate: Some(default_toleration_seconds::mutate),
        validate: None,
    },
];
