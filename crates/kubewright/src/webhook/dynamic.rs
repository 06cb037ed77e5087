use kube::core::DynamicObject;
use kubewright_core::{Resource, WebhookKind};

use super::handler::{async_validator, defaulter, mutator, validator};
use super::{Admission, Change, Denied, Findings, Webhook};

/// Webhooks for kinds that are known only when the program runs.
impl Webhook {
    /// Fills in what is missing, as [`defaults`](Self::defaults) does, in objects of any kind.
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
    /// let paths: Vec<_> = operator.description().webhooks.into_iter().map(|one| one.path).collect();
    /// assert_eq!(paths, ["/mutate-ex-io-v1-backup", "/validate-ex-io-v1-backup"]);
    /// ```
    pub fn defaults_of(
        resource: Resource,
        fill_in: impl Fn(&mut DynamicObject) + Send + Sync + 'static,
    ) -> Self {
        Self::defaulting(resource, defaulter(fill_in))
    }

    /// Judges objects of any kind, as [`validates`](Self::validates) does.
    pub fn validates_of(
        resource: Resource,
        check: impl Fn(&Change<DynamicObject>, &mut Findings) + Send + Sync + 'static,
    ) -> Self {
        let handler = validator(resource.kind.clone(), check);
        Self::new(resource, WebhookKind::Validating, handler)
    }

    /// Judges objects of any kind and may look at the cache, as [`validates_async`](Self::validates_async) does.
    pub fn validates_async_of<F, Fut>(resource: Resource, examine: F) -> Self
    where
        F: Fn(Change<DynamicObject>, Admission) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Findings, Denied>> + Send + 'static,
    {
        let handler = async_validator(resource.kind.clone(), examine);
        Self::new(resource, WebhookKind::Validating, handler)
    }

    /// Changes objects of any kind, as [`mutates`](Self::mutates) does.
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

    use crate::webhook::handler::{Handler, defaulter, validator};
    use crate::webhook::serving::{IdempotenceCheck, Reads};
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

    async fn asked(handler: Handler, object: Value) -> Value {
        let request = AdmissionRequest {
            operation: Operation::Create,
            object,
            ..AdmissionRequest::default()
        };
        let mut reads = Reads::default();
        reads.idempotence = IdempotenceCheck::On;
        let response = handler(request, reads).await;
        let patch = response.patch.map(|patch| patch.0);
        match (response.status, patch) {
            (Some(status), _) => json!([status.code, status.message]),
            (None, Some(patch)) => serde_json::from_slice(&patch).unwrap(),
            (None, None) => Value::Null,
        }
    }

    #[tokio::test]
    async fn only_what_the_function_did_to_an_unknown_kind_is_patched() {
        let added = asked(defaulter(fill_in), pot(json!({"color": "red"}))).await;
        assert_eq!(
            added,
            json!([{"op": "add", "path": "/spec/size", "value": 2}])
        );
        let kept = asked(defaulter(fill_in), pot(json!({"size": 5}))).await;
        assert_eq!(kept, Value::Null);
    }

    #[tokio::test]
    async fn a_fault_names_the_kind_and_the_field() {
        let kind = Kind::new("ex.io", "v1", "Pot");
        let refused = asked(validator(kind.clone(), check), pot(json!({"size": 0}))).await;
        assert_eq!(
            refused,
            json!([
                422,
                "Pot.ex.io \"p\" is invalid: spec.size: Invalid value: 0: must hold something"
            ])
        );
        let passed = asked(validator(kind, check), pot(json!({"size": 1}))).await;
        assert_eq!(passed, Value::Null);
    }

    #[test]
    fn a_kind_that_came_later_exempts_no_namespace() {
        let pots = Resource::new(Kind::new("ex.io", "v1", "Pot"), "pots", Scope::Namespaced);
        let described = Webhook::validates_of(pots, check).describe("potter");
        assert_eq!(described.name, "vpot-v1.potter.ex.io");
        assert_eq!(described.exemption, kubewright_core::Exemption::Nothing);
    }
}
