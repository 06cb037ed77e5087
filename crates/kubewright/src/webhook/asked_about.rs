use kubewright_core::{Exemption, NamedExpression, Operation, Resource};

use super::Webhook;

/// Which requests it is asked about.
impl Webhook {
    /// Only for this; say it again for more. Without it: create and update.
    #[must_use]
    pub fn on(mut self, operation: Operation) -> Self {
        if !self.operations.contains(&operation) {
            self.operations.push(operation);
        }
        self
    }

    /// Only for this part of the object, which a request names besides, such as `status`; without
    /// it a webhook is asked about the object itself alone.
    ///
    /// What is written there is of the object's kind for `status`, `finalize`, `resize`,
    /// `ephemeralcontainers` and `approval`; for others say of which resource it is a part, by
    /// [`part_of`](Self::part_of). A connection ([`Operation::Connect`] of `exec`, `attach`,
    /// `portforward` and `proxy`) is judged by its options, whatever the kind.
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
    /// let webhook = Webhook::validates(check).part("exec").on(Operation::Connect);
    /// let described = Operator::new("guard").webhook(webhook).description().webhooks.remove(0);
    /// assert_eq!(described.path, "/validate--v1-pod/exec");
    /// assert_eq!(described.name, "exec.vpod-v1.guard.core");
    /// ```
    #[must_use]
    pub fn part(mut self, name: impl Into<String>) -> Self {
        self.part = Some(name.into());
        self
    }

    /// Only for this part of objects of the resource: a part that has a kind of its own, which is
    /// the function's. A `Scale` is a part of Deployments and others, an `Eviction` one of Pods.
    ///
    /// ```
    /// use kubewright::k8s_openapi::api::autoscaling::v1::Scale;
    /// use kubewright::prelude::*;
    /// use kubewright::webhook::{Change, Findings};
    /// use kubewright::controller::resource_of;
    ///
    /// fn check(change: &Change<Scale>, findings: &mut Findings) {
    ///     let wanted = change.object().and_then(|scale| scale.spec.as_ref()?.replicas);
    ///     if wanted == Some(0) {
    ///         findings.forbidden("spec.replicas", "keep one");
    ///     }
    /// }
    ///
    /// let webhook = Webhook::validates(check).part_of(resource_of::<Deployment>(), "scale");
    /// let described = Operator::new("guard").webhook(webhook).description().webhooks.remove(0);
    /// assert_eq!(described.path, "/validate-apps-v1-deployment/scale");
    /// ```
    #[must_use]
    pub fn part_of(mut self, resource: Resource, name: impl Into<String>) -> Self {
        self.resource = resource;
        self.part(name)
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
        self.exemption = Some(exemption);
        self
    }

    /// Only requests for which the expression (CEL) holds; say it again for more. The name is for
    /// messages. The API server decides by itself, so that nobody is asked about the others, also
    /// while the operator is down.
    ///
    /// One condition is always there for updates: `not-finalizing`, which leaves out those that
    /// change only the metadata of an object that is going, so that a finalizer can be taken away
    /// without the operator.
    ///
    /// ```
    /// use kubewright::prelude::*;
    ///
    /// let webhook = Webhook::defaults(|map: &mut ConfigMap| {
    ///     map.immutable.get_or_insert(true);
    /// });
    /// let webhook = webhook.when("undecided", "!has(object.immutable)");
    /// let webhooks = Operator::new("tidy").webhook(webhook).description().webhooks;
    /// let names: Vec<_> = webhooks[0].conditions.iter().map(|one| one.name.as_str()).collect();
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
