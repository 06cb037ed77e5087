use kubewright_core::Kind;
use kubewright_wire::status::{Cause, Status};
use regex::Regex;
use serde_json::{Value, json};

use super::names::accept_names;
use crate::admission::webhook::client_causes;
use crate::server::Server;
use crate::store::Object;

/// What a definition says when it does not: names that follow from the kind, no conversion.
pub(crate) fn fill_in(value: &mut Value) {
    let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    if spec.get("conversion").is_none_or(Value::is_null) {
        spec.insert("conversion".to_owned(), json!({"strategy": "None"}));
    }
    let service = spec
        .get_mut("conversion")
        .and_then(|conversion| conversion.pointer_mut("/webhook/clientConfig/service"));
    if let Some(service) = service.and_then(Value::as_object_mut) {
        service.entry("port").or_insert(json!(443));
    }
    let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut) else {
        return;
    };
    let Some(kind) = names.get("kind").and_then(Value::as_str).map(str::to_owned) else {
        return;
    };
    for (field, value) in [
        ("singular", kind.to_lowercase()),
        ("listKind", format!("{kind}List")),
    ] {
        let is_empty = |present: &Value| present.as_str().is_none_or(str::is_empty);
        if names.get(field).is_none_or(is_empty) {
            names.insert(field.to_owned(), json!(value));
        }
    }
}

/// Checks a definition and gives it the status that a real server gives it step by step.
pub(crate) fn accept(
    server: &Server,
    value: &mut Value,
    old: Option<&Object>,
) -> Result<(), Status> {
    refuse_unimplemented(value)?;
    let mut causes = check(value);
    if let Some(old) = old {
        causes.extend(check_update(old.value(), value));
    }
    if !causes.is_empty() {
        let kind = Kind::new("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
        let name = text(&value["metadata"]["name"]);
        return Err(Status::invalid(&kind, name, causes));
    }
    if old.is_none() {
        value["status"] = json!({});
    }
    note_stored_version(value);
    accept_names(server, value);
    Ok(())
}

fn versions(value: &Value) -> impl Iterator<Item = &Value> {
    value["spec"]["versions"].as_array().into_iter().flatten()
}

/// What this server cannot do is refused by name before it could be relied upon.
fn refuse_unimplemented(value: &Value) -> Result<(), Status> {
    for version in versions(value) {
        let root = &version["schema"]["openAPIV3Schema"];
        if let Some((path, rule)) = find_rule(root, "") {
            return Err(Status::not_implemented(format!(
                "validation rules in CEL are not implemented yet: {path} has the rule {rule:?}"
            )));
        }
    }
    Ok(())
}

fn find_rule(schema: &Value, path: &str) -> Option<(String, String)> {
    let rules = schema["x-kubernetes-validations"].as_array();
    if let Some(first) = rules.and_then(|rules| rules.first()) {
        let path = path.strip_prefix('.').unwrap_or("the root");
        return Some((path.to_owned(), text(&first["rule"]).to_owned()));
    }
    let mut below = children(schema).into_iter();
    below.find_map(|(name, child)| find_rule(child, &format!("{path}.{name}")))
}

fn children(schema: &Value) -> Vec<(String, &Value)> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let mut children: Vec<_> = properties
        .map(|(name, child)| (name.clone(), child))
        .collect();
    for name in ["items", "additionalProperties"] {
        if let Some(child) = schema.get(name).filter(|child| child.is_object()) {
            children.push((name.to_owned(), child));
        }
    }
    children
}

/// `ValidateCustomResourceDefinition` of k8s.io/apiextensions-apiserver, in part.
fn check(value: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &value["spec"];
    let mut require = |path: &str, field: &Value| {
        if text(field).is_empty() {
            causes.push(Cause::required(path, ""));
        }
    };
    require("spec.group", &spec["group"]);
    require("spec.scope", &spec["scope"]);
    require("spec.names.plural", &spec["names"]["plural"]);
    require("spec.names.kind", &spec["names"]["kind"]);
    let (plural, group) = (text(&spec["names"]["plural"]), text(&spec["group"]));
    let name = &value["metadata"]["name"];
    if text(name) != format!("{plural}.{group}") {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        causes.push(Cause::invalid("metadata.name", name, detail));
    }
    if !matches!(text(&spec["scope"]), "" | "Cluster" | "Namespaced") {
        let supported = ["Cluster", "Namespaced"];
        causes.push(Cause::not_supported(
            "spec.scope",
            &spec["scope"],
            &supported,
        ));
    }
    if spec["preserveUnknownFields"] == true {
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in \
                      spec.versions[*].schema instead";
        let value = &spec["preserveUnknownFields"];
        causes.push(Cause::invalid("spec.preserveUnknownFields", value, detail));
    }
    let stored = versions(value).filter(|version| version["storage"] == true);
    if stored.count() != 1 {
        let value = spec.get("versions").cloned().unwrap_or_default();
        let detail = "must have exactly one version marked as storage version";
        causes.push(Cause::invalid("spec.versions", &value, detail));
    }
    causes.extend(check_conversion(&spec["conversion"]));
    causes.extend(check_schemas(value));
    causes
}

