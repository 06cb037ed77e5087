//! The objects and requests that a webhook or policy matches.

use kubewright_core::{
    Exemption, LabelOperator, LabelRequirement, LabelSelector, NamedExpression, Resource, Scope,
};
use serde_json::{Map, Value, json};

/// The label with the name of a namespace, which the API server sets.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// The selection of objects of a webhook or policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selected<'d> {
    pub(crate) resource: &'d Resource,
    pub(crate) namespaces: &'d LabelSelector,
    pub(crate) objects: &'d LabelSelector,
    pub(crate) exemption: Exemption,
}

impl Selected<'_> {
    /// Adds `namespaceSelector` and `objectSelector` unless they are empty; `own` is the operator's
    /// namespace.
    pub(crate) fn add_selectors(self, target: &mut Value, own: &str) {
        let mut namespaces = self.namespaces.clone();
        let is_exempt = self.exemption == Exemption::SystemNamespaces;
        if is_exempt && self.resource.scope == Scope::Namespaced {
            let exempt = vec!["kube-system".to_owned(), own.to_owned()];
            namespaces.requirements.push(LabelRequirement {
                key: NAMESPACE_NAME.to_owned(),
                operator: LabelOperator::NotIn(exempt),
            });
        }
        for (field, selector) in [
            ("namespaceSelector", &namespaces),
            ("objectSelector", self.objects),
        ] {
            // The operator's builder rejects selectors that objects cannot have.
            let object = selector.to_object().unwrap_or(Value::Object(Map::new()));
            if object
                .as_object()
                .is_some_and(|members| !members.is_empty())
            {
                target[field] = object;
            }
        }
    }
}

/// A match condition or variable.
pub(crate) fn named_expression(named: &NamedExpression) -> Value {
    json!({"name": named.name, "expression": named.expression})
}
