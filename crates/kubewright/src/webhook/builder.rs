//! [`Webhook`]: a function that the API server calls before it stores an object.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kubewright_core::{
    Exemption, FailurePolicy, NamedExpression, Operation, Reinvocation, Resource, SideEffects,
    WebhookKind,
};
use kubewright_runtime::informer::Informers;
use kubewright_webhook::Routes;
use tokio::time::Instant;

use super::admission::Admission;
use super::cached_kind::CachedKind;
use super::change::Change;
use super::denied::Denied;
use super::environment::HandlerEnvironment;
use super::fallback::FallbackScope;
use super::findings::Findings;
use super::mutating_handler::{defaulter, mutator};
use super::request_object::Handler;
use super::validating_handler::{async_validator, validator};
use crate::Error;
use crate::kinds::{AnyKind, Selection, TypedKind, Views, resource_of};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// A function that the API server calls before it stores an object.
///
/// ```
/// use kubewright::prelude::*;
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
    pub(super) kind: WebhookKind,
    pub(super) resource: Resource,
    /// Without a subresource, the webhook applies to the object itself.
    pub(super) subresource: Option<String>,
    /// The policy whose fallback the webhook is.
    pub(super) policy: Option<String>,
    /// The path, if it is not the default.
    pub(super) path: Option<String>,
    /// Empty for create and update.
    pub(super) operations: Vec<Operation>,
    /// The failure policy, if it is not the default (`Fail`).
    pub(super) failure_policy: Option<FailurePolicy>,
    pub(super) timeout: Duration,
    pub(super) side_effects: SideEffects,
    pub(super) reinvocation: Reinvocation,
    pub(super) objects: String,
    pub(super) namespaces: String,
    /// The exemption, if it is not the default.
    pub(super) exemption: Option<Exemption>,
    pub(super) conditions: Vec<NamedExpression>,
    pub(super) reads: Vec<CachedKind>,
    handler: Handler,
}

/// A webhook with its open views, ready to be served.
pub(super) struct BuiltWebhook {
    pub(super) path: String,
    pub(super) handler: Handler,
    pub(super) environment: HandlerEnvironment,
}

impl Webhook {
    /// Creates a webhook that sets missing fields, on create and update.
    ///
    /// The patch contains the changes of the function, applied to the object that was sent: fields
    /// that the type lacks are preserved. The webhook is called again if a later webhook changed
    /// the object, so the function must be idempotent.
    pub fn defaults<K: TypedKind>(fill_in: impl Fn(&mut K) + Send + Sync + 'static) -> Self {
        Self::defaulting(resource_of::<K>(), defaulter(fill_in))
    }

    /// Creates a webhook that validates objects, on create and update. All errors are in one
    /// response with code 422, each as a cause.
    ///
    /// It is not called for an object that is being deleted and only loses finalizers.
    pub fn validates<K: TypedKind>(
        check: impl Fn(&Change<K>, &mut Findings) + Send + Sync + 'static,
    ) -> Self {
        let resource = resource_of::<K>();
        let handler = validator(resource.kind.clone(), check);
        Self::new(resource, WebhookKind::Validating, handler)
    }

    /// Creates a webhook that validates objects like [`validates`](Self::validates), and can read
    /// the kinds of [`reads`](Self::reads) from the cache.
    pub fn validates_async<K, F, Fut>(validate: F) -> Self
    where
        K: TypedKind,
        F: Fn(Change<K>, Admission) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Findings, Denied>> + Send + 'static,
    {
        let resource = resource_of::<K>();
        let handler = async_validator(resource.kind.clone(), validate);
        Self::new(resource, WebhookKind::Validating, handler)
    }

    /// Creates a webhook that changes objects, by default on create and update ([`on`](Self::on)).
    pub fn mutates<K, F, Fut>(mutate: F) -> Self
    where
        K: TypedKind,
        F: Fn(K, Admission) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<K, Denied>> + Send + 'static,
    {
        Self::new(resource_of::<K>(), WebhookKind::Mutating, mutator(mutate))
    }

