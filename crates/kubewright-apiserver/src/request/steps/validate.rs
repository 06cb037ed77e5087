//! Validates objects: metadata, then the rules of their kind.

use std::collections::BTreeSet;

use kubewright_core::format::{label_value, qualified_name};
use kubewright_kinds::custom::Checked;
use kubewright_kinds::json::{items, text};
use kubewright_kinds::{FinalizerRule, core, events};
use kubewright_wire::status::{Cause, CauseKind, Status};
use serde_json::{Map, Value, json};

use super::part::Part;
use crate::request::target::Target;
use crate::store::Object;

const MAX_ANNOTATION_BYTES: usize = 256 * 1024;
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// Validates an object, against the stored one if there is one. Returns warnings for the client.
pub(super) fn validate(
    target: &Target,
    part: Part,
    old: Option<&Object>,
    value: &Value,
) -> Result<Vec<String>, Status> {
    let mut causes = metadata(target, value);
    if let Some(old) = old {
        // Kubernetes checks this in the registry and again in the rules of the kind.
        causes.extend(metadata_update(old, value));
        causes.extend(metadata_update(old, value));
    }
    let checked = match (part, old) {
        (Part::Main, old) => body(target, value, old),
        (Part::Status, Some(old)) => status(target, value, old),
        // The handlers of binding, eviction and finalize validate what they write.
        (Part::Status | Part::Whole, _) => Checked::default(),
    };
    causes.extend(checked.causes);
    if causes.is_empty() {
        return Ok(checked.warnings);
    }
    let name = text(&value["metadata"]["name"]);
    let kind = target.resource.stored_kind();
    Err(Status::invalid(&kind, name, causes))
}

fn body(target: &Target, value: &Value, old: Option<&Object>) -> Checked {
    match target.resource.custom() {
        Some(custom) => {
            let mut checked = custom.validate(value, old.map(Object::value));
            checked.warnings.extend(finalizer_warnings(value, old));
            checked
        }
        None => {
            let (strategy, old) = (target.resource.strategy, old.map(Object::value));
            Checked {
                causes: strategy.validate(value, old),
                warnings: strategy.warnings(value, old),
            }
        }
    }
}

/// Validates an object of which only the status was written.
fn status(target: &Target, value: &Value, old: &Object) -> Checked {
    match target.resource.custom() {
        Some(custom) => custom.validate_status(value, Some(old.value())),
        None => Checked {
            causes: target.resource.strategy.validate_status(value, old.value()),
            warnings: target.resource.strategy.status_warnings(value),
        },
    }
}

/// `ValidateObjectMeta` of k8s.io/apimachinery.
fn metadata(target: &Target, value: &Value) -> Vec<Cause> {
    let empty = Map::new();
    let metadata = value["metadata"].as_object().unwrap_or(&empty);
    let mut causes = Vec::new();
    let string = |field: &str| metadata.get(field).map_or("", text);
    let rule = target.resource.strategy.names;
    let prefix = string("generateName");
    for problem in rule
        .prefix_problems(prefix)
        .iter()
        .filter(|_| !prefix.is_empty())
    {
        let field = "metadata.generateName";
        causes.push(Cause::invalid(field, &json!(prefix), problem));
    }
    let name = string("name");
    if name.is_empty() {
        causes.push(Cause::required(
            "metadata.name",
            "name or generateName is required",
        ));
    }
    for problem in rule.problems(name).iter().filter(|_| !name.is_empty()) {
        causes.push(Cause::invalid("metadata.name", &json!(name), problem));
    }
    labels(metadata.get("labels"), &mut causes);
    annotations(metadata.get("annotations"), &mut causes);
    owners(metadata.get("ownerReferences"), &mut causes);
    let names = strings(metadata.get("finalizers"));
    finalizers(&names, &mut causes);
    if target.resource.strategy.finalizers == FinalizerRule::Domain {
        finalizer_domains(&names, &mut causes);
    }
    causes
}

fn labels(labels: Option<&Value>, causes: &mut Vec<Cause>) {
    for (key, value) in labels.and_then(Value::as_object).into_iter().flatten() {
        for problem in qualified_name(key) {
            causes.push(Cause::invalid("metadata.labels", &json!(key), &problem));
        }
        let Some(text) = value.as_str() else {
            continue;
        };
        for problem in label_value(text) {
            causes.push(Cause::invalid("metadata.labels", value, &problem));
        }
    }
}

fn annotations(annotations: Option<&Value>, causes: &mut Vec<Cause>) {
    let mut size = 0;
    for (key, value) in annotations.and_then(Value::as_object).into_iter().flatten() {
        size += key.len() + text(value).len();
        for problem in qualified_name(&key.to_lowercase()) {
            causes.push(Cause::invalid(
                "metadata.annotations",
                &json!(key),
                &problem,
            ));
        }
    }
    if size > MAX_ANNOTATION_BYTES {
        let detail = format!("may not be more than {MAX_ANNOTATION_BYTES} bytes");
        let kind = CauseKind::FieldValueTooLong;
        causes.push(Cause::new(kind, "metadata.annotations", None, &detail));
    }
}

