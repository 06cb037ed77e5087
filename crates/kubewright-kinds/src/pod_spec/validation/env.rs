//! Environment variables, and references to fields and resources of a Pod.

use kubewright_core::format::{config_key, label, qualified_name, subdomain, variable_name};
use serde_json::json;

use super::mounts::no_backsteps;
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;

const FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

const VOLUME_FIELDS: [&str; 5] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
];

const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

const UNITS: [&str; 13] = [
    "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei",
];

/// What contains a reference to a field or resource of the Pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    Variable,
    Volume,
}

/// `ValidateEnv`.
pub(super) fn env(at: FieldPath<'_>, errors: &mut ErrorList) {
    for variable in at.items() {
        let name = variable.field("name");
        match name.text() {
            "" => errors.required(name, ""),
            text => errors.problems(name, variable_name(text)),
        }
        if variable.has("valueFrom") {
            value_from(variable, errors);
        }
    }
}

fn value_from(variable: FieldPath<'_>, errors: &mut ErrorList) {
    let from = variable.field("valueFrom");
    let mut sources = 0;
    let mut given = |field: &'static str| {
        let is_given = from.has(field);
        sources += usize::from(is_given);
        is_given
    };
    if given("fieldRef") {
        field_reference(from.field("fieldRef"), Reference::Variable, errors);
    }
    if given("resourceFieldRef") {
        resource_reference(from.field("resourceFieldRef"), Reference::Variable, errors);
    }
    for field in ["configMapKeyRef", "secretKeyRef"] {
        if given(field) {
            key_reference(from.field(field), errors);
        }
    }
    if given("fileKeyRef") {
        file_reference(from.field("fileKeyRef"), errors);
    }
    let detail = match sources {
        0 => {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, \
             `secretKeyRef` or `fileKeyRef`"
        }
        _ if !variable.text_of("value").is_empty() => {
            "may not be specified when `value` is not empty"
        }
        1 => return,
        _ => "may not have more than one field specified at a time",
    };
    errors.invalid_value(from, &json!(""), detail);
}

/// `ValidateEnvFrom`.
pub(super) fn env_from(at: FieldPath<'_>, errors: &mut ErrorList) {
    for source in at.items() {
        let prefix = source.field("prefix");
        if !prefix.text().is_empty() {
            errors.problems(prefix, variable_name(prefix.text()));
        }
        let mut sources = 0;
        for field in ["configMapRef", "secretRef"] {
            if !source.has(field) {
                continue;
            }
            sources += 1;
            let reference = source.field(field);
            let name = reference.field("name");
            match name.text() {
                "" => errors.required(name, ""),
                // Kubernetes validates the name as a prefix.
                text => errors.problems(name, subdomain(text.strip_suffix('-').unwrap_or(text))),
            }
        }
        let detail = match sources {
            0 => "must specify one of: `configMapRef` or `secretRef`",
            1 => continue,
            _ => "may not have more than one field specified at a time",
        };
        errors.invalid_value(at, &json!(""), detail);
    }
}

/// `validateObjectFieldSelector`.
pub(super) fn field_reference(at: FieldPath<'_>, place: Reference, errors: &mut ErrorList) {
    for field in ["apiVersion", "fieldPath"] {
        if at.text_of(field).is_empty() {
            return errors.required(at.field(field), "");
        }
    }
    let path = at.field("fieldPath");
    if let Some((start, key)) = subscript(path.text()) {
        let problems = match start {
            "metadata.annotations" => qualified_name(&key.to_lowercase()),
            "metadata.labels" => qualified_name(key),
            _ => {
                let detail = format!(
                    "error converting fieldPath: field label does not support subscript: {start}"
                );
                return errors.invalid(path, &detail);
            }
        };
        for problem in problems {
            errors.invalid_value(at, &json!(key), &problem);
        }
        return;
    }
    const KNOWN: [&str; 2] = ["metadata.annotations", "metadata.labels"];
    let text = path.text();
    if !FIELDS.contains(&text) && !KNOWN.contains(&text) {
        let detail = format!("error converting fieldPath: field label not supported: {text}");
        return errors.invalid(path, &detail);
    }
    let supported: &[&str] = match place {
        Reference::Variable => &FIELDS,
        Reference::Volume => &VOLUME_FIELDS,
    };
    if !supported.contains(&text) {
        errors.unsupported(path, supported);
    }
}

/// Splits `path['key']`.
fn subscript(path: &str) -> Option<(&str, &str)> {
    let rest = path.strip_suffix("']")?;
    rest.split_once("['").filter(|(start, _)| !start.is_empty())
}

/// `validateContainerResourceFieldSelector`.
pub(super) fn resource_reference(at: FieldPath<'_>, place: Reference, errors: &mut ErrorList) {
    let resource = at.field("resource");
    let is_hugepages = ["requests.hugepages-", "limits.hugepages-"]
        .iter()
        .any(|prefix| resource.text().starts_with(prefix));
    if place == Reference::Volume && at.text_of("containerName").is_empty() {
        errors.required(at.field("containerName"), "");
    } else if resource.text().is_empty() {
        errors.required(resource, "");
    } else if !RESOURCES.contains(&resource.text()) && !is_hugepages {
        errors.unsupported(resource, &RESOURCES);
    }
    let unit = at.text_of("divisor");
    let (is_supported, detail) = match resource.text() {
        _ if matches!(unit, "" | "0") => return,
        "limits.cpu" | "requests.cpu" => (
            matches!(unit, "1m" | "1"),
            "only divisor's values 1m and 1 are supported with the cpu resource".to_owned(),
        ),
        name => {
            let what = match name {
                "limits.memory" | "requests.memory" => "memory",
                "limits.ephemeral-storage" | "requests.ephemeral-storage" => {
                    "local ephemeral storage"
                }
                _ if is_hugepages => "hugepages",
                _ => return,
            };
            let list = UNITS.join(", ");
            let detail =
                format!("only divisor's values {list} are supported with the {what} resource");
            (UNITS.contains(&unit), detail)
        }
    };
    if !is_supported {
        errors.invalid_value(at.field("divisor"), resource.value(), &detail);
    }
}

/// `validateConfigMapKeySelector`, `validateSecretKeySelector`.
fn key_reference(at: FieldPath<'_>, errors: &mut ErrorList) {
    let name = at.field("name");
    errors.problems(name, subdomain(name.text()));
    let key = at.field("key");
    match key.text() {
        "" => errors.required(key, ""),
        text => errors.problems(key, config_key(text)),
    }
}

/// `validateFileKeySelector`.
fn file_reference(at: FieldPath<'_>, errors: &mut ErrorList) {
    let key = at.field("key");
    match key.text() {
        "" => errors.required(key, ""),
        text => errors.problems(key, variable_name(text)),
    }
    let volume = at.field("volumeName");
    match volume.text() {
        "" => errors.required(volume, ""),
        text => errors.problems(volume, label(text)),
    }
    let path = at.field("path");
    match path.text() {
        "" => errors.required(path, ""),
        _ => no_backsteps(path, errors),
    }
}