    /// Creates a webhook that sets missing fields. A later webhook can add an object part that
    /// lacks some, so it is reinvoked.
    pub(super) fn defaulting(resource: Resource, handler: Handler) -> Self {
        let webhook = Self::new(resource, WebhookKind::Mutating, handler);
        webhook.reinvoke(Reinvocation::IfNeeded)
    }

    pub(super) fn new(resource: Resource, kind: WebhookKind, handler: Handler) -> Self {
        Self {
            kind,
            resource,
            subresource: None,
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

    /// Sets what happens if the webhook cannot be called; by default the request fails.
    #[must_use]
    pub fn on_failure(mut self, policy: FailurePolicy) -> Self {
        self.failure_policy = Some(policy);
        self
    }

    /// Sets the API server's timeout, in whole seconds; the default is 5.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Declares side effects of the function. It must have none if the request is a dry run.
    #[must_use]
    pub fn side_effects(mut self, effects: SideEffects) -> Self {
        self.side_effects = effects;
        self
    }

    /// Sets whether a mutating webhook is called again if a later webhook changed the object.
    #[must_use]
    pub fn reinvoke(mut self, policy: Reinvocation) -> Self {
        self.reinvocation = policy;
        self
    }

    /// Sets the path, in place of the default.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Registers a kind that the function reads from the cache, by [`Admission::list`],
    /// [`Admission::get`] and [`Admission::by_index`], or by [`Admission::list_of`],
    /// [`Admission::get_of`] and [`Admission::by_index_of`] for a kind that is known only at run
    /// time.
    ///
    /// A request waits until the cache is filled, and fails if its timeout ends first.
    #[must_use]
    pub fn reads<W: AnyKind>(mut self, kind: Selection<W>) -> Self {
        self.reads.push(CachedKind::new(kind));
        self
    }

    /// Handles an `AdmissionReview` and returns the response review, both as JSON, without a server
    /// and without a cache: for tests and measurements.
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
    /// let review = webhook.handle(review.to_string().as_bytes()).await;
    /// let review: serde_json::Value = serde_json::from_slice(&review).unwrap();
    /// assert_eq!(review["response"]["uid"], "7");
    /// assert_eq!(review["response"]["patchType"], "JSONPatch");
    /// # });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, so is the future of the function.
    pub async fn handle(&self, review: &[u8]) -> Vec<u8> {
        let handler = Arc::clone(&self.handler);
        let path = self.effective_path();
        let routes = Routes::default().admission(
            path.clone(),
            Arc::new(move |request, _| handler(request, HandlerEnvironment::default())),
        );
        let deadline = Instant::now() + self.timeout;
        let response = routes.handle(&path, review.to_vec().into(), deadline);
        response.await.unwrap_or_default().into()
    }

    /// Takes the defaults of a fallback webhook from its policy. Name and default path contain
    /// those of the policy, so that several fallbacks for one kind are possible.
    pub(crate) fn fallback_for(mut self, scope: FallbackScope) -> Self {
        if self.operations.is_empty() {
            self.operations = scope.operations;
        }
        if self.objects.is_empty() {
            self.objects = scope.objects;
        }
        if self.namespaces.is_empty() {
            self.namespaces = scope.namespaces;
        }
        self.failure_policy.get_or_insert(scope.failure_policy);
        self.exemption.get_or_insert(scope.exemption);
        self.policy = Some(scope.policy);
        self
    }

    /// Opens the views of the kinds that the function reads.
    pub(super) fn build(self, informers: &Informers) -> Result<BuiltWebhook, Error> {
        let path = self.effective_path();
        let mut opened = Vec::new();
        let mut views_by_id = HashMap::new();
        for kind in &self.reads {
            let view = kind.open(&path, informers)?;
            opened.push(view.informer().clone());
            views_by_id.insert(kind.view.clone(), view);
        }
        let views = Views::new(&path, views_by_id, Default::default());
        Ok(BuiltWebhook {
            path,
            handler: self.handler,
            environment: HandlerEnvironment::new(views, opened),
        })
    }
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook")
            .field("description", &self.describe("operator"))
            .finish_non_exhaustive()
    }
}
