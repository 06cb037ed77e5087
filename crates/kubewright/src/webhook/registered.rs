use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kubewright_core::{
    Exemption, FailurePolicy, Kind, LabelSelector, NamedExpression, Operation, Reinvocation,
    Resource, SideEffects, WebhookDescription, WebhookKind,
};
use kubewright_runtime::informer::Informers;
use kubewright_webhook::Routes;
use tokio::time::Instant;

use super::handler::{Handler, async_validator, defaulter, mutator, validator};
use super::read::Read;
use super::{Admission, Change, Denied, Findings, Reads, conditions, fault_of_conditions};
use crate::Error;
use crate::controller::{AnyKind, Selection, TypedKind, Views, resource_of};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);
const LONGEST_TIMEOUT: Duration = Duration::from_secs(30);

/// A function that the API server asks before it stores an object.
///
/// ```
/// use kubewright::prelude::*;
/// use kubewright::Webhook;
/// use kubewright::webhook::{Change, Findings};
///
/// fn check(change: &Change<ConfigMap>, findings: &mut Findings) {
///     if change.object().is_some_and(|map| map.data.is_none()) {
///         findings.required("data", "");
///     }
/// }
///
/// let operator = Operator::new("tidy").webhook(Webhook::validates(check).objects("team=a"));
/// assert_eq!(operator.description().webhooks[0].path, "/validate--v1-configmap");
/// ```
pub struct Webhook {
    kind: WebhookKind,
    pub(super) resource: Resource,
    /// The object itself when it is none.
    pub(super) part: Option<String>,
    /// The policy that it stands in for.
    policy: Option<String>,
    /// The usual one when it is none.
    path: Option<String>,
    /// Create and update when it is empty.
    pub(super) operations: Vec<Operation>,
    /// Requests fail when it is none.
    failure_policy: Option<FailurePolicy>,
    timeout: Duration,
    side_effects: SideEffects,
    reinvocation: Reinvocation,
    pub(super) objects: String,
    pub(super) namespaces: String,
    /// The usual one when it is none.
    pub(super) exemption: Option<Exemption>,
    pub(super) conditions: Vec<NamedExpression>,
    reads: Vec<Read>,
    handler: Handler,
}

impl Webhook {
    /// Fills in what is missing, on create and update.
    ///
    /// The patch is what the function did, applied to the object that was sent: fields that the
    /// type does not know are never lost. It is asked again when a later webhook changed the
    /// object, so calling it twice must be the same as calling it once.
    pub fn defaults<K: TypedKind>(fill_in: impl Fn(&mut K) + Send + Sync + 'static) -> Self {
        Self::defaulting(resource_of::<K>(), defaulter(fill_in))
    }

    /// Judges objects, on create and update: all faults are answered at once, as 422 with a cause
    /// for each.
    ///
    /// An object that is going and only loses finalizers is not asked about.
    pub fn validates<K: TypedKind>(
        check: impl Fn(&Change<K>, &mut Findings) + Send + Sync + 'static,
    ) -> Self {
        let resource = resource_of::<K>();
        let handler = validator(resource.kind.clone(), check);
        Self::new(resource, WebhookKind::Validating, handler)
    }

    /// Judges objects as [`validates`](Self::validates) does, and may look at the cache for it: the
    /// kinds that [`reads`](Self::reads) names.
    pub fn validates_async<K, F, Fut>(examine: F) -> Self
    where
        K: TypedKind,
        F: Fn(Change<K>, Admission) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Findings, Denied>> + Send + 'static,
    {
        let resource = resource_of::<K>();
        let handler = async_validator(resource.kind.clone(), examine);
        Self::new(resource, WebhookKind::Validating, handler)
    }

    /// Changes objects, on create and update unless [`on`](Self::on) says otherwise.
    pub fn mutates<K, F, Fut>(mutate: F) -> Self
    where
        K: TypedKind,
        F: Fn(K, Admission) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<K, Denied>> + Send + 'static,
    {
        Self::new(resource_of::<K>(), WebhookKind::Mutating, mutator(mutate))
    }

    /// One that fills in what is missing; what a later webhook adds may lack something, too.
    pub(super) fn defaulting(resource: Resource, handler: Handler) -> Self {
        let webhook = Self::new(resource, WebhookKind::Mutating, handler);
        webhook.reinvoke(Reinvocation::IfNeeded)
    }