fn owners(owners: Option<&Value>, causes: &mut Vec<Cause>) {
    const FIELD: &str = "metadata.ownerReferences";
    let mut controllers: Vec<String> = Vec::new();
    for owner in owners.into_iter().flat_map(items) {
        let string = |field: &str| text(&owner[field]);
        let mut require = |field: &str, detail: &str| {
            if string(field).is_empty() {
                let path = format!("{FIELD}.{field}");
                causes.push(Cause::invalid(&path, &json!(""), detail));
            }
        };
        require("apiVersion", "version must not be empty");
        require("kind", "must not be empty");
        require("name", "must not be empty");
        require("uid", "must not be empty");
        if let Some(event) = [&core::EVENT, &events::EVENT]
            .map(|event| event.in_version("v1"))
            .iter()
            .find(|event| {
                string("kind") == event.kind && string("apiVersion") == event.api_version()
            })
        {
            let detail = format!(
                "{}/{}, Kind={} is disallowed from being an owner",
                event.group(),
                event.version(),
                event.kind
            );
            causes.push(Cause::invalid(FIELD, owner, &detail));
        }
        if owner["controller"] == true {
            controllers.push(format!("{}/{}", string("kind"), string("name")));
        }
    }
    if let [first, second, ..] = controllers.as_slice() {
        let detail = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for \
             {first} and {second}"
        );
        let value = owners.cloned().unwrap_or_default();
        causes.push(Cause::invalid(FIELD, &value, &detail));
    }
}

const FINALIZERS: &str = "metadata.finalizers";

/// `ValidateFinalizers` of k8s.io/apimachinery.
fn finalizers(names: &[&str], causes: &mut Vec<Cause>) {
    for name in names {
        for problem in qualified_name(name) {
            causes.push(Cause::invalid(FINALIZERS, &json!(name), &problem));
        }
    }
    if names.contains(&"orphan") && names.contains(&"foregroundDeletion") {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        causes.push(Cause::invalid(FINALIZERS, &json!(names), detail));
    }
}

/// `validateKubeFinalizerName` of k8s.io/kubernetes/pkg/apis/core.
fn finalizer_domains(names: &[&str], causes: &mut Vec<Cause>) {
    for (index, name) in names.iter().enumerate() {
        if !STANDARD_FINALIZERS.contains(name) && !name.contains('/') {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            let field = format!("{FINALIZERS}[{index}]");
            causes.push(Cause::invalid(&field, &json!(name), detail));
        }
    }
}

/// The warnings about new finalizers of a custom resource (`generateWarningsFromObj` of
/// k8s.io/apiextensions-apiserver).
fn finalizer_warnings(value: &Value, old: Option<&Object>) -> Vec<String> {
    let mut added: BTreeSet<&str> = strings(value.pointer("/metadata/finalizers"))
        .into_iter()
        .collect();
    for name in old.into_iter().flat_map(Object::finalizers) {
        added.remove(name);
    }
    let unqualified = added
        .into_iter()
        .filter(|name| !name.contains('/') && !STANDARD_FINALIZERS.contains(name));
    let warnings = unqualified.map(|name| {
        let path = if name.contains('.') {
            " including a path (/)"
        } else {
            ""
        };
        format!(
            "{FINALIZERS}: {name:?}: prefer a domain-qualified finalizer name{path} to avoid \
             accidental conflicts with other finalizer writers"
        )
    });
    warnings.collect()
}

/// The strings of a list.
fn strings(list: Option<&Value>) -> Vec<&str> {
    list.into_iter()
        .flat_map(items)
        .filter_map(Value::as_str)
        .collect()
}

/// `ValidateObjectMetaUpdate` of k8s.io/apimachinery.
fn metadata_update(old: &Object, value: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let metadata = &value["metadata"];
    if old.is_terminating() {
        let present: BTreeSet<&str> = old.finalizers().collect();
        let mut added = strings(metadata.get("finalizers"));
        added.retain(|name| !present.contains(name));
        if !added.is_empty() {
            let names: Vec<String> = added.iter().map(|name| format!("{name:?}")).collect();
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new \
                 finalizers []string{{{}}}",
                names.join(", ")
            );
            causes.push(Cause::forbidden("metadata.finalizers", &detail));
        }
    }
    for field in ["uid", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        let (before, after) = (old.metadata(field), metadata.get(field));
        if before != after.filter(|value| !value.is_null()) {
            let path = format!("metadata.{field}");
            let value = after.cloned().unwrap_or_default();
            causes.push(Cause::invalid(&path, &value, "field is immutable"));
        }
    }
    causes
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{finalizer_domains, finalizers, labels, owners, qualified_name};

    fn count(check: impl Fn(Option<&Value>, &mut Vec<super::Cause>), value: Value) -> usize {
        let mut causes = Vec::new();
        check(Some(&value), &mut causes);
        causes.len()
    }

    #[test]
    fn label_keys_are_qualified_and_values_short() {
        assert_eq!(count(labels, json!({"a.b/c": "x", "d": ""})), 0);
        assert_eq!(count(labels, json!({"a b": "x"})), 1);
        assert_eq!(count(labels, json!({"a": "-x"})), 1);
        assert_eq!(count(labels, json!({"a": "x".repeat(64)})), 1);
        assert_eq!(qualified_name("/x").len(), 1);
    }

    #[test]
    fn finalizers_are_qualified_names_with_a_domain_where_required() {
        let count = |names: &[&str]| {
            let (mut plain, mut domains) = (Vec::new(), Vec::new());
            finalizers(names, &mut plain);
            finalizer_domains(names, &mut domains);
            (plain.len(), domains.len())
        };
        assert_eq!(count(&["orphan", "a.b/c"]), (0, 0));
        assert_eq!(count(&["mine"]), (0, 1));
        assert_eq!(count(&["a b"]), (1, 1));
        assert_eq!(count(&["orphan", "foregroundDeletion"]), (1, 0));
    }

    #[test]
    fn owner_references_are_complete_and_have_one_controller_at_most() {
        let owner = |name: &str| json!({"apiVersion": "v1", "kind": "Node", "name": name, "uid": "u", "controller": true});
        assert_eq!(count(owners, json!([owner("a")])), 0);
        assert_eq!(count(owners, json!([owner("a"), owner("b")])), 1);
        assert_eq!(
            count(owners, json!([{"apiVersion": "v1", "kind": "Node"}])),
            2
        );
    }
}
