//! The names of the admission plugins, and which of them are enabled.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// An admission plugin, by its name in Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum AdmissionPlugin {
    /// No object is created in a namespace that is missing or being deleted, and three namespaces
    /// cannot be deleted.
    NamespaceLifecycle,
    /// Containers get the default resources of LimitRanges, and no more than their limits.
    LimitRanger,
    /// Pods get a ServiceAccount and its token.
    ServiceAccount,
    /// New nodes get the taint `node.kubernetes.io/not-ready`.
    TaintNodesByCondition,
    /// Labels of namespaces for Pod Security levels are valid.
    PodSecurity,
    /// Pods get the priority of their PriorityClass.
    Priority,
    /// Pods tolerate nodes that are not ready or unreachable for five minutes.
    DefaultTolerationSeconds,
    /// MutatingAdmissionPolicies.
    MutatingAdmissionPolicy,
    /// MutatingWebhookConfigurations.
    MutatingAdmissionWebhook,
    /// ValidatingAdmissionPolicies.
    ValidatingAdmissionPolicy,
    /// ValidatingWebhookConfigurations.
    ValidatingAdmissionWebhook,
    /// No namespace uses more than its ResourceQuotas allow.
    ResourceQuota,
}

impl AdmissionPlugin {
    /// Every plugin, in the order in which Kubernetes calls them.
    pub const ALL: [Self; 12] = [
        Self::NamespaceLifecycle,
        Self::LimitRanger,
        Self::ServiceAccount,
        Self::TaintNodesByCondition,
        Self::PodSecurity,
        Self::Priority,
        Self::DefaultTolerationSeconds,
        Self::MutatingAdmissionPolicy,
        Self::MutatingAdmissionWebhook,
        Self::ValidatingAdmissionPolicy,
        Self::ValidatingAdmissionWebhook,
        Self::ResourceQuota,
    ];

    /// The name in Kubernetes.
    pub fn name(self) -> &'static str {
        match self {
            Self::NamespaceLifecycle => "NamespaceLifecycle",
            Self::LimitRanger => "LimitRanger",
            Self::ServiceAccount => "ServiceAccount",
            Self::TaintNodesByCondition => "TaintNodesByCondition",
            Self::PodSecurity => "PodSecurity",
            Self::Priority => "Priority",
            Self::DefaultTolerationSeconds => "DefaultTolerationSeconds",
            Self::MutatingAdmissionPolicy => "MutatingAdmissionPolicy",
            Self::MutatingAdmissionWebhook => "MutatingAdmissionWebhook",
            Self::ValidatingAdmissionPolicy => "ValidatingAdmissionPolicy",
            Self::ValidatingAdmissionWebhook => "ValidatingAdmissionWebhook",
            Self::ResourceQuota => "ResourceQuota",
        }
    }
}

impl fmt::Display for AdmissionPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no admission plugin has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown admission plugin {name:?}; the known plugins are {}",
    known_names()
)]
pub struct UnknownAdmissionPlugin {
    name: String,
}

fn known_names() -> String {
    AdmissionPlugin::ALL.map(AdmissionPlugin::name).join(", ")
}

impl FromStr for AdmissionPlugin {
    type Err = UnknownAdmissionPlugin;

    fn from_str(name: &str) -> Result<Self, UnknownAdmissionPlugin> {
        Self::ALL
            .into_iter()
            .find(|plugin| plugin.name() == name)
            .ok_or_else(|| UnknownAdmissionPlugin {
                name: name.to_owned(),
            })
    }
}

/// The enabled admission plugins; all of them by default.
///
/// ```
/// use kubewright_apiserver::{AdmissionPlugin, AdmissionPlugins};
///
/// let plugins = AdmissionPlugins::default().without(AdmissionPlugin::ServiceAccount);
/// assert!(!plugins.is_enabled(AdmissionPlugin::ServiceAccount));
/// assert!(plugins.is_enabled("ResourceQuota".parse()?));
/// # Ok::<(), kubewright_apiserver::UnknownAdmissionPlugin>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdmissionPlugins {
    enabled: BTreeSet<AdmissionPlugin>,
}

impl Default for AdmissionPlugins {
    fn default() -> Self {
        Self {
            enabled: BTreeSet::from(AdmissionPlugin::ALL),
        }
    }
}

impl AdmissionPlugins {
    /// All plugins except those that need a controller: Pods need no ServiceAccount, and new nodes
    /// are not tainted. A real API server without controllers is configured like this.
    pub fn without_controllers() -> Self {
        Self::default()
            .without(AdmissionPlugin::ServiceAccount)
            .without(AdmissionPlugin::TaintNodesByCondition)
    }

    /// Disables a plugin.
    #[must_use]
    pub fn without(mut self, plugin: AdmissionPlugin) -> Self {
        self.enabled.remove(&plugin);
        self
    }

    /// Whether a plugin is enabled.
    pub fn is_enabled(&self, plugin: AdmissionPlugin) -> bool {
        self.enabled.contains(&plugin)
    }
}