    pub(super) fn new(resource: Resource, kind: WebhookKind, handler: Handler) -> Self {
        Self {
            kind,
            resource,
            part: None,
            policy: None,
            path: None,
            operations: Vec::new(),
            failure_policy: None,
            timeout: DEFAULT_TIMEOUT,
            side_effects: SideEffects::None,
            reinvocation: Reinvocation::Never,
            objects: String::new(),
            namespaces: String::new(),
            exemption: None,
            conditions: Vec::new(),
            reads: Vec::new(),
            handler,
        }
    }

    /// What happens when the webhook cannot be asked; requests fail unless said otherwise.
    #[must_use]
    pub fn on_failure(mut self, policy: FailurePolicy) -> Self {
        self.failure_policy = Some(policy);
        self
    }

    /// How long the API server waits, in whole seconds; 5 unless said otherwise.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Does something besides answering, but not when the request is a dry run.
    #[must_use]
    pub fn side_effects(mut self, effects: SideEffects) -> Self {
        self.side_effects = effects;
        self
    }

    /// Whether a mutator is asked again when a later one changed the object.
    #[must_use]
    pub fn reinvoke(mut self, policy: Reinvocation) -> Self {
        self.reinvocation = policy;
        self
    }

    /// Another path than the usual one.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Reads this kind from the cache, by [`Admission::list`], [`Admission::get`] and
    /// [`Admission::by_index`], or by [`Admission::list_of`] and its siblings one that is known
    /// only when the program runs. A request waits until the cache is filled, and fails when its
    /// time runs out before that.
    #[must_use]
    pub fn reads<W: AnyKind>(mut self, kind: Selection<W>) -> Self {
        self.reads.push(Read::new(kind));
        self
    }

    /// Answers a review, bytes in and bytes out, as the server would, but without a server and
    /// without a cache: for tests and measurements.
    ///
    /// ```
    /// use kubewright::prelude::*;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let webhook = Webhook::defaults(|map: &mut ConfigMap| {
    ///     map.immutable.get_or_insert(true);
    /// });
    /// let review = serde_json::json!({
    ///     "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
    ///     "request": {"uid": "7", "operation": "CREATE", "object": {"metadata": {}}},
    /// });
    /// let answer = webhook.answer(review.to_string().as_bytes()).await;
    /// let answer: serde_json::Value = serde_json::from_slice(&answer).unwrap();
    /// assert_eq!(answer["response"]["uid"], "7");
    /// assert_eq!(answer["response"]["patchType"], "JSONPatch");
    /// # });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Dropped, the function's own future is dropped where it stands.
    pub async fn answer(&self, review: &[u8]) -> Vec<u8> {
        let handler = Arc::clone(&self.handler);
        let path = self.path_or_usual();
        let routes = Routes::default().admission(
            path.clone(),
            Arc::new(move |request, _| handler(request, Reads::default())),
        );
        let deadline = Instant::now() + self.timeout;
        let answer = routes.handle(&path, review.to_vec().into(), deadline);
        answer.await.unwrap_or_default().into()
    }

    /// For what a policy is for, where nothing else was said; its name and usual path are of the
    /// policy, so that several of one kind can stand in.
    pub(crate) fn standing_in(mut self, place: Place) -> Self {
        if self.operations.is_empty() {
            self.operations = place.operations;
        }
        if self.objects.is_empty() {
            self.objects = place.objects;
        }
        if self.namespaces.is_empty() {
            self.namespaces = place.namespaces;
        }
        self.failure_policy.get_or_insert(place.failure_policy);
        self.exemption.get_or_insert(place.exemption);
        self.policy = Some(place.policy);
        self
    }

    fn path_or_usual(&self) -> String {
        if let Some(path) = &self.path {
            return path.clone();
        }
        let usual = WebhookDescription::default_path(self.kind, &self.resource.kind);
        let behind = [self.part.as_deref(), self.policy.as_deref()];
        let behind = behind.into_iter().flatten();
        behind.fold(usual, |path, name| format!("{path}/{name}"))
    }

    fn failure_policy_or_usual(&self) -> FailurePolicy {
        self.failure_policy.unwrap_or(FailurePolicy::Fail)
    }

    fn exemption_or_usual(&self) -> Exemption {
        let usual = || usual_exemption(&self.resource.kind);
        self.exemption.unwrap_or_else(usual)
    }

