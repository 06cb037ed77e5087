//! Which requests a webhook or policy sees, and in which version.

use std::sync::Arc;

use kubewright_core::{Kind, LabelSelector};
use kubewright_wire::status::Status;
use serde_json::Value;

use super::rule::rule_matches;
use super::selector::{matches_namespace, matches_object};
use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::resources::ServedResource;

/// Which requests a webhook or a policy sees.
#[derive(Clone, Debug, Default)]
pub(crate) struct Criteria {
    /// None for all requests.
    pub(crate) rules: Option<Vec<Value>>,
    /// Rules of requests that it does not see, even if `rules` match them.
    pub(crate) excluded: Vec<Value>,
    /// Whether a rule matches only requests in the version that it names.
    pub(crate) is_exact: bool,
    pub(crate) namespaces: LabelSelector,
    pub(crate) objects: LabelSelector,
}

/// The version in which a webhook or a policy sees a request.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    pub(crate) served: Arc<ServedResource>,
    pub(crate) kind: Kind,
}

impl Criteria {
    /// The selectors and the match policy of a webhook or of `matchConstraints`, without rules.
    pub(crate) fn selectors(value: &Value) -> Self {
        let selector = |field: &str| LabelSelector::from_object(&value[field]).unwrap_or_default();
        Self {
            rules: None,
            excluded: Vec::new(),
            is_exact: value["matchPolicy"] == "Exact",
            namespaces: selector("namespaceSelector"),
            objects: selector("objectSelector"),
        }
    }

    /// The version in which a request is seen; none when it does not match. A missing namespace is
    /// an error only if all else matches.
    pub(crate) fn invocation(
        &self,
        context: &AdmissionContext,
        attributes: &AdmissionAttributes,
    ) -> Result<Option<Invocation>, Status> {
        let in_namespaces = matches_namespace(context, &self.namespaces, attributes);
        if matches!(in_namespaces, Ok(false)) || !matches_object(&self.objects, attributes) {
            return Ok(None);
        }
        if self.by_rules(context, &self.excluded, attributes).is_some() {
            return Ok(None);
        }
        let invocation = match &self.rules {
            None => Some(Invocation::in_request_version(attributes)),
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
        attributes: &AdmissionAttributes,
    ) -> Option<Invocation> {
        let matches =
            |rule: &Value, served: &ServedResource| rule_matches(rule, served, attributes);
        if rules.iter().any(|rule| matches(rule, &attributes.resource)) {
            return Some(Invocation::in_request_version(attributes));
        }
        if self.is_exact || rules.is_empty() {
            return None;
        }
        let own = &attributes.resource;
        let snapshot = context.store.snapshot();
        let mut others = context.catalog.versions(&snapshot, &own.id);
        others.retain(|version| version.resource != own.resource);
        let found = rules
            .iter()
            .find_map(|rule| others.iter().find(|served| matches(rule, served)));
        found.map(|served| Invocation {
            served: Arc::clone(served),
            kind: match served.subresource(&attributes.subresource) {
                Some(subresource) => subresource.kind.clone(),
                None => served.kind().clone(),
            },
        })
    }
}

impl Invocation {
    fn in_request_version(attributes: &AdmissionAttributes) -> Self {
        Self {
            served: Arc::clone(&attributes.resource),
            kind: attributes.kind.clone(),
        }
    }
}
