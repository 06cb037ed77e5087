//! A definition as a whole.

use std::collections::BTreeSet;

use kubewright_core::NameRule;
use kubewright_wire::status::Cause;
use serde_json::{Value, json};

use super::approval::check_approval;
use super::conversion::check_conversion;
use super::fields::{one_of, preserves_unknown_fields};
use super::names::check_names;
use super::versions::{check_shared, check_versions};
use crate::json::{items, text};

/// The errors of a new definition.
pub(in super::super) fn check(value: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &value["spec"];
    let (plural, group) = (text(&spec["names"]["plural"]), text(&spec["group"]));
    let name = &value["metadata"]["name"];
    if text(name) != format!("{plural}.{group}") {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        causes.push(Cause::invalid("metadata.name", name, detail));
    }
    causes.extend(check_spec(value, None));
    causes.extend(check_approval(value, None));
    causes.extend(check_preserving(value, None));
    causes
}

/// The errors of a definition that replaces another.
pub(in super::super) fn check_update(old: &Value, value: &Value) -> Vec<Cause> {
    let mut causes = check_spec(value, Some(old));
    let is_established = items(&old["status"]["conditions"])
        .any(|condition| condition["type"] == "Established" && condition["status"] == "True");
    let once_established: &[&str] = if is_established {
        &["/spec/scope", "/spec/names/kind"]
    } else {
        &[]
    };
    for pointer in once_established
        .iter()
        .chain(&["/spec/group", "/spec/names/plural"])
    {
        let (before, after) = (old.pointer(pointer), value.pointer(pointer));
        if before != after {
            let path = pointer.trim_start_matches('/').replace('/', ".");
            let shown = after.cloned().unwrap_or_default();
            causes.push(Cause::invalid(&path, &shown, "field is immutable"));
        }
    }
    causes.extend(check_stored_versions(old, value));
    causes.extend(check_approval(value, Some(old)));
    causes.extend(check_preserving(value, Some(old)));
    causes
}

fn check_spec(value: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &value["spec"];
    let group = text(&spec["group"]);
    let problems = NameRule::Subdomain.problems(group);
    if group.is_empty() {
        causes.push(Cause::required("spec.group", ""));
    } else if !problems.is_empty() {
        let detail = problems.join(",");
        causes.push(Cause::invalid("spec.group", &spec["group"], &detail));
    } else if !group.contains('.') {
        let detail = "should be a domain with at least one dot";
        causes.push(Cause::invalid("spec.group", &spec["group"], detail));
    }
    causes.extend(one_of(
        "spec.scope",
        &spec["scope"],
        &["Cluster", "Namespaced"],
    ));
    causes.extend(check_versions(value, old));
    for (field, path) in [
        ("plural", "spec.names.plural"),
        ("singular", "spec.names.singular"),
        ("kind", "spec.names.kind"),
        ("listKind", "spec.names.listKind"),
    ] {
        if text(&spec["names"][field]).is_empty() {
            causes.push(Cause::required(path, ""));
        }
    }
    causes.extend(check_names(&spec["names"]));
    causes.extend(check_shared(spec, old));
    let strategy = &spec["conversion"]["strategy"];
    if preserves_unknown_fields(value) && !matches!(text(strategy), "" | "None") {
        let detail = "must be None if spec.preserveUnknownFields is true";
        causes.push(Cause::invalid("spec.conversion.strategy", strategy, detail));
    }
    causes.extend(check_conversion(&spec["conversion"]));
    causes
}

/// A version cannot be removed while objects may be stored in it.
fn check_stored_versions(old: &Value, value: &Value) -> Vec<Cause> {
    let versions: BTreeSet<&str> = items(&value["spec"]["versions"])
        .filter_map(|version| version["name"].as_str())
        .collect();
    let is_declared = |name: &Value| name.as_str().is_some_and(|name| versions.contains(name));
    let stored = items(&old["status"]["storedVersions"]).enumerate();
    stored
        .filter(|(_, name)| !is_declared(name))
        .map(|(index, name)| {
            let version = text(name);
            let detail = format!(
                "missing from spec.versions; {version} was previously a storage version, and must \
                 remain in spec.versions until a storage migration ensures no data remains \
                 persisted in {version} and removes {version} from status.storedVersions"
            );
            Cause::invalid(&format!("status.storedVersions[{index}]"), name, &detail)
        })
        .collect()
}

