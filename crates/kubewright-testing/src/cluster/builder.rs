//! Configures and starts the cluster of a test.

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kubewright::Operator;
use kubewright_cluster::Controllers;

use super::backend::Backend;
use super::embedded::Embedded;
use super::existing::Existing;
use super::handle::Cluster;
use super::pool::Lease;
use super::webhook_address::ApiServerLocation;
use super::webhooks::{CertificateIssuer, WebhookWiring};
use crate::progress::report;
use crate::real::{AuthorizerAddress, Components, RealOptions};
use crate::{ClusterChoice, Error, NodeChoice, Settings};

/// The options of a [`Cluster`].
///
/// ```no_run
/// # async fn example() -> Result<(), kubewright_testing::Error> {
/// use kubewright_testing::Cluster;
///
/// let cluster = Cluster::real().nodes(3).start().await?;
/// cluster.close().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ClusterBuilder {
    choice: ClusterChoice,
    options: RealOptions,
    nodes: usize,
    sharing: Sharing,
    name: String,
    authorizer: Option<OperatorFactory>,
    controllers: Controllers,
}

/// Creates an operator for each run.
#[derive(Clone)]
struct OperatorFactory(Arc<dyn Fn() -> Operator + Send + Sync>);

impl fmt::Debug for OperatorFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an operator")
    }
}

/// Whether other tests may use the control plane afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sharing {
    Pooled,
    Dedicated,
}

static NAMESPACE_NUMBER: AtomicUsize = AtomicUsize::new(0);

impl Cluster {
    /// A cluster in this process.
    pub fn embedded() -> ClusterBuilder {
        ClusterBuilder::new(ClusterChoice::Embedded)
    }

    /// A cluster of real processes.
    pub fn real() -> ClusterBuilder {
        ClusterBuilder::new(ClusterChoice::Real)
    }

    /// The cluster of the current kubeconfig, which a test leaves as it was: the test has its own
    /// namespace there, and the definitions, roles and webhook configurations of the operator under
    /// test are labelled and deleted afterwards. Objects that no test created are never changed.
    /// Tests run one after the other.
    pub fn existing() -> ClusterBuilder {
        ClusterBuilder::new(ClusterChoice::Existing)
    }

    /// The cluster that `KUBEWRIGHT_TEST_CLUSTER` names: `embedded` (the default), `real` or
    /// `existing`.
    pub fn from_environment() -> Result<ClusterBuilder, Error> {
        Ok(ClusterBuilder::new(Settings::from_environment()?.cluster))
    }
}

impl ClusterBuilder {
    fn new(choice: ClusterChoice) -> Self {
        Self {
            choice,
            options: RealOptions::default(),
            nodes: 0,
            sharing: Sharing::Pooled,
            name: "test".to_owned(),
            authorizer: None,
            controllers: Controllers::all(),
        }
    }

    /// Adds simulated nodes, which run Pods.
    #[must_use]
    pub fn nodes(mut self, count: usize) -> Self {
        self.nodes = count;
        if count > 0 {
            self.options.components = Components::Nodes;
        }
        self
    }

    /// Runs the controllers of Kubernetes on a real cluster; the embedded one has its own.
    #[must_use]
    pub fn controllers(mut self) -> Self {
        self.options.components = self.options.components.max(Components::Controllers);
        self
    }

    /// Sets a feature gate on a real cluster.
    #[must_use]
    pub fn feature_gate(mut self, name: impl Into<String>, on: bool) -> Self {
        self.options.feature_gates.insert(name.into(), on);
        self
    }

    /// Enables an admission plugin that is off by default, on a real cluster.
    #[must_use]
    pub fn enable_admission(mut self, plugin: impl Into<String>) -> Self {
        self.options.enable_admission.insert(plugin.into());
        self
    }

    /// Disables an admission plugin that is on by default, on a real cluster.
    #[must_use]
    pub fn disable_admission(mut self, plugin: impl Into<String>) -> Self {
        self.options.disable_admission.insert(plugin.into());
        self
    }

    /// Adds a flag of kube-apiserver on a real cluster.
    #[must_use]
    pub fn api_server_flag(mut self, flag: impl Into<String>) -> Self {
        self.options.api_server_flags.push(flag.into());
        self
    }

    /// Authorizes requests with this webhook before RBAC.
    #[must_use]
    pub fn authorization_webhook(mut self, authorizer: AuthorizerAddress) -> Self {
        self.options.authorizer = Some(authorizer);
        self.dedicated()
    }

    /// Authorizes requests with the [`authorizer`](Operator::authorizer) of an operator before
    /// RBAC. The operator runs from the start, as after [`Cluster::run`].
    #[must_use]
    pub fn authorized_by<F>(mut self, operator: F) -> Self
    where
        F: Fn() -> Operator + Send + Sync + 'static,
    {
        self.authorizer = Some(OperatorFactory(Arc::new(operator)));
        self.dedicated()
    }

    /// Starts a control plane outside of the pool, which is stopped after this use.
    #[must_use]
    pub fn dedicated(mut self) -> Self {
        self.sharing = Sharing::Dedicated;
        self
    }

