//! Webhooks for kinds that are known only at run time.

use kube::core::DynamicObject;
use kubewright_core::{Resource, WebhookKind};

use super::admission::Admission;
use super::builder::Webhook;
use super::change::Change;
use super::denied::Denied;
use super::findings::Findings;
use super::mutating_handler::{defaulter, mutator};
use super::validating_handler::{async_validator, validator};

/// Webhooks for kinds that are known only at run time.
impl Webhook {
    /// Like [`defaults`](Self::defaults), for a kind that is known only at run time.
    ///
    /// ```
    /// use kubewright::kube::core::DynamicObject;
    /// use kubewright::prelude::*;
    /// use kubewright::webhook::{Change, Findings};
    /// use kubewright::{Kind, Resource, Scope};
    /// use serde_json::json;
    ///
    /// fn fill_in(backup: &mut DynamicObject) {
    ///     let keep = &mut backup.data["spec"]["keep"];
    ///     if keep.is_null() {
    ///         *keep = json!(7);
    ///     }
    /// }
    ///
    /// fn check(change: &Change<DynamicObject>, findings: &mut Findings) {
    ///     let keep = change.object().map(|backup| &backup.data["spec"]["keep"]);
    ///     if keep.is_some_and(|keep| *keep == 0) {
    ///         findings.invalid("spec.keep", 0, "must keep something");
    ///     }
    /// }
    ///
    /// let backups = Resource::new(Kind::new("ex.io", "v1", "Backup"), "backups", Scope::Namespaced);
    /// let operator = Operator::new("keeper")
    ///     .webhook(Webhook::defaults_of(backups.clone(), fill_in))
    ///     .webhook(Webhook::validates_of(backups, check));
    /// let webhooks = operator.description().webhooks;
    /// let paths: Vec<_> = webhooks.into_iter().map(|webhook| webhook.path).collect();
    /// assert_eq!(paths, ["/mutate-ex-io-v1-backup", "/validate-ex-io-v1-backup"]);
    /// ```
    pub fn defaults_of(
        resource: Resource,
        fill_in: impl Fn(&mut DynamicObject) + Send + Sync + 'static,
    ) -> Self {
        Self::defaulting(resource, defaulter(fill_in))
    }

    /// Like [`validates`](Self::validates), for a kind that is known only at run time.
    pub fn validates_of(
        resource: Resource,
        check: impl Fn(&Change<DynamicObject>, &mut Findings) + Send + Sync + 'static,
    ) -> Self {
        let handler = validator(resource.kind.clone(), check);
        Self::new(resource, WebhookKind::Validating, handler)
    }

    /// Like [`validates_async`](Self::validates_async), for a kind that is known only at run time.
    pub fn validates_async_of<F, Fut>(resource: Resource, validate: F) -> Self
    where
        F: Fn(Change<DynamicObject>, Admission) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Findings, Denied>> + Send + 'static,
    {
        let handler = async_validator(resource.kind.clone(), validate);
        Self::new(resource, WebhookKind::Validating, handler)
    }

    /// Like [`mutates`](Self::mutates), for a kind that is known only at run time.
    pub fn mutates_of<F, Fut>(resource: Resource, mutate: F) -> Self
    where
        F: Fn(DynamicObject, Admission) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<DynamicObject, Denied>> + Send + 'static,
    {
        Self::new(resource, WebhookKind::Mutating, mutator(mutate))
    }
}

#[cfg(test)]
mod tests {
    use kube::core::DynamicObject;
    use kubewright_core::{Kind, Operation, Resource, Scope};
    use kubewright_webhook::review::AdmissionRequest;
    use serde_json::{Value, json};

    use crate::webhook::environment::{HandlerEnvironment, IdempotenceCheck};
    use crate::webhook::mutating_handler::defaulter;
    use crate::webhook::request_object::Handler;
    use crate::webhook::validating_handler::validator;
    use crate::webhook::{Change, Findings, Webhook};

    fn fill_in(pot: &mut DynamicObject) {
        let size = &mut pot.data["spec"]["size"];
        if size.is_null() {
            *size = json!(2);
        }
    }

    fn check(change: &Change<DynamicObject>, findings: &mut Findings) {
        let size = change.object().map(|pot| &pot.data["spec"]["size"]);
        if size.is_some_and(|size| *size == 0) {
            findings.invalid("spec.size", 0, "must hold something");
        }
    }

    fn pot(spec: Value) -> Value {
        json!({"apiVersion": "ex.io/v1", "kind": "Pot", "spec": spec,
            "metadata": {"name": "p", "newer": true}})
    }

    /// Returns the code and message of a denial, or the patch.
    async fn response(handler: Handler, object: Value) -> Value {
        let request = AdmissionRequest {
            operation: Operation::Create,
            object,
            ..AdmissionRequest::default()
        };
        let mut environment = HandlerEnvironment::default();
        environment.idempotence = IdempotenceCheck::On;
        let response = handler(request, environment).await;
        let patch = response.patch.map(|patch| patch.0);
        match (response.status, patch) {
            (Some(status), _) => json!([status.code, status.message]),
            (None, Some(patch)) => serde_json::from_slice(&patch).unwrap(),
            (None, None) => Value::Null,
        }
    }

    #[tokio::test]
    async fn patch_of_a_dynamic_kind_has_only_the_changes_of_the_function() {
        let added = response(defaulter(fill_in), pot(json!({"color": "red"}))).await;
        assert_eq!(
            added,
            json!([{"op": "add", "path": "/spec/size", "value": 2}])
        );
        let unchanged = response(defaulter(fill_in), pot(json!({"size": 5}))).await;
        assert_eq!(unchanged, Value::Null);
    }

    #[tokio::test]
    async fn error_names_the_kind_and_the_field() {
        let kind = Kind::new("ex.io", "v1", "Pot");
        let denied = response(validator(kind.clone(), check), pot(json!({"size": 0}))).await;
        assert_eq!(
            denied,
            json!([
                422,
                "Pot.ex.io \"p\" is invalid: spec.size: Invalid value: 0: must hold something"
            ])
        );
        let allowed = response(validator(kind, check), pot(json!({"size": 1}))).await;
        assert_eq!(allowed, Value::Null);
    }

    #[test]
    fn custom_kind_exempts_no_namespace() {
        let pots = Resource::new(Kind::new("ex.io", "v1", "Pot"), "pots", Scope::Namespaced);
        let described = Webhook::validates_of(pots, check).describe("potter");
        assert_eq!(described.name, "vpot-v1.potter.ex.io");
        assert_eq!(described.exemption, kubewright_core::Exemption::Nothing);
    }
}