fn check_preserving(value: &Value, old: Option<&Value>) -> Option<Cause> {
    if old.is_some_and(preserves_unknown_fields) || !preserves_unknown_fields(value) {
        return None;
    }
    let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in \
                  spec.versions[*].schema instead";
    Some(Cause::invalid(
        "spec.preserveUnknownFields",
        &json!(true),
        detail,
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{check, check_update};

    fn definition(schema: Value) -> Value {
        json!({"metadata": {"name": "foos.ex.io"}, "spec": {
            "group": "ex.io", "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo", "singular": "foo", "listKind": "FooList"},
            "conversion": {"strategy": "None"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                          "schema": {"openAPIV3Schema": schema}}],
        }})
    }

    fn errors(value: &Value) -> Vec<String> {
        let causes = check(value);
        causes.iter().map(|cause| cause.with_field()).collect()
    }

    #[test]
    fn minimal_definition_is_valid() {
        assert_eq!(
            errors(&definition(json!({"type": "object"}))),
            Vec::<String>::new()
        );
    }

    #[test]
    fn name_follows_from_plural_and_group() {
        let mut value = definition(json!({"type": "object"}));
        value["metadata"]["name"] = json!("foo.ex.io");
        assert_eq!(
            errors(&value),
            [
                "metadata.name: Invalid value: \"foo.ex.io\": must be spec.names.plural+\".\"+spec.group"
            ]
        );
    }

    #[test]
    fn each_node_that_is_not_structural_is_invalid() {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object",
            "properties": {"a": {}, "l": {"type": "array"}, "u": {"type": "array", "uniqueItems": true,
            "items": {"type": "string"}}},
        }}});
        let at = "spec.validation.openAPIV3Schema.properties[spec].properties";
        assert_eq!(
            errors(&definition(schema)),
            [
                format!(
                    "{at}[a].type: Required value: must not be empty for specified object fields"
                ),
                format!("{at}[l].items: Required value: must be specified"),
                format!(
                    "{at}[u].uniqueItems: Forbidden: uniqueItems cannot be set to true since the \
                     runtime complexity becomes quadratic"
                ),
            ]
        );
    }

    #[test]
    fn invalid_name_of_the_first_version_is_reported_twice() {
        let mut value = definition(json!({"type": "object"}));
        value["spec"]["versions"][0]["name"] = json!("V1");
        let fields: Vec<String> = check(&value).into_iter().map(|cause| cause.field).collect();
        assert_eq!(fields, ["spec.versions[0].name", "spec.version"]);
    }

    #[test]
    fn defaults_require_pruning() {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object",
            "properties": {"a": {"type": "string", "default": "x"}}}}});
        let mut value = definition(schema);
        value["spec"]["preserveUnknownFields"] = json!(true);
        let errors = errors(&value);
        assert_eq!(
            errors,
            [
                "spec.preserveUnknownFields: Invalid value: true: must be false in order to use \
                 defaults in the schema",
                "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set \
                 x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
            ]
        );
    }

    #[test]
    fn stored_version_cannot_be_removed() {
        let mut old = definition(json!({"type": "object"}));
        old["status"] = json!({"storedVersions": ["v1beta1", "v1"]});
        let causes = check_update(&old, &definition(json!({"type": "object"})));
        assert_eq!(causes.len(), 1);
        assert_eq!(causes[0].field, "status.storedVersions[0]");
    }

    #[test]
    fn rule_is_checked_against_the_schema() {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object",
            "properties": {"a": {"type": "integer"}},
            "x-kubernetes-validations": [{"rule": "self.b > 1"}],
        }}});
        let errors = errors(&definition(schema));
        assert_eq!(errors.len(), 1);
        assert!(errors[0].ends_with(
            "compilation failed: ERROR: <input>:1:5: undefined field 'b'\n | self.b > 1\n | ....^"
        ), "{errors:?}");
    }
}
