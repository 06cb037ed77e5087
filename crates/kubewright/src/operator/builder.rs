//! [`Operator`]: registers controllers, webhooks, policies and tasks.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use kube::CustomResourceExt;
use kube::client::Body;
use kubewright_core::{PolicyEffect, PolicyRule};
use kubewright_runtime::NamespaceSet;
use kubewright_runtime::client::RequestService;
use kubewright_runtime::prometheus::Exposition;
use kubewright_webhook::review::SubjectAccessReviewSpec;
use serde_json::Value;
use tower::{BoxError, Layer, Service};

use super::client_stack::ClientLayer;
use super::election::LeaderElection;
use super::task::{Task, TaskContext, TaskReplicas};
use super::transforms::Transforms;
use crate::Result;
use crate::controller::{AnyController, Controller};
use crate::endpoint::{Check, Checks, ExtraMetrics};
use crate::kinds::{AnyKind, Selection, TypedKind};
use crate::policy::Policy;
use crate::webhook::{AnyWebhook, Authorizer, Verdict, WebhookRegistrations};

/// A program that reconciles objects of a cluster: controllers, webhooks, policies and tasks.
///
/// See the [crate documentation](crate) for an example.
pub struct Operator {
    pub(super) name: String,
    pub(super) version: Option<String>,
    pub(super) controllers: Vec<Box<dyn AnyController>>,
    pub(super) webhooks: WebhookRegistrations,
    /// The names of definitions that have only their stored version, because webhooks were removed.
    pub(super) unconverted: Vec<String>,
    pub(super) policies: Vec<Policy<PolicyEffect>>,
    /// Whether fallback webhooks have replaced the policies.
    pub(super) uses_fallbacks: bool,
    pub(super) tasks: Vec<Task>,
    pub(super) election: Option<LeaderElection>,
    pub(super) namespaces: Option<NamespaceSet>,
    pub(super) healthz: Checks,
    pub(super) readyz: Checks,
    pub(super) metrics: Vec<ExtraMetrics>,
    pub(super) transforms: Transforms,
    pub(super) client_layers: Vec<ClientLayer>,
    /// Definitions of kinds that no controller reconciles.
    pub(super) definitions: Vec<Value>,
    pub(super) rules: Vec<PolicyRule>,
}

