//! Methods of [`Operator`] that set the transforms of its caches.

use kubewright_runtime::reflector::Transform;
use serde_json::Value;

use super::builder::Operator;
use crate::kinds::{AnyKind, Selection};

impl Operator {
    /// Changes each object of a kind before it is cached, for example to drop fields that are not
    /// needed.
    ///
    /// The transform applies to all controllers and webhooks of the operator that read the kind,
    /// whatever their selection, and to the responses of their own writes.
    /// `metadata.managedFields` is never cached. If few fields are needed,
    /// `kind::<Metadata<Pod>>()` costs less.
    ///
    /// The result must depend on the object alone, and cannot change its name, namespace, uid and
    /// resourceVersion. If the transform panics or returns no JSON object, that is logged, and only
    /// the identity of the object is cached, never the object before the transform: reading it is
    /// an error.
    ///
    /// ```
    /// use kubewright::prelude::*;
    ///
    /// let operator = Operator::new("site").transform(kind::<Secret>(), |secret| {
    ///     secret.as_object_mut().map(|fields| fields.remove("data"));
    /// });
    /// ```
    #[must_use]
    pub fn transform<K: AnyKind>(
        mut self,
        kind: Selection<K>,
        change: impl Fn(&mut Value) + Send + Sync + 'static,
    ) -> Self {
        let transform = Transform::new(change);
        self.transforms.by_kind.insert(kind.resource, transform);
        self
    }

    /// Like [`transform`](Self::transform), for all kinds without a transform of their own,
    /// including the kinds that the operator reconciles.
    #[must_use]
    pub fn transform_others(mut self, change: impl Fn(&mut Value) + Send + Sync + 'static) -> Self {
        self.transforms.others = Some(Transform::new(change));
        self
    }
}
