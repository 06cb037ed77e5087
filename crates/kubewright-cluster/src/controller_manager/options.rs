//! Which controllers run.

use std::collections::BTreeSet;

use super::name::ControllerName;

/// The controllers of a cluster that are enabled; all of them by default.
///
/// ```
/// use kubewright_cluster::Controllers;
///
/// let controllers = Controllers::all().without("kubelet".parse()?);
/// assert!(!controllers.is_enabled("kubelet".parse()?));
/// assert!(controllers.is_enabled("kube-scheduler".parse()?));
/// # Ok::<(), kubewright_cluster::UnknownController>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controllers {
    enabled: BTreeSet<ControllerName>,
    root_certificate_pem: String,
    records_events: bool,
}

impl Controllers {
    /// All controllers.
    pub fn all() -> Self {
        Self {
            enabled: ControllerName::all().collect(),
            root_certificate_pem: String::new(),
            records_events: true,
        }
    }

    /// No controllers: a bare API server.
    pub fn none() -> Self {
        Self {
            enabled: BTreeSet::new(),
            ..Self::all()
        }
    }

    /// Enables a controller.
    #[must_use]
    pub fn with(mut self, controller: ControllerName) -> Self {
        self.enabled.insert(controller);
        self
    }

    /// Disables a controller.
    #[must_use]
    pub fn without(mut self, controller: ControllerName) -> Self {
        self.enabled.remove(&controller);
        self
    }

    /// Keeps the controllers from recording Events.
    #[must_use]
    pub fn without_events(mut self) -> Self {
        self.records_events = false;
        self
    }

    /// Sets the certificate (PEM) in the ConfigMap `kube-root-ca.crt` of each namespace, by which
    /// Pods verify the API server. It is empty by default, which suits a server without a socket.
    #[must_use]
    pub fn root_certificate(mut self, pem: impl Into<String>) -> Self {
        self.root_certificate_pem = pem.into();
        self
    }

    /// Whether a controller is enabled.
    pub fn is_enabled(&self, controller: ControllerName) -> bool {
        self.enabled.contains(&controller)
    }

    pub(super) fn records_events(&self) -> bool {
        self.records_events
    }

    pub(super) fn root_certificate_pem(&self) -> &str {
        &self.root_certificate_pem
    }
}

impl Default for Controllers {
    fn default() -> Self {
        Self::all()
    }
}
