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
use super::reach::Reach;
use super::webhooks::{CertificateMaker, WebhookWiring};
use crate::progress::say;
use crate::real::{AuthorizerAddress, Parts, RealOptions};
use crate::{Choice, Error, NodeChoice, Settings};

/// How a [`Cluster`] is made.
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
    choice: Choice,
    options: RealOptions,
    nodes: usize,
    sharing: Sharing,
    name: String,
    authorizer: Option<Make>,
    controllers: Controllers,
}

/// Makes an operator, as often as it is started.
#[derive(Clone)]
struct Make(Arc<dyn Fn() -> Operator + Send + Sync>);

impl fmt::Debug for Make {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an operator")
    }
}

/// Whether other tests may use the control plane afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sharing {
    Pooled,
    Own,
}

static NUMBER: AtomicUsize = AtomicUsize::new(0);

impl ClusterBuilder {
    pub(super) fn new(choice: Choice) -> Self {
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

    /// With that many nodes that are only objects; Pods on them run.
    #[must_use]
    pub fn nodes(mut self, count: usize) -> Self {
        self.nodes = count;
        if count > 0 {
            self.options.parts = Parts::Nodes;
        }
        self
    }

    /// With the controllers of Kubernetes, on a real cluster; the embedded one has its own.
    #[must_use]
    pub fn controllers(mut self) -> Self {
        self.options.parts = self.options.parts.max(Parts::Controllers);
        self
    }

    /// With a feature gate set, on a real cluster.
    #[must_use]
    pub fn feature_gate(mut self, name: impl Into<String>, on: bool) -> Self {
        self.options.feature_gates.insert(name.into(), on);
        self
    }

    /// With an admission plugin that is off by default, on a real cluster.
    #[must_use]
    pub fn enable_admission(mut self, plugin: impl Into<String>) -> Self {
        self.options.enable_admission.insert(plugin.into());
        self
    }

    /// Without an admission plugin that is on by default, on a real cluster.
    #[must_use]
    pub fn disable_admission(mut self, plugin: impl Into<String>) -> Self {
        self.options.disable_admission.insert(plugin.into());
        self
    }

    /// With a further flag of kube-apiserver, on a real cluster.
    #[must_use]
    pub fn api_server_flag(mut self, flag: impl Into<String>) -> Self {
        self.options.api_server_flags.push(flag.into());
        self
    }

    /// With an API server that asks this webhook what users may do, before the roles.
    #[must_use]
    pub fn authorization_webhook(mut self, authorizer: AuthorizerAddress) -> Self {
        self.options.authorizer = Some(authorizer);
        self.own()
    }

    /// With an operator whose [`authorizer`](Operator::authorizer) the API server asks what users
    /// may do, before the roles. It runs from the start, as after [`Cluster::run`].
    #[must_use]
    pub fn authorized_by<F>(mut self, operator: F) -> Self
    where
        F: Fn() -> Operator + Send + Sync + 'static,
    {
        self.authorizer = Some(Make(Arc::new(operator)));
        self.own()
    }

    /// Outside the pool: started for this use, ended after it.
    #[must_use]
    pub fn own(mut self) -> Self {
        self.sharing = Sharing::Own;
        self
    }

    /// Named after a test: the namespace carries the name.
    #[must_use]
    pub fn named(mut self, test: impl Into<String>) -> Self {
        self.name = test.into();
        self
    }

    /// Where nothing happens that no client does, on the embedded cluster too.
    #[doc(hidden)]
    #[must_use]
    pub fn still(mut self) -> Self {
        self.controllers = Controllers::none();
        self
    }

    /// Starts the cluster, or takes one from the pool, and makes a namespace for the test.
    ///
    /// # Cancel safety
    ///
    /// When dropped, what was started ends.
    pub async fn start(mut self) -> Result<Cluster, Error> {
        let settings = Settings::from_environment()?;
        let wiring = match &self.authorizer {
            Some(Make(make)) => {
                let (description, maker) = (make().description(), CertificateMaker::Kit);
                Some(WebhookWiring::new(self.authorizer_reach()?, &description, maker).await?)
            }
            None => None,
        };
        if let Some(wiring) = &wiring {
            self.options.authorizer = Some(wiring.authorizer());
        }
        let authorizer = self.options.authorizer.as_ref();
        let backend = match (self.choice, self.sharing) {
            (Choice::Existing, _) if self.nodes > 0 && settings.nodes == NodeChoice::Kept => {
                return Err(Error::Unsupported {
                    asked: format!("add {} nodes", self.nodes),
                    why: "an existing cluster keeps the nodes that it has, unless \
                          KUBEWRIGHT_TEST_NODES=simulated",
                });
            }
            (Choice::Existing, _) => Backend::Existing(Existing::start(&settings).await?),
            (Choice::Embedded, _) => {
                let (parts, controllers) = (self.options.parts, self.controllers.clone());
                Backend::Embedded(Embedded::start(parts, authorizer, controllers))
            }
            (Choice::Real, Sharing::Pooled) => {
                Backend::Real(Lease::pooled(&self.options, &settings).await?)
            }
            (Choice::Real, Sharing::Own) => {
                Backend::Real(Lease::own(&self.options, &settings).await?)
            }
        };
        let mut namespace = namespace_name(&self.name);
        if let Backend::Existing(_) = &backend {
            // Others may use it, and former runs may have left something.
            namespace = format!("{namespace}-{:08x}", RandomState::new().hash_one(0) >> 32);
        }
        let cluster = Cluster::new(backend, namespace, settings.timeout).await?;
        for number in 1..=self.nodes {
            cluster.try_add_node(&format!("node-{number}")).await?;
        }
        if let Some(Make(make)) = self.authorizer {
            cluster.run_wired(make, wiring).await?;
        }
        Ok(cluster)
    }

    /// From where the API server asks its authorizer.
    fn authorizer_reach(&self) -> Result<Reach, Error> {
        match self.choice {
            Choice::Embedded => Ok(Reach::Process),
            Choice::Real => Ok(Reach::Machine),
            Choice::Existing => Err(Error::Unsupported {
                asked: "have the API server ask an authorizer".to_owned(),
                why: "that of an existing cluster was started by others",
            }),
        }
    }

    /// As [`start`](Self::start), but none where Go is missing or too old and nothing is built yet: a line
    /// says that the test was skipped, unless `KUBEWRIGHT_REQUIRE=real` makes it an error.
    ///
    /// # Cancel safety
    ///
    /// When dropped, what was started ends.
    pub async fn start_or_skip(self) -> Result<Option<Cluster>, Error> {
        let name = self.name.clone();
        let required = Settings::from_environment()?.require_real;
        match self.start().await {
            Err(error @ (Error::GoMissing | Error::GoTooOld { .. })) if !required => {
                say(format_args!("skipped {name}: {error}"));
                Ok(None)
            }
            result => result.map(Some),
        }
    }
}

/// A namespace's name that says which test it is of.
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
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("{}-{number}", text.trim_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::namespace_name;

    #[test]
    fn a_namespace_is_named_after_its_test_and_never_twice() {
        let one = namespace_name("it::Node_comes");
        assert!(one.starts_with("it--node-comes-"), "{one}");
        assert_ne!(one, namespace_name("it::Node_comes"));
        assert!(namespace_name(&"x".repeat(200)).len() <= 63);
    }
}