    pub(crate) fn describe(&self, operator: &str) -> WebhookDescription {
        let kind = &self.resource.kind;
        let (prefix, group) = (
            match self.kind {
                WebhookKind::Mutating => 'm',
                WebhookKind::Validating => 'v',
            },
            match kind.group() {
                "" => "core",
                group => group,
            },
        );
        let lower = kind.kind.to_lowercase();
        // The API server takes no two of one name in a configuration.
        let before = [self.part.clone(), self.policy.clone()];
        let name = format!("{prefix}{lower}-{}.{operator}.{group}", kind.version());
        let name = before
            .into_iter()
            .flatten()
            .fold(name, |name, before| format!("{before}.{name}"));
        let operations = match self.operations.is_empty() {
            true => vec![Operation::Create, Operation::Update],
            false => self.operations.clone(),
        };
        WebhookDescription {
            name,
            kind: self.kind,
            path: self.path_or_usual(),
            resource: self.resource.clone(),
            subresource: self.part.clone(),
            failure_policy: self.failure_policy_or_usual(),
            timeout: self.timeout,
            side_effects: self.side_effects,
            reinvocation: self.reinvocation,
            objects: self.objects.parse().unwrap_or_default(),
            namespaces: self.namespaces.parse().unwrap_or_default(),
            exemption: self.exemption_or_usual(),
            conditions: conditions(&operations, &self.conditions),
            operations,
            reads: self
                .reads
                .iter()
                .map(|read| read.resource.clone())
                .collect(),
        }
    }

    /// Refuses what cannot be registered.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let path = self.path_or_usual();
        for text in [&self.objects, &self.namespaces] {
            let parsed = text.parse::<LabelSelector>();
            parsed
                .and_then(|selector| selector.to_object())
                .map_err(|source| Error::WebhookSelector {
                    path: path.clone(),
                    text: text.clone(),
                    source,
                })?;
        }
        for read in &self.reads {
            read.check(&path)?;
        }
        let is_path = path.starts_with('/')
            && path
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_/".contains(c));
        if !is_path {
            return Err(Error::WebhookPath { path });
        }
        if let Some(why) = fault_of_conditions(&self.conditions) {
            return Err(Error::WebhookCondition { path, why });
        }
        let width = Width {
            kind: &self.resource.kind,
            exemption: self.exemption_or_usual(),
            objects: &self.objects,
            namespaces: &self.namespaces,
            failure_policy: self.failure_policy_or_usual(),
        };
        if width.could_stop_the_cluster() {
            return Err(Error::WebhookWidth { path });
        }
        match self.timeout.as_secs() > 0 && self.timeout <= LONGEST_TIMEOUT {
            true => Ok(()),
            false => Err(Error::WebhookTimeout {
                path,
                timeout: self.timeout,
            }),
        }
    }

    /// The function, and what it reads.
    pub(crate) fn build(self, informers: &Informers) -> Result<(String, Handler, Reads), Error> {
        let path = self.path_or_usual();
        let mut opened = Vec::new();
        let mut views = HashMap::new();
        for read in &self.reads {
            let view = read.open(&path, informers)?;
            opened.push(view.informer().clone());
            views.insert(read.view.clone(), view);
        }
        let views = Views::new(&path, views, Default::default());
        Ok((path, self.handler, Reads::new(Arc::new(views), opened)))
    }
}

/// What a policy is for, for the webhook that stands in for it.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) policy: String,
    pub(crate) operations: Vec<Operation>,
    pub(crate) failure_policy: FailurePolicy,
    pub(crate) objects: String,
    pub(crate) namespaces: String,
    pub(crate) exemption: Exemption,
}

/// Which objects a webhook or a policy is for, and what a failure of it does to them.
#[derive(Debug)]
pub(crate) struct Width<'w> {
    pub(crate) kind: &'w Kind,
    pub(crate) exemption: Exemption,
    pub(crate) objects: &'w str,
    pub(crate) namespaces: &'w str,
    pub(crate) failure_policy: FailurePolicy,
}

impl Width<'_> {
    /// Whether a failure could keep every Pod from starting, also the operator's own.
    pub(crate) fn could_stop_the_cluster(&self) -> bool {
        let is_for_pods = self.kind.group().is_empty() && self.kind.kind == "Pod";
        let is_for_all = self.exemption == Exemption::Nothing
            && self.objects.is_empty()
            && self.namespaces.is_empty();
        is_for_pods && is_for_all && self.failure_policy == FailurePolicy::Fail
    }
}

/// Which namespaces are left alone unless somebody says otherwise.
pub(crate) fn usual_exemption(kind: &Kind) -> Exemption {
    match is_builtin(kind) {
        true => Exemption::SystemNamespaces,
        // Nothing that a cluster needs to start is of a kind that came later.
        false => Exemption::Nothing,
    }
}

fn is_builtin(kind: &Kind) -> bool {
    !kind.group().contains('.') || kind.group().ends_with(".k8s.io")
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook")
            .field("description", &self.describe("operator"))
            .finish_non_exhaustive()
    }
}
