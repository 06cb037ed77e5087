use std::sync::Arc;

use kubewright_core::{Kind, LabelSelector, Operation};
use kubewright_wire::status::Status;
use serde_json::Value;

use super::Attributes;
use super::configuration::Hook;
use crate::catalog::Served;
use crate::server::Server;
use crate::store::Key;

/// In which version a webhook is asked.
#[derive(Clone, Debug)]
pub(super) struct Invocation {
    pub(super) served: Arc<Served>,
    pub(super) kind: Kind,
}

/// Whether and in which version a webhook is asked about a request.
pub(super) fn invocation(
    server: &Server,
    hook: &Hook,
    attributes: &Attributes,
) -> Result<Option<Invocation>, Status> {
    if attributes.is_exempt() {
        return Ok(None);
    }
    let in_namespaces = matches_namespace(server, &hook.namespaces, attributes);
    if matches!(in_namespaces, Ok(false)) || !matches_object(&hook.objects, attributes) {
        return Ok(None);
    }
    let Some(invocation) = by_rules(server, hook, attributes) else {
        return Ok(None);
    };
    in_namespaces?;
    Ok(Some(invocation))
}

fn by_rules(server: &Server, hook: &Hook, attributes: &Attributes) -> Option<Invocation> {
    let matches = |rule: &Value, served: &Served| rule_matches(rule, served, attributes);
    if hook
        .rules
        .iter()
        .any(|rule| matches(rule, &attributes.served))
    {
        return Some(Invocation {
            served: Arc::clone(&attributes.served),
            kind: attributes.kind.clone(),
        });
    }
    if hook.is_exact {
        return None;
    }
    let versions = server.catalog().all(&server.store().snapshot());
    let own = &attributes.served;
    let others: Vec<_> = versions
        .into_iter()
        .filter(|one| one.id == own.id && one.resource != own.resource)
        .collect();
    let found = hook
        .rules
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

/// `Matcher.Matches` of `predicates/rules`.
fn rule_matches(rule: &Value, served: &Served, attributes: &Attributes) -> bool {
    let has = |field: &str, wanted: &str| {
        let items = rule[field].as_array().into_iter().flatten();
        let mut items = items.filter_map(Value::as_str);
        items.any(|item| item == "*" || item == wanted)
    };
    let is_namespaced = served.is_namespaced();
    let in_scope = match rule["scope"].as_str() {
        Some("Namespaced") => is_namespaced,
        Some("Cluster") => !is_namespaced,
        _ => true,
    };
    in_scope
        && has("operations", attributes.operation.as_str())
        && has("apiGroups", served.kind().group())
        && has("apiVersions", served.kind().version())
        && names_resource(rule, &served.resource.plural, &attributes.subresource)
}

/// `pods` is the object alone, `pods/*` the object and its parts, `*/status` one part of all.
fn names_resource(rule: &Value, plural: &str, subresource: &str) -> bool {
    let resources = rule["resources"].as_array().into_iter().flatten();
    resources.filter_map(Value::as_str).any(|item| {
        let (resource, part) = item.split_once('/').unwrap_or((item, ""));
        (resource == "*" || resource == plural) && (part == "*" || part == subresource)
    })
}

/// An error is one that only counts when the rules match.
fn matches_namespace(
    server: &Server,
    selector: &LabelSelector,
    attributes: &Attributes,
) -> Result<bool, Status> {
    let is_namespace = attributes.served.is("", "Namespace");
    if selector.is_empty() || attributes.namespace.is_empty() && !is_namespace {
        return Ok(true);
    }
    let is_written = matches!(attributes.operation, Operation::Create | Operation::Update);
    if is_namespace && attributes.subresource.is_empty() && is_written {
        return Ok(matches_labels(selector, attributes.object.as_ref()));
    }
    let key = Key::new("namespaces", None, &attributes.namespace);
    match server.store().get(&key) {
        Some(namespace) => Ok(selector.matches(|label| namespace.label(label))),
        None => Err(Status::not_found(("", "namespaces"), &attributes.namespace)),
    }
}

/// What is or what was: a label that is taken away does not hide the request that does so.
fn matches_object(selector: &LabelSelector, attributes: &Attributes) -> bool {
    selector.is_empty()
        || matches_labels(selector, attributes.object.as_ref())
        || matches_labels(selector, attributes.old.as_ref())
}

fn matches_labels(selector: &LabelSelector, object: Option<&Value>) -> bool {
    let Some(object) = object else {
        return false;
    };
    let labels = &object["metadata"]["labels"];
    selector.matches(|label| labels.get(label).and_then(Value::as_str))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::names_resource;

    #[test]
    fn a_resource_is_named_with_or_without_its_parts() {
        for (resources, plural, part, wanted) in [
            (json!(["pods"]), "pods", "", true),
            (json!(["pods"]), "pods", "status", false),
            (json!(["pods/*"]), "pods", "", true),
            (json!(["pods/*"]), "pods", "status", true),
            (json!(["*"]), "nodes", "", true),
            (json!(["*"]), "nodes", "status", false),
            (json!(["*/*"]), "nodes", "status", true),
            (json!(["*/status"]), "nodes", "status", true),
            (json!(["*/status"]), "nodes", "", false),
            (json!(["nodes", "pods"]), "pods", "", true),
        ] {
            let rule = json!({"resources": resources});
            assert_eq!(
                names_resource(&rule, plural, part),
                wanted,
                "{rule} {plural}/{part}"
            );
        }
    }
}
