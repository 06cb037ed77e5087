use serde_json::json;

use super::super::formats::{config_key, label, qualified_name, subdomain, variable_name};
use super::super::{At, Findings};

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
const AMOUNTS: [&str; 6] = [
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

/// Where a reference to a field of the Pod stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    Variable,
    Volume,
}

/// `ValidateEnv`.
pub(super) fn env(at: At<'_>, findings: &mut Findings) {
    for variable in at.items() {
        let name = variable.field("name");
        match name.text() {
            "" => findings.required(name, ""),
            text => findings.problems(name, variable_name(text)),
        }
        if variable.has("valueFrom") {
            value_from(variable, findings);
        }
    }
}

fn value_from(variable: At<'_>, findings: &mut Findings) {
    let from = variable.field("valueFrom");
    let mut sources = 0;
    let mut given = |field: &'static str| {
        let is_given = from.has(field);
        sources += usize::from(is_given);
        is_given
    };
    if given("fieldRef") {
        field_reference(from.field("fieldRef"), Reference::Variable, findings);
    }
    if given("resourceFieldRef") {
        amount_reference(
            from.field("resourceFieldRef"),
            Reference::Variable,
            findings,
        );
    }
    for field in ["configMapKeyRef", "secretKeyRef"] {
        if given(field) {
            key_reference(from.field(field), findings);
        }
    }
    if given("fileKeyRef") {
        file_reference(from.field("fileKeyRef"), findings);
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
    findings.invalid_value(from, &json!(""), detail);
}

/// `ValidateEnvFrom`.
pub(super) fn env_from(at: At<'_>, findings: &mut Findings) {
    for source in at.items() {
        let prefix = source.field("prefix");
        if !prefix.text().is_empty() {
            findings.problems(prefix, variable_name(prefix.text()));
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
                "" => findings.required(name, ""),
                // Kubernetes takes the name for the start of one.
                text => findings.problems(name, subdomain(text.strip_suffix('-').unwrap_or(text))),
            }
        }
        let detail = match sources {
            0 => "must specify one of: `configMapRef` or `secretRef`",
            1 => continue,
            _ => "may not have more than one field specified at a time",
        };
        findings.invalid_value(at, &json!(""), detail);
    }
}

/// `validateObjectFieldSelector`.
pub(super) fn field_reference(at: At<'_>, place: Reference, findings: &mut Findings) {
    for field in ["apiVersion", "fieldPath"] {
        if at.text_of(field).is_empty() {
            return findings.required(at.field(field), "");
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
                return findings.invalid(path, &detail);
            }
        };
        for problem in problems {
            findings.invalid_value(at, &json!(key), &problem);
        }
        return;
    }
    const KNOWN: [&str; 2] = ["metadata.annotations", "metadata.labels"];
    let text = path.text();
    if !FIELDS.contains(&text) && !KNOWN.contains(&text) {
        let detail = format!("error converting fieldPath: field label not supported: {text}");
        return findings.invalid(path, &detail);
    }
    let supported: &[&str] = match place {
        Reference::Variable => &FIELDS,
        Reference::Volume => &VOLUME_FIELDS,
    };
    if !supported.contains(&text) {
        findings.unsupported(path, supported);
    }
}

/// `path['key']`, taken apart.
fn subscript(path: &str) -> Option<(&str, &str)> {
    let rest = path.strip_suffix("']")?;
    rest.split_once("['").filter(|(start, _)| !start.is_empty())
}

/// `validateContainerResourceFieldSelector`.
pub(super) fn amount_reference(at: At<'_>, place: Reference, findings: &mut Findings) {
    let resource = at.field("resource");
    let is_huge = |start: &str| resource.text().starts_with(start);
    let is_huge = is_huge("requests.hugepages-") || is_huge("limits.hugepages-");
    if place == Reference::Volume && at.text_of("containerName").is_empty() {
        findings.required(at.field("containerName"), "");
    } else if resource.text().is_empty() {
        findings.required(resource, "");
    } else if !AMOUNTS.contains(&resource.text()) && !is_huge {
        findings.unsupported(resource, &AMOUNTS);
    }
    let unit = at.text_of("divisor");
    let (fits, detail) = match resource.text() {
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
                _ if is_huge => "hugepages",
                _ => return,
            };
            let list = UNITS.join(", ");
            let detail =
                format!("only divisor's values {list} are supported with the {what} resource");
            (UNITS.contains(&unit), detail)
        }
    };
    if !fits {
        findings.invalid_value(at.field("divisor"), resource.value(), &detail);
    }
}

/// `validateConfigMapKeySelector`, `validateSecretKeySelector`.
fn key_reference(at: At<'_>, findings: &mut Findings) {
    let name = at.field("name");
    findings.problems(name, subdomain(name.text()));
    let key = at.field("key");
    match key.text() {
        "" => findings.required(key, ""),
        text => findings.problems(key, config_key(text)),
    }
}

/// `validateFileKeySelector`.
fn file_reference(at: At<'_>, findings: &mut Findings) {
    let key = at.field("key");
    match key.text() {
        "" => findings.required(key, ""),
        text => findings.problems(key, variable_name(text)),
    }
    let volume = at.field("volumeName");
    match volume.text() {
        "" => findings.required(volume, ""),
        text => findings.problems(volume, label(text)),
    }
    let path = at.field("path");
    match path.text() {
        "" => findings.required(path, ""),
        _ => super::mounts::no_backsteps(path, findings),
    }
}