/// `validateCustomResourceConversion`; it names fields as the internal version does.
fn check_conversion(conversion: &Value) -> Vec<Cause> {
    const CLIENT: &str = "spec.conversion.webhookClientConfig";
    const VERSIONS: &str = "spec.conversion.conversionReviewVersions";
    let mut causes = Vec::new();
    if conversion.is_null() {
        return causes;
    }
    let strategy = &conversion["strategy"];
    let (client, versions) = (
        &conversion["webhook"]["clientConfig"],
        &conversion["webhook"]["conversionReviewVersions"],
    );
    let items = versions.as_array().cloned().unwrap_or_default();
    match text(strategy) {
        "Webhook" => {}
        "None" => {
            let detail = "should not be set when strategy is not set to Webhook";
            if !client.is_null() {
                causes.push(Cause::forbidden(CLIENT, detail));
            }
            if !items.is_empty() {
                causes.push(Cause::forbidden(VERSIONS, detail));
            }
            return causes;
        }
        "" => {
            causes.push(Cause::required("spec.conversion.strategy", ""));
            return causes;
        }
        _ => {
            let supported = ["None", "Webhook"];
            let path = "spec.conversion.strategy";
            causes.push(Cause::not_supported(path, strategy, &supported));
            return causes;
        }
    }
    match client.is_object() {
        true => causes.extend(client_causes(client, CLIENT)),
        false => {
            let detail = "required when strategy is set to Webhook";
            causes.push(Cause::required(CLIENT, detail));
        }
    }
    if items.is_empty() {
        causes.push(Cause::required(VERSIONS, ""));
    } else if !items.iter().any(|item| item == "v1" || item == "v1beta1") {
        let detail = "must include at least one of v1, v1beta1";
        causes.push(Cause::invalid(VERSIONS, versions, detail));
    }
    causes
}

fn check_schemas(value: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let schemas: Vec<_> = versions(value)
        .map(|version| version["schema"].get("openAPIV3Schema"))
        .collect();
    let is_shared = schemas.iter().all(|schema| *schema == schemas[0]);
    for (index, schema) in schemas.iter().enumerate() {
        let place = match is_shared {
            true => "spec.validation.openAPIV3Schema".to_owned(),
            false => format!("spec.versions[{index}].schema.openAPIV3Schema"),
        };
        match schema {
            None => {
                let path = format!("spec.versions[{index}].schema.openAPIV3Schema");
                causes.push(Cause::required(&path, ""));
            }
            Some(schema) => {
                let root = text(&schema["type"]);
                if root.is_empty() {
                    let detail = "must not be empty at the root";
                    causes.push(Cause::required(&format!("{place}.type"), detail));
                } else if root != "object" {
                    let detail = "must be object at the root";
                    causes.push(Cause::invalid(
                        &format!("{place}.type"),
                        &schema["type"],
                        detail,
                    ));
                }
                check_below(schema, &place, &mut causes);
            }
        }
        if is_shared {
            break;
        }
    }
    causes
}

