use std::collections::BTreeSet;
use std::fmt;
use std::process::ExitCode;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use kube::CustomResourceExt;
use kube::client::Body;
use kubewright_core::{Description, PolicyEffect, PolicyRule};
use kubewright_manifest::keep_only_storage_version;
use kubewright_runtime::NamespaceSet;
use kubewright_runtime::client::{RequestService, Transport};
use kubewright_runtime::prometheus::Exposition;
use kubewright_webhook::review::SubjectAccessReviewSpec;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tower::{BoxError, Layer, Service};

use super::cache::Transforms;
use super::client_stack::ClientLayer;
use super::task::{Place, Task, TaskContext};
use super::{LeaderElection, RunOptions, Running, command, start};
use crate::controller::{AnyKind, Controller, Registered, Selection, TypedKind};
use crate::endpoint::{Check, Checks, ExtraMetrics};
use crate::policy::Policy;
use crate::webhook::{AnyWebhook, Authorizer, Conversions, Questions, Verdict};
use crate::{Error, Result};

/// A program that keeps a cluster as its objects say: controllers, and tasks of its own.
///
/// See the [crate's first page](crate) for an example.
pub struct Operator {
    pub(super) name: String,
    pub(super) version: Option<String>,
    pub(super) controllers: Vec<Box<dyn Registered>>,
    /// What the API server may ask.
    pub(super) questions: Questions,
    /// The definitions that lost their other versions with the webhooks.
    pub(super) unconverted: Vec<String>,
    /// What the API server does by itself.
    pub(super) policies: Vec<Policy<PolicyEffect>>,
    /// Whether webhooks stand in for them.
    pub(super) stands_in: bool,
    pub(super) tasks: Vec<Task>,
    pub(super) election: Option<LeaderElection>,
    pub(super) namespaces: Option<NamespaceSet>,
    pub(super) healthz: Checks,
    pub(super) readyz: Checks,
    pub(super) metrics: Vec<ExtraMetrics>,
    pub(super) transforms: Transforms,
    pub(super) client_layers: Vec<ClientLayer>,
    /// Definitions of kinds that no controller here is for.
    pub(super) definitions: Vec<Value>,
    rules: Vec<PolicyRule>,
}

impl Operator {
    /// An operator of this name: its ServiceAccount and roles carry it, and its controllers own
    /// what they apply as `kubewright/NAME/CONTROLLER`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: None,
            controllers: Vec::new(),
            questions: Questions::default(),
            unconverted: Vec::new(),
            policies: Vec::new(),
            stands_in: false,
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

    /// What the subcommand `version` prints, usually `env!("CARGO_PKG_VERSION")`.
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

    /// Brings the definition of a kind along that no controller here is for.
    #[must_use]
    pub fn installs<K>(mut self, _kind: Selection<K>) -> Self
    where
        K: TypedKind + CustomResourceExt,
    {
        self.definitions.extend(serde_json::to_value(K::crd()));
        self
    }

    /// Adds a webhook: a function that the API server asks before it stores an object, or two
    /// that convert a kind between versions.
    #[must_use]
    pub fn webhook(mut self, webhook: impl Into<AnyWebhook>) -> Self {
        match webhook.into() {
            AnyWebhook::Admission(webhook) => self.questions.webhooks.push(webhook),
            AnyWebhook::Conversion(pair) => self.questions.conversions.push(pair),
        }
        self
    }

