//! Which requests a webhook is called for.

use kubewright_core::{Exemption, NamedExpression, Operation, Resource};

use super::builder::Webhook;

/// Restricts the requests that the webhook is called for.
impl Webhook {
    /// Adds an operation; the default is create and update.
    #[must_use]
    pub fn on(mut self, operation: Operation) -> Self {
        if !self.operations.contains(&operation) {
            self.operations.push(operation);
        }
        self
    }

    /// Restricts the webhook to a subresource, such as `status`; the default is the object itself.
    ///
    /// The object of `status`, `finalize`, `resize`, `ephemeralcontainers` and `approval` has the
    /// kind of the resource. For other subresources use [`subresource_of`](Self::subresource_of). A
    /// connection ([`Operation::Connect`] to `exec`, `attach`, `portforward` or `proxy`) has
    /// options in place of an object.
    ///
    /// ```
    /// use kubewright::prelude::*;
    /// use kubewright::webhook::{Change, Findings, Operation};
    ///
    /// fn check(change: &Change<Pod>, findings: &mut Findings) {
    ///     if let Change::Connect(options) = change
    ///         && options["tty"] == true
    ///     {
    ///         findings.forbidden("tty", "use the console");
    ///     }
    /// }
    ///
    /// let webhook = Webhook::validates(check).subresource("exec").on(Operation::Connect);
    /// let described = Operator::new("guard").webhook(webhook).description().webhooks.remove(0);
    /// assert_eq!(described.path, "/validate--v1-pod/exec");
    /// assert_eq!(described.name, "exec.vpod-v1.guard.core");
    /// ```
    #[must_use]
    pub fn subresource(mut self, name: impl Into<String>) -> Self {
        self.subresource = Some(name.into());
        self
    }

    /// Restricts the webhook to a subresource whose objects have a kind of their own, which is that
    /// of the function: `Scale` for Deployments and others, `Eviction` for Pods.
    ///
    /// ```
    /// use k8s_openapi::api::autoscaling::v1::Scale;
    /// use kubewright::controller::resource_of;
    /// use kubewright::prelude::*;
    /// use kubewright::webhook::{Change, Findings};
    ///
    /// fn check(change: &Change<Scale>, findings: &mut Findings) {
    ///     let replicas = change.object().and_then(|scale| scale.spec.as_ref()?.replicas);
    ///     if replicas == Some(0) {
    ///         findings.forbidden("spec.replicas", "keep one");
    ///     }
    /// }
    ///
    /// let webhook = Webhook::validates(check).subresource_of(resource_of::<Deployment>(), "scale");
    /// let described = Operator::new("guard").webhook(webhook).description().webhooks.remove(0);
    /// assert_eq!(described.path, "/validate-apps-v1-deployment/scale");
    /// ```
    #[must_use]
    pub fn subresource_of(mut self, resource: Resource, name: impl Into<String>) -> Self {
        self.resource = resource;
        self.subresource(name)
    }

    /// Restricts the webhook to objects with these labels, such as `app=web`.
    #[must_use]
    pub fn objects(mut self, selector: impl Into<String>) -> Self {
        self.objects = selector.into();
        self
    }

    /// Restricts the webhook to objects in namespaces with these labels.
    #[must_use]
    pub fn namespaces(mut self, selector: impl Into<String>) -> Self {
        self.namespaces = selector.into();
        self
    }

    /// Sets which namespaces are exempt. The default for built-in kinds is `kube-system` and the
    /// operator's own namespace.
    #[must_use]
    pub fn exempt(mut self, exemption: Exemption) -> Self {
        self.exemption = Some(exemption);
        self
    }

    /// Adds a match condition: a CEL expression that must be true for the request. The name is for
    /// messages. The API server evaluates the expression, so other requests pass without a call,
    /// also while the operator is down.
    ///
    /// Updates always have the condition `not-finalizing`. It excludes updates that change only the
    /// metadata of an object that is being deleted, so that a finalizer can be removed without the
    /// operator.
    ///
    /// ```
    /// use kubewright::prelude::*;
    ///
    /// let webhook = Webhook::defaults(|map: &mut ConfigMap| {
    ///     map.immutable.get_or_insert(true);
    /// });
    /// let webhook = webhook.when("undecided", "!has(object.immutable)");
    /// let webhooks = Operator::new("tidy").webhook(webhook).description().webhooks;
    /// let conditions = webhooks[0].conditions.iter();
    /// let names: Vec<_> = conditions.map(|condition| condition.name.as_str()).collect();
    /// assert_eq!(names, ["not-finalizing", "undecided"]);
    /// ```
    #[must_use]
    pub fn when(mut self, name: impl Into<String>, expression: impl Into<String>) -> Self {
        self.conditions.push(NamedExpression {
            name: name.into(),
            expression: expression.into(),
        });
        self
    }
}
