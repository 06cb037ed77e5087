use std::collections::HashMap;

use kubewright_core::Resource;
use kubewright_runtime::reflector::Transform;
use serde_json::Value;

use super::Operator;
use crate::controller::{AnyKind, Selection};

/// What is done to objects before they are cached.
#[derive(Debug, Default)]
pub(super) struct Transforms {
    /// To those of a kind.
    pub(super) by_kind: HashMap<Resource, Transform>,
    /// To those of all other kinds.
    pub(super) others: Option<Transform>,
}

impl Operator {
    /// Changes each object of a kind before it is cached, such as leaving out what nobody reads.
    ///
    /// It holds for all controllers and webhooks of the operator that read the kind, whatever else
    /// the selection says, and for what they see of their own writes. `metadata.managedFields` is
    /// never kept, so that it need not be left out; where few fields are of use,
    /// `kind::<Metadata<Pod>>()` costs less. It must depend on the object alone, and cannot change
    /// its name, namespace, uid and resourceVersion. Where it panics or leaves no JSON object, that
    /// is logged, and only what identifies the object is cached, never the object as it was:
    /// reading it is an error.
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

    /// As [`transform`](Self::transform), for all kinds that have none of their own. The kinds that
    /// the operator reconciles are among them.
    #[must_use]
    pub fn transform_others(mut self, change: impl Fn(&mut Value) + Send + Sync + 'static) -> Self {
        self.transforms.others = Some(Transform::new(change));
        self
    }
}