impl Operator {
    /// Creates an operator. Its ServiceAccount and roles have this name, and the field manager of
    /// its controllers is `kubewright/NAME/CONTROLLER`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: None,
            controllers: Vec::new(),
            webhooks: WebhookRegistrations::default(),
            unconverted: Vec::new(),
            policies: Vec::new(),
            uses_fallbacks: false,
            tasks: Vec::new(),
            election: None,
            namespaces: None,
            healthz: Checks::default(),
            readyz: Checks::default(),
            metrics: Vec::new(),
            transforms: Transforms::default(),
            client_layers: Vec::new(),
            definitions: Vec::new(),
            rules: Vec::new(),
        }
    }

    /// Sets the version that the subcommand `version` prints, usually `env!("CARGO_PKG_VERSION")`.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Adds a controller.
    #[must_use]
    pub fn controller<K: AnyKind>(mut self, controller: Controller<K>) -> Self {
        self.controllers.push(Box::new(controller));
        self
    }

    /// Adds the definition of a kind that no controller of this operator reconciles.
    #[must_use]
    pub fn installs<K>(mut self, _kind: Selection<K>) -> Self
    where
        K: TypedKind + CustomResourceExt,
    {
        self.definitions.extend(serde_json::to_value(K::crd()));
        self
    }

    /// Adds a webhook: a function that the API server calls before it stores an object, or two
    /// functions that convert a kind between versions.
    #[must_use]
    pub fn webhook(mut self, webhook: impl Into<AnyWebhook>) -> Self {
        match webhook.into() {
            AnyWebhook::Admission(webhook) => self.webhooks.webhooks.push(webhook),
            AnyWebhook::Conversion(conversion) => self.webhooks.conversions.push(conversion),
        }
        self
    }

    /// Adds an authorization webhook under `/authorize`, which decides whether a user may send a
    /// request.
    ///
    /// No object configures it: the API server must be started with an `--authorization-config`
    /// that refers to the operator and contains a CA bundle. That file does not follow a rotation,
    /// so serve an authorizer with certificate files, not with a managed certificate. If the
    /// function panics or exceeds its timeout, the `failurePolicy` of that configuration applies.
    ///
    /// ```
    /// use kubewright::prelude::*;
    /// use kubewright::webhook::{SubjectAccessReviewSpec, Verdict};
    ///
    /// async fn decide(review: SubjectAccessReviewSpec) -> Verdict {
    ///     match review.user.as_str() {
    ///         "intern" => Verdict::denied("interns have no access"),
    ///         _ => Verdict::NoOpinion,
    ///     }
    /// }
    ///
    /// assert!(Operator::new("guard").authorizer(decide).description().authorizes);
    /// ```
    #[must_use]
    pub fn authorizer<F, Fut>(mut self, decide: F) -> Self
    where
        F: Fn(SubjectAccessReviewSpec) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Verdict> + Send + 'static,
    {
        self.webhooks.authorizer = Some(Authorizer::new(decide));
        self
    }

    /// Adds a task that runs beside the controllers, such as a web server or a poller.
    ///
    /// A task that fails or panics is logged, fails `/readyz` and is called again after a delay
    /// that doubles from one second to a minute. A task that returns is complete. Once
    /// [`TaskContext::stopping`] returns, it has until the end of the grace period to return. If a
    /// leader is elected, the task runs on all copies of the operator.
    #[must_use]
    pub fn task<F, Fut>(mut self, name: impl Into<String>, task: F) -> Self
    where
        F: Fn(TaskContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        self.tasks
            .push(Task::new(name.into(), TaskReplicas::Every, task));
        self
    }

    /// Adds a task like [`task`](Self::task) that runs on the leader alone: it is called when a
    /// term begins, and its future is dropped when the term ends.
    #[must_use]
    pub fn leader_task<F, Fut>(mut self, name: impl Into<String>, task: F) -> Self
    where
        F: Fn(TaskContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        self.tasks
            .push(Task::new(name.into(), TaskReplicas::Leader, task));
        self
    }

    /// Elects a leader among several copies of the operator by a Lease. The others fill their
    /// caches and wait. The Lease is in the operator's own namespace, and the manifests grant it.
    ///
    /// A copy takes part if it runs with `--leader-elect`, as in the Deployment of the manifests,
    /// or with [`ElectionOptions`](crate::election::ElectionOptions).
    #[must_use]
    pub fn leader_election(mut self, election: LeaderElection) -> Self {
        self.election = Some(election);
        self
    }

    /// Restricts the operator to some namespaces: it reads and writes in these alone, and the
    /// manifests grant a Role in each of them. A ClusterRole grants only cluster-scoped kinds.
    ///
    /// Keep a clone of the set to change it while the operator runs. The role in a namespace that
    /// is added then must be granted separately.
    ///
    /// ```
    /// use kubewright::prelude::*;
    ///
    /// let operator = Operator::new("site").namespaces(["shop", "web"]);
    /// assert_eq!(operator.description().namespaces.len(), 2);
    /// ```
    #[must_use]
    pub fn namespaces(mut self, namespaces: impl Into<NamespaceSet>) -> Self {
        self.namespaces = Some(namespaces.into());
        self
    }

    /// Whether its copies elect a leader; see [`leader_election`](Self::leader_election).
    pub fn elects_leader(&self) -> bool {
        self.election.is_some()
    }

    /// Adds a check to `/healthz`: if it fails, the kubelet restarts the container.
    #[must_use]
    pub fn healthz<F, Fut>(mut self, name: impl Into<String>, check: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        self.healthz.add(name, to_check(check));
        self
    }

    /// Adds a check to `/readyz`, in addition to those of caches, webhooks, tasks and the election.
    #[must_use]
    pub fn readyz<F, Fut>(mut self, name: impl Into<String>, check: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        self.readyz.add(name, to_check(check));
        self
    }

    /// Adds metrics to `/metrics`, in addition to those of controllers, queues, caches and
    /// requests.
    #[must_use]
    pub fn metrics(mut self, write: impl Fn(&mut Exposition) + Send + Sync + 'static) -> Self {
        self.metrics.push(Arc::new(write));
        self
    }

    /// Adds a rule to the operator's role, in addition to those that follow from registrations.
    #[must_use]
    pub fn grants(mut self, rule: PolicyRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Adds a layer that all requests of the operator's clients pass: a
    /// [`RequestFilter`](crate::client::RequestFilter), or any layer of tower or tower-http. The
    /// layer that is added first sees a request first. Retries, rate limit and the check of
    /// permissions are below all of them.
    ///
    /// ```
    /// use http::{HeaderValue, Request};
    /// use kubewright::Operator;
    /// use kubewright::kube::client::Body;
    /// use tower::util::MapRequestLayer;
    ///
    /// let operator = Operator::new("site").client_layer(MapRequestLayer::new(
    ///     |mut request: Request<Body>| {
    ///         let tenant = HeaderValue::from_static("blue");
    ///         request.headers_mut().insert("x-tenant", tenant);
    ///         request
    ///     },
    /// ));
    /// ```
    #[must_use]
    pub fn client_layer<L, B>(mut self, layer: L) -> Self
    where
        L: Layer<RequestService> + Send + Sync + 'static,
        L::Service: Service<Request<Body>, Response = Response<B>, Error: Into<BoxError>>,
        L::Service: Clone + Send + Sync + 'static,
        <L::Service as Service<Request<Body>>>::Future: Send + 'static,
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        self.client_layers
            .push(Arc::new(move |transport| transport.layer(&layer)));
        self
    }

    /// Returns the name, which is also that of its ServiceAccount, roles and Deployment.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Returns a check whose error is text.
fn to_check<F, Fut>(check: F) -> Check
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<()>> + Send + 'static,
{
    Arc::new(move || {
        let result = check();
        Box::pin(async move { result.await.map_err(|failure| failure.to_string()) })
    })
}

impl fmt::Debug for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operator")
            .field("description", &self.description())
            .finish_non_exhaustive()
    }
}
