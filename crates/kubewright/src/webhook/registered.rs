use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kubewright_core::{
    Exemption, FailurePolicy, Kind, LabelSelector, Operation, Reinvocation, Resource, SideEffects,
    WebhookDescription, WebhookKind,
};
use kubewright_runtime::informer::{Informer, InformerSpec, Informers};
use kubewright_webhook::Routes;
use tokio::time::Instant;

use super::handler::{Handler, defaulter, examiner, mutator, validator};
use super::{Admission, Change, Denied, Findings, Reads};
use crate::Error;
use crate::registration::{AnyView, Selection, TypedKind, ViewId, Views, resource_of};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);
const LONGEST_TIMEOUT: Duration = Duration::from_secs(30);

/// A function that the API server asks before it stores an object.
///
/// ```
/// use kubewright::prelude::*;
/// use kubewright::{Change, Findings, Webhook};
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
    resource: Resource,
    path: String,
    /// Create and update when it is empty.
    operations: Vec<Operation>,
    failure_policy: FailurePolicy,
    timeout: Duration,
    side_effects: SideEffects,
    reinvocation: Reinvocation,
    objects: String,
    namespaces: String,
    exemption: Exemption,
    reads: Vec<Read>,
    handler: Handler,
}

/// A kind that a webhook reads from the cache.
struct Read {
    resource: Resource,
    labels: String,
    view: ViewId,
    open: fn(Informer) -> AnyView,
}

impl Webhook {
    /// Fills in what is missing, on create and update.
    ///
    /// The patch is what the function did, applied to the object that was sent: fields that the
    /// type does not know are never lost. It is asked again when a later webhook changed the
    /// object, so calling it twice must be the same as calling it once.
    pub fn defaults<K: TypedKind>(fill_in: impl Fn(&mut K) + Send + Sync + 'static) -> Self {
        let webhook = Self::new::<K>(WebhookKind::Mutating, defaulter(fill_in));
        webhook.reinvoke(Reinvocation::IfNeeded)
    }

    /// Judges objects, on create and update: all faults are answered at once, as 422 with a cause
    /// for each.
    ///
    /// An object that is going and only loses finalizers is not asked about.
    pub fn validates<K: TypedKind>(
        check: impl Fn(&Change<K>, &mut Findings) + Send + Sync + 'static,
    ) -> Self {
        let kind = resource_of::<K>().kind;
        Self::new::<K>(WebhookKind::Validating, validator(kind, check))
    }

    /// Judges objects as [`validates`](Self::validates) does, and may look at the cache for it: the
    /// kinds that [`reads`](Self::reads) names.
    pub fn examines<K, F, Fut>(examine: F) -> Self
    where
        K: TypedKind,
        F: Fn(Change<K>, Admission) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Findings, Denied>> + Send + 'static,
    {
        let kind = resource_of::<K>().kind;
        Self::new::<K>(WebhookKind::Validating, examiner(kind, examine))
    }

    /// Changes objects, on create and update unless [`on`](Self::on) says otherwise.
    pub fn mutates<K, F, Fut>(mutate: F) -> Self
    where
        K: TypedKind,
        F: Fn(K, Admission) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<K, Denied>> + Send + 'static,
    {
        Self::new::<K>(WebhookKind::Mutating, mutator(mutate))
    }

    fn new<K: TypedKind>(kind: WebhookKind, handler: Handler) -> Self {
        let resource = resource_of::<K>();
        Self {
            path: WebhookDescription::default_path(kind, &resource.kind),
            exemption: match is_builtin(&resource.kind) {
                true => Exemption::SystemNamespaces,
                // Nothing that a cluster needs to start is of a kind that came later.
                false => Exemption::Nothing,
            },
            kind,
            resource,
            operations: Vec::new(),
            failure_policy: FailurePolicy::Fail,
            timeout: DEFAULT_TIMEOUT,
            side_effects: SideEffects::None,
            reinvocation: Reinvocation::Never,
            objects: String::new(),
            namespaces: String::new(),
            reads: Vec::new(),
            handler,
        }
    }

    /// Only for this; say it again for more. Without it: create and update.
    #[must_use]
    pub fn on(mut self, operation: Operation) -> Self {
        if !self.operations.contains(&operation) {
            self.operations.push(operation);
        }
        self
    }