    /// Answers the API server's questions whether a user may do something, under `/authorize`.
    ///
    /// No object can tell the API server to ask: whoever starts it names the operator in its
    /// `--authorization-config`, with an authority to trust. That does not change by itself, so
    /// that an authorizer is served with a certificate that is given, not with a managed one. A
    /// function that fails or takes too long is an error, which that configuration's
    /// `failurePolicy` settles.
    ///
    /// ```
    /// use kubewright::prelude::*;
    /// use kubewright::webhook::{SubjectAccessReviewSpec, Verdict};
    ///
    /// async fn decide(attempt: SubjectAccessReviewSpec) -> Verdict {
    ///     match attempt.user.as_str() {
    ///         "intern" => Verdict::denied("ask somebody else"),
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
        self.questions.authorizer = Some(Authorizer::new(decide));
        self
    }

    /// Adds a task that runs beside the controllers: a web server, a poller.
    ///
    /// One that fails or panics is logged, fails `/readyz` and is called again after a delay that
    /// doubles from one second to a minute; one that returns is done. It has until the end of the
    /// grace period to return once [`TaskContext::stopping`] does. Where a leader is elected, it
    /// runs on all copies of the operator.
    #[must_use]
    pub fn task<F, Fut>(mut self, name: impl Into<String>, task: F) -> Self
    where
        F: Fn(TaskContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        self.tasks
            .push(Task::new(name.into(), Place::Everywhere, task));
        self
    }

    /// As [`task`](Self::task), on the leader alone: it is called when a term begins, and dropped
    /// where it is when the term is over.
    #[must_use]
    pub fn leader_task<F, Fut>(mut self, name: impl Into<String>, task: F) -> Self
    where
        F: Fn(TaskContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        self.tasks.push(Task::new(name.into(), Place::Leader, task));
        self
    }

    /// Lets several copies of the operator agree by a Lease which of them works; the others have
    /// their caches filled and wait. The Lease is in the namespace that the operator runs in, and
    /// the manifests grant it.
    ///
    /// A copy takes part when it is run with `--leader-elect`, as the Deployment of the manifests
    /// does, or with a [`ElectionOptions`](super::ElectionOptions).
    #[must_use]
    pub fn leader_election(mut self, election: LeaderElection) -> Self {
        self.election = Some(election);
        self
    }

    /// Restricts the operator to some namespaces: it reads and writes in these alone, and the
    /// manifests grant a Role in each of them instead of a ClusterRole; only kinds that are in no
    /// namespace are granted for the cluster.
    ///
    /// Keep a clone to change them while the operator runs. Somebody has to grant it what it needs
    /// in those that come later.
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

    /// Whether copies of it agree who works; see [`leader_election`](Self::leader_election).
    pub fn elects_leader(&self) -> bool {
        self.election.is_some()
    }

    /// Adds a check to `/healthz`: while it fails, the kubelet takes the process for broken and
    /// starts it again.
    #[must_use]
    pub fn healthz<F, Fut>(mut self, name: impl Into<String>, check: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        self.healthz.add(name, told(check));
        self
    }

    /// Adds a check to `/readyz`, beside those of caches, webhooks, tasks and the election.
    #[must_use]
    pub fn readyz<F, Fut>(mut self, name: impl Into<String>, check: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        self.readyz.add(name, told(check));
        self
    }

    /// Adds metrics to `/metrics`, beside those of controllers, queues, caches and requests.
    #[must_use]
    pub fn metrics(mut self, write: impl Fn(&mut Exposition) + Send + Sync + 'static) -> Self {
        self.metrics.push(Arc::new(write));
        self
    }

    /// May do what the rule says, beside what follows from the controllers.
    #[must_use]
    pub fn grants(mut self, rule: PolicyRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Adds a layer that all requests of the operator's clients pass: a
    /// [`RequestFilter`](crate::client::RequestFilter), or any layer of tower, of tower-http, or of
    /// your own. The first layer that is added sees a request first. Retries, limits and the check
    /// of permissions come after all of them.
    ///
    /// ```
    /// use kubewright::Operator;
    /// use kubewright::kube::client::Body;
    /// use http::{HeaderValue, Request};
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

    /// What it is called: the name of its ServiceAccount, roles and Deployment.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the operator registers, as a plain value: manifests and permissions follow from it.
    pub fn description(&self) -> Description {
        let mut description = self.registered();
        // Two controllers may be for one kind.
        let reconciled = self.controllers.iter().filter_map(|one| one.definition());
        for definition in reconciled.chain(self.definitions.iter().cloned()) {
            if !description.custom_resources.contains(&definition) {
                description.custom_resources.push(definition);
            }
        }
        let conversions = self.conversions();
        conversions.complete(&mut description.custom_resources);
        for definition in &mut description.custom_resources {
            let name = definition["metadata"]["name"].as_str().unwrap_or_default();
            if self.unconverted.iter().any(|one| one == name) {
                keep_only_storage_version(definition);
            }
        }
        description
    }

    /// Pairs that do not fit are refused when the operator starts.
    pub(super) fn conversions(&self) -> Conversions {
        Conversions::join(&self.questions.conversions).unwrap_or_default()
    }

    /// The description without the definitions of kinds: those cost more than all the rest, and
    /// an operator that runs has no use for them.
    pub(super) fn registered(&self) -> Description {
        let controllers = || self.controllers.iter();
        let extra = controllers().flat_map(|one| one.extra_rules().iter().cloned());
        let mut description = Description {
            name: self.name.clone(),
            controllers: controllers().map(|one| one.describe()).collect(),
            custom_resources: Vec::new(),
            webhooks: self
                .questions
                .webhooks
                .iter()
                .map(|one| one.describe(&self.name))
                .collect(),
            policies: self
                .policies
                .iter()
                .map(|one| one.describe(&self.name))
                .collect(),
            uses_policy_fallbacks: self.stands_in,
            conversions: self.conversions().describe(),
            authorizes: self.questions.authorizer.is_some(),
            extra_rules: Vec::new(),
            namespaces: self
                .namespaces
                .as_ref()
                .map(NamespaceSet::names)
                .unwrap_or_default(),
            lease: self.election.as_ref().map(|election| {
                let named = election.lease.clone();
                named.unwrap_or_else(|| self.name.clone())
            }),
        };
        // Two controllers may ask for the same.
        for rule in extra.chain(self.rules.iter().cloned()) {
            if !description.extra_rules.contains(&rule) {
                description.extra_rules.push(rule);
            }
        }
        description
    }

    /// The whole program: reads the command line, logs, runs until it is told to stop.
    ///
    /// Without a subcommand it runs; `manifests` prints what a cluster needs before that, and
    /// `version` the versions. SIGINT and SIGTERM let running work end; a second one ends at once.
    pub fn main(self) -> ExitCode {
        command::main(self)
    }

    /// Starts the operator on a cluster and returns at once.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn start(
        self,
        transport: impl Into<Transport>,
        options: RunOptions,
    ) -> Result<Running, Error> {
        self.check()?;
        start::start(self, transport.into(), options)
    }

    /// Runs the operator until `stop` is cancelled and running work has ended.
    ///
    /// # Cancel safety
    ///
    /// Dropped, everything ends at once, in the middle of what it does.
    pub async fn run(
        self,
        transport: impl Into<Transport>,
        options: RunOptions,
        stop: CancellationToken,
    ) -> Result<(), Error> {
        let running = self.start(transport, options)?;
        stop.cancelled().await;
        running.stop().await;
        Ok(())
    }

    /// Refuses what cannot be run.
    pub(super) fn check(&self) -> Result<(), Error> {
        check_name("the operator", &self.name, LONGEST_NAME)?;
        let longest = LONGEST_MANAGER - "kubewright//".len() - self.name.len();
        let longest = longest.min(LONGEST_LABEL);
        let mut names = BTreeSet::new();
        for controller in &self.controllers {
            let name = controller.describe().name;
            check_name("a controller", &name, longest)?;
            controller.check()?;
            if !names.insert(name.clone()) {
                return Err(Error::DuplicateController { name });
            }
        }
        let mut paths = BTreeSet::new();
        Conversions::join(&self.questions.conversions)?;
        self.check_policies()?;
        let stand_ins = self.policies.iter().filter_map(Policy::webhook);
        for webhook in self.questions.webhooks.iter().chain(stand_ins) {
            webhook.check()?;
            let path = webhook.describe(&self.name).path;
            if !paths.insert(path.clone()) {
                return Err(Error::DuplicateWebhook { path });
            }
        }
        match &self.election {
            Some(election) => {
                let lease = election.lease.as_deref().unwrap_or(&self.name);
                check_name("the lease", lease, LONGEST_LABEL)?;
                Ok(election.times.check()?)
            }
            None => Ok(()),
        }
    }
}