    /// Names the cluster after a test: the namespace contains the name.
    #[must_use]
    pub fn named(mut self, test: impl Into<String>) -> Self {
        self.name = test.into();
        self
    }

    /// Runs no controllers on the embedded cluster, so that only clients change objects.
    #[doc(hidden)]
    #[must_use]
    pub fn without_controllers(mut self) -> Self {
        self.controllers = Controllers::none();
        self
    }

    /// Starts the cluster, or takes one from the pool, and creates a namespace for the test.
    ///
    /// # Cancel safety
    ///
    /// When dropped, everything that was started is stopped.
    pub async fn start(mut self) -> Result<Cluster, Error> {
        let settings = Settings::from_environment()?;
        let wiring = match &self.authorizer {
            Some(OperatorFactory(make)) => {
                let location = self.authorizer_location()?;
                let (description, issuer) = (make().description(), CertificateIssuer::Harness);
                Some(WebhookWiring::new(location, &description, issuer).await?)
            }
            None => None,
        };
        if let Some(wiring) = &wiring {
            self.options.authorizer = Some(wiring.authorizer());
        }
        let backend = self.start_backend(&settings).await?;
        let mut namespace = namespace_name(&self.name);
        if let Backend::Existing(_) = &backend {
            // Other users, or earlier runs, may have a namespace with this name.
            namespace = format!("{namespace}-{:08x}", RandomState::new().hash_one(0) >> 32);
        }
        let cluster = Cluster::new(backend, namespace, settings.timeout).await?;
        for number in 1..=self.nodes {
            cluster.try_add_node(&format!("node-{number}")).await?;
        }
        if let Some(OperatorFactory(make)) = self.authorizer {
            cluster.run_wired(make, wiring).await?;
        }
        Ok(cluster)
    }

    async fn start_backend(&self, settings: &Settings) -> Result<Backend, Error> {
        match (self.choice, self.sharing) {
            (ClusterChoice::Existing, _)
                if self.nodes > 0 && settings.nodes == NodeChoice::Kept =>
            {
                Err(Error::Unsupported {
                    operation: format!("add {} nodes", self.nodes),
                    reason: "tests do not add nodes to an existing cluster, unless \
                             KUBEWRIGHT_TEST_NODES=simulated",
                })
            }
            (ClusterChoice::Existing, _) => Ok(Backend::Existing(Existing::start(settings).await?)),
            (ClusterChoice::Embedded, _) => {
                let (components, controllers) = (self.options.components, self.controllers.clone());
                let authorizer = self.options.authorizer.as_ref();
                let embedded = Embedded::start(components, authorizer, controllers);
                Ok(Backend::Embedded(embedded))
            }
            (ClusterChoice::Real, Sharing::Pooled) => {
                Ok(Backend::Real(Lease::pooled(&self.options, settings).await?))
            }
            (ClusterChoice::Real, Sharing::Dedicated) => {
                let lease = Lease::dedicated(&self.options, settings).await?;
                Ok(Backend::Real(lease))
            }
        }
    }

    /// Where the API server runs that calls the authorizer.
    fn authorizer_location(&self) -> Result<ApiServerLocation, Error> {
        match self.choice {
            ClusterChoice::Embedded => Ok(ApiServerLocation::SameProcess),
            ClusterChoice::Real => Ok(ApiServerLocation::SameMachine),
            ClusterChoice::Existing => Err(Error::Unsupported {
                operation: "configure an authorizer of the API server".to_owned(),
                reason: "the API server of an existing cluster is already running",
            }),
        }
    }

    /// Starts the cluster as [`start`](Self::start) does. Returns `None` when Go is missing or too
    /// old and no control plane was built before: a line reports that the test was skipped, unless
    /// `KUBEWRIGHT_REQUIRE=real` makes it an error.
    ///
    /// # Cancel safety
    ///
    /// When dropped, everything that was started is stopped.
    pub async fn start_or_skip(self) -> Result<Option<Cluster>, Error> {
        let name = self.name.clone();
        let required = Settings::from_environment()?.require_real;
        match self.start().await {
            Err(error @ (Error::GoMissing | Error::GoTooOld { .. })) if !required => {
                report(format_args!("skipped {name}: {error}"));
                Ok(None)
            }
            result => result.map(Some),
        }
    }
}

/// A unique name for a namespace, with the name of the test in it.
fn namespace_name(test: &str) -> String {
    let text: String = test
        .chars()
        .map(|letter| letter.to_ascii_lowercase())
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .take(45)
        .collect();
    let number = NAMESPACE_NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("{}-{number}", text.trim_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::namespace_name;

    #[test]
    fn namespace_has_a_unique_name_with_the_name_of_the_test() {
        let name = namespace_name("it::Node_comes");
        assert!(name.starts_with("it--node-comes-"), "{name}");
        assert_ne!(name, namespace_name("it::Node_comes"));
        assert!(namespace_name(&"x".repeat(200)).len() <= 63);
    }
}
