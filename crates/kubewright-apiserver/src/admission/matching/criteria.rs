use std::sync::Arc;

use kubewright_core::{Kind, LabelSelector};
use kubewright_wire::status::Status;
use serde_json::Value;

use super::rule::rule_matches;
use super::selector::{matches_namespace, matches_object};
use crate::admission::attributes::Attributes;
use crate::admission::context::AdmissionContext;
use crate::resources::ServedResource;

/// Which requests a webhook or a policy is about.
#[derive(Clone, Debug, Default)]
pub(crate) struct Criteria {
    /// None for all requests.
    pub(crate) rules: Option<Vec<Value>>,
    /// What it is not about, whatever the rules say.
    pub(crate) excluded: Vec<Value>,
    pub(crate) is_exact: bool,
    pub(crate) namespaces: LabelSelector,
    pub(crate) objects: LabelSelector,
}

/// In which version a webhook or a policy sees a request.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    pub(crate) served: Arc<ServedResource>,
    pub(crate) kind: Kind,
}

impl Criteria {
    /// The selectors and the policy of matching, which all of them spell alike.
    pub(crate) fn selecting(value: &Value) -> Self {
        let selector = |field: &str| LabelSelector::from_object(&value[field]).unwrap_or_default();
        Self {
            rules: None,
            excluded: Vec::new(),
            is_exact: value["matchPolicy"] == "Exact",
            namespaces: selector("namespaceSelector"),
            objects: selector("objectSelector"),
        }
    }

    /// Whether and in which version a request is seen. An error is one that counts only when all
    /// else matches.
    pub(crate) fn invocation(
        &self,
        context: &AdmissionContext,
        attributes: &Attributes,
    ) -> Result<Option<Invocation>, Status> {
        let in_namespaces = matches_namespace(context, &self.namespaces, attributes);
        if matches!(in_namespaces, Ok(false)) || !matches_object(&self.objects, attributes) {
            return Ok(None);
        }
        if self.by_rules(context, &self.excluded, attributes).is_some() {
            return Ok(None);
        }
        let invocation = match &self.rules {
            None => Some(Invocation::asked(attributes)),
            Some(rules) => self.by_rules(context, rules, attributes),
        };
        let Some(invocation) = invocation else {
            return Ok(None);
        };
        in_namespaces?;
        Ok(Some(invocation))
    }

    fn by_rules(
        &self,
        context: &AdmissionContext,
        rules: &[Value],
        attributes: &Attributes,
    ) -> Option<Invocation> {
        let matches =
            |rule: &Value, served: &ServedResource| rule_matches(rule, served, attributes);
        if rules.iter().any(|rule| matches(rule, &attributes.resource)) {
            return Some(Invocation::asked(attributes));
        }
        if self.is_exact || rules.is_empty() {
            return None;
        }
        let own = &attributes.resource;
        let snapshot = context.store.snapshot();
        let mut others = context.catalog.versions(&snapshot, &own.id);
        others.retain(|one| one.resource != own.resource);
        let found = rules
            .iter()
            .find_map(|rule| others.iter().find(|served| matches(rule, served)));
        found.map(|served| Invocation {
            served: Arc::clone(served),
            kind: match served.subresource(&attributes.subresource) {
                Some(part) => part.kind.clone(),
                None => served.kind().clone(),
            },
        })
    }
}

impl Invocation {
    /// In the version of the request.
    fn asked(attributes: &Attributes) -> Self {
        Self {
            served: Arc::clone(&attributes.resource),
            kind: attributes.kind.clone(),
        }
    }
}
