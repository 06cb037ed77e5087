use kubewright_core::{Exemption, LabelOperator, LabelRequirement, LabelSelector, Resource, Scope};
use serde_json::{Map, Value};

/// What each namespace is labelled with by the API server.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// Which objects of a kind a webhook or a policy is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selected<'d> {
    pub(crate) resource: &'d Resource,
    pub(crate) namespaces: &'d LabelSelector,
    pub(crate) objects: &'d LabelSelector,
    pub(crate) exemption: Exemption,
}

impl Selected<'_> {
    /// Adds the two selectors, those that say something; `own` is the operator's namespace.
    pub(crate) fn put_into(self, target: &mut Value, own: &str) {
        let mut namespaces = self.namespaces.clone();
        let is_exempt = self.exemption == Exemption::SystemNamespaces;
        if is_exempt && self.resource.scope == Scope::Namespaced {
            let left_alone = vec!["kube-system".to_owned(), own.to_owned()];
            namespaces.requirements.push(LabelRequirement {
                key: NAMESPACE_NAME.to_owned(),
                operator: LabelOperator::NotIn(left_alone),
            });
        }
        for (field, selector) in [
            ("namespaceSelector", &namespaces),
            ("objectSelector", self.objects),
        ] {
            // What has no such form was refused when the operator was built.
            let selector = selector.to_object().unwrap_or(Value::Object(Map::new()));
            if selector
                .as_object()
                .is_some_and(|members| !members.is_empty())
            {
                target[field] = selector;
            }
        }
    }
}