/// A schema is structural: every node says its type (`NewStructural` and `ValidateStructural`).
fn check_structure(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    let flag = |name: &str| schema[name] == true;
    let is_free =
        flag("x-kubernetes-int-or-string") || flag("x-kubernetes-preserve-unknown-fields");
    if text(&schema["type"]).is_empty() && !is_free {
        let detail = "must not be empty for specified object fields";
        causes.push(Cause::required(&format!("{path}.type"), detail));
    }
    if schema["properties"].is_object() && schema["additionalProperties"].is_object() {
        let detail = "must not be used in combination with properties";
        let path = format!("{path}.additionalProperties");
        causes.push(Cause::forbidden(&path, detail));
    }
    if let Some(pattern) = schema["pattern"].as_str()
        && Regex::new(pattern).is_err()
    {
        let detail = "must be a valid regular expression, but isn't";
        let path = format!("{path}.pattern");
        causes.push(Cause::invalid(&path, &schema["pattern"], detail));
    }
    if schema.get("$ref").is_some() {
        causes.push(Cause::forbidden(
            &format!("{path}.$ref"),
            "$ref is not supported",
        ));
    }
    check_below(schema, path, causes);
}

fn check_below(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    let properties = schema["properties"].as_object().into_iter().flatten();
    for (name, child) in properties {
        check_structure(child, &format!("{path}.properties[{name}]"), causes);
    }
    for name in ["items", "additionalProperties"] {
        if let Some(child) = schema.get(name).filter(|child| child.is_object()) {
            check_structure(child, &format!("{path}.{name}"), causes);
        }
    }
}

fn check_update(old: &Value, new: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (path, pointer) in [
        ("spec.group", "/spec/group"),
        ("spec.names.plural", "/spec/names/plural"),
        ("spec.scope", "/spec/scope"),
        ("spec.names.kind", "/spec/names/kind"),
    ] {
        let (before, after) = (old.pointer(pointer), new.pointer(pointer));
        if before != after {
            let value = after.cloned().unwrap_or_default();
            causes.push(Cause::invalid(path, &value, "field is immutable"));
        }
    }
    let stored = old["status"]["storedVersions"]
        .as_array()
        .into_iter()
        .flatten();
    for (index, name) in stored.enumerate() {
        if !versions(new).any(|version| version["name"] == *name) {
            let detail = format!(
                "missing from spec.versions; {} was previously a storage version, and must remain \
                 in spec.versions until a storage migration ensures no data remains persisted in \
                 {} and removes {} from status.storedVersions",
                text(name),
                text(name),
                text(name)
            );
            let path = format!("status.storedVersions[{index}]");
            causes.push(Cause::invalid(&path, name, &detail));
        }
    }
    causes
}

fn note_stored_version(value: &mut Value) {
    let storage = versions(value)
        .find(|version| version["storage"] == true)
        .map(|version| version["name"].clone());
    let Some(storage) = storage else {
        return;
    };
    let stored = &mut value["status"]["storedVersions"];
    match stored.as_array_mut() {
        Some(stored) if stored.contains(&storage) => {}
        Some(stored) => stored.push(storage),
        None => *stored = json!([storage]),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{check, check_structure, refuse_unimplemented};

    fn definition(schema: Value) -> Value {
        json!({"metadata": {"name": "foos.ex.io"}, "spec": {
            "group": "ex.io", "scope": "Namespaced", "names": {"plural": "foos", "kind": "Foo"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                          "schema": {"openAPIV3Schema": schema}}],
        }})
    }

    #[test]
    fn a_plain_definition_is_accepted() {
        assert!(check(&definition(json!({"type": "object"}))).is_empty());
    }

    #[test]
    fn a_name_that_does_not_follow_is_refused() {
        let mut value = definition(json!({"type": "object"}));
        value["metadata"]["name"] = json!("foo.ex.io");
        assert_eq!(
            check(&value)[0].with_field(),
            "metadata.name: Invalid value: \"foo.ex.io\": must be \
             spec.names.plural+\".\"+spec.group"
        );
    }

    #[test]
    fn a_node_without_a_type_is_refused() {
        let mut causes = Vec::new();
        let schema = json!({"type": "object", "properties": {"a": {}}});
        check_structure(&schema, "root", &mut causes);
        assert_eq!(
            causes[0].with_field(),
            "root.properties[a].type: Required value: must not be empty for specified object fields"
        );
    }

    #[test]
    fn rules_in_cel_are_refused_by_name() {
        let schema = json!({"type": "object", "properties": {"spec": {
            "type": "object", "x-kubernetes-validations": [{"rule": "self.a > 1"}],
        }}});
        let status = refuse_unimplemented(&definition(schema)).unwrap_err();
        assert_eq!(status.code, 501);
        assert!(
            status.message.ends_with("spec has the rule \"self.a > 1\""),
            "{status}"
        );
    }
}