    /// What happens when the webhook cannot be asked; requests fail unless said otherwise.
    #[must_use]
    pub fn on_failure(mut self, policy: FailurePolicy) -> Self {
        self.failure_policy = policy;
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

    /// Only objects with these labels, such as `app=web`.
    #[must_use]
    pub fn objects(mut self, selector: impl Into<String>) -> Self {
        self.objects = selector.into();
        self
    }

    /// Only objects in namespaces with these labels.
    #[must_use]
    pub fn namespaces(mut self, selector: impl Into<String>) -> Self {
        self.namespaces = selector.into();
        self
    }

    /// Which namespaces are left alone: for kinds of Kubernetes itself `kube-system` and the
    /// operator's own, unless said otherwise.
    #[must_use]
    pub fn exempt(mut self, exemption: Exemption) -> Self {
        self.exemption = exemption;
        self
    }

    /// Another path than the usual one.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Reads this kind from the cache, by [`Admission::list`] and [`Admission::get`]. A request
    /// waits until the cache is filled, and fails when its time runs out before that.
    #[must_use]
    pub fn reads<W: TypedKind>(mut self, kind: Selection<W>) -> Self {
        self.reads.push(Read {
            resource: kind.resource,
            labels: kind.labels.unwrap_or_default(),
            view: kind.view,
            open: AnyView::open::<W>,
        });
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
        let routes = Routes::default().admission(
            self.path.clone(),
            Arc::new(move |request, _| handler(request, Reads::default())),
        );
        let deadline = Instant::now() + self.timeout;
        let answer = routes.answer(&self.path, review.to_vec().into(), deadline);
        answer.await.unwrap_or_default().into()
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
        WebhookDescription {
            name: format!("{prefix}{lower}-{}.{operator}.{group}", kind.version()),
            kind: self.kind,
            path: self.path.clone(),
            resource: self.resource.clone(),
            operations: match self.operations.is_empty() {
                true => vec![Operation::Create, Operation::Update],
                false => self.operations.clone(),
            },
            failure_policy: self.failure_policy,
            timeout: self.timeout,
            side_effects: self.side_effects,
            reinvocation: self.reinvocation,
            objects: self.objects.parse().unwrap_or_default(),
            namespaces: self.namespaces.parse().unwrap_or_default(),
            exemption: self.exemption,
            reads: self
                .reads
                .iter()
                .map(|read| read.resource.clone())
                .collect(),
        }
    }

    /// Refuses what cannot be registered.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for text in [&self.objects, &self.namespaces] {
            let parsed = text.parse::<LabelSelector>();
            parsed
                .and_then(|selector| selector.to_object())
                .map_err(|source| Error::WebhookSelector {
                    path: self.path.clone(),
                    text: text.clone(),
                    source,
                })?;
        }
        for read in &self.reads {
            read.selector(&self.path)?;
        }
        let is_path = self.path.starts_with('/')
            && self
                .path
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_/".contains(c));
        if !is_path {
            return Err(Error::WebhookPath {
                path: self.path.clone(),
            });
        }
        if self.could_stop_the_cluster() {
            return Err(Error::WebhookWidth {
                path: self.path.clone(),
            });
        }
        match self.timeout.as_secs() > 0 && self.timeout <= LONGEST_TIMEOUT {
            true => Ok(()),
            false => Err(Error::WebhookTimeout {
                path: self.path.clone(),
                timeout: self.timeout,
            }),
        }
    }

    /// Whether no Pod at all could start while the operator is down, not even its own.
    fn could_stop_the_cluster(&self) -> bool {
        let kind = &self.resource.kind;
        let is_for_pods = kind.group().is_empty() && kind.kind == "Pod";
        let is_for_all = self.exemption == Exemption::Nothing
            && self.objects.is_empty()
            && self.namespaces.is_empty();
        is_for_pods && is_for_all && self.failure_policy == FailurePolicy::Fail
    }

    /// The function, and what it reads.
    pub(crate) fn build(self, informers: &Informers) -> Result<(String, Handler, Reads), Error> {
        let mut opened = Vec::new();
        let mut views = HashMap::new();
        for read in &self.reads {
            let informer = informers.get(&InformerSpec {
                labels: read.selector(&self.path)?,
                ..InformerSpec::all(read.resource.clone())
            });
            views.insert(read.view.clone(), (read.open)(informer.clone()));
            opened.push(informer);
        }
        let views = Views::new(&self.path, views, Default::default());
        Ok((self.path, self.handler, Reads::new(Arc::new(views), opened)))
    }
}

impl Read {
    fn selector(&self, path: &str) -> Result<LabelSelector, Error> {
        self.labels
            .parse()
            .map_err(|source| Error::WebhookSelector {
                path: path.to_owned(),
                text: self.labels.clone(),
                source,
            })
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