/// The check as the probes want it: what went wrong as a text.
fn told<F, Fut>(check: F) -> Check
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<()>> + Send + 'static,
{
    Arc::new(move || {
        let answer = check();
        Box::pin(async move { answer.await.map_err(|failure| failure.to_string()) })
    })
}

/// What the API server allows (RFC 1123 label).
pub(super) const LONGEST_LABEL: usize = 63;
/// What the API server allows (k8s.io/apimachinery/pkg/apis/meta/v1/validation,
/// FieldManagerMaxLength).
const LONGEST_MANAGER: usize = 128;
/// The namespace `NAME-system` is a label, too.
const LONGEST_NAME: usize = LONGEST_LABEL - "-system".len();

/// The rule for namespaces.
pub(super) fn check_namespace(name: &str) -> Result<(), Error> {
    check_name("the namespace", name, LONGEST_LABEL)
}

/// The rule for names of namespaces, because objects are named after it.
pub(super) fn check_name(what: &'static str, name: &str, longest: usize) -> Result<(), Error> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_label = (1..=longest).contains(&name.len())
        && name.chars().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-');
    if is_label {
        return Ok(());
    }
    Err(Error::Name {
        what,
        name: name.to_owned(),
        longest,
    })
}

impl fmt::Debug for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operator")
            .field("description", &self.description())
            .finish_non_exhaustive()
    }
}
