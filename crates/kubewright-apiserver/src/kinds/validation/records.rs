use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::formats::{config_key, qualified_name};
use super::{At, Findings};

/// The most that a ConfigMap or Secret may hold.
const LARGEST: usize = 1024 * 1024;
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// `ValidateNamespace`.
pub(super) fn namespace(object: &Value, old: Option<&Value>, findings: &mut Findings) {
    if old.is_some() {
        return;
    }
    let spec = At::top(object, "spec");
    let finalizers = spec.field("finalizers");
    for name in finalizers.items() {
        finalizer(finalizers, name.value(), findings);
    }
}

/// `ValidateNamespaceFinalizeUpdate`.
pub(super) fn finalized_namespace(object: &Value, findings: &mut Findings) {
    let spec = At::top(object, "spec");
    let finalizers = spec.field("finalizers");
    for name in finalizers.items() {
        finalizer(name, name.value(), findings);
    }
}

/// `validateFinalizerName`.
fn finalizer(at: At<'_>, name: &Value, findings: &mut Findings) {
    let text = name.as_str().unwrap_or_default();
    for problem in qualified_name(text) {
        findings.invalid_value(at, name, &problem);
    }
    if !text.contains('/') && !STANDARD_FINALIZERS.contains(&text) {
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        findings.invalid_value(at, name, detail);
    }
}

/// `ValidateConfigMap`, `ValidateConfigMapUpdate`.
pub(super) fn config_map(object: &Value, old: Option<&Value>, findings: &mut Findings) {
    if let Some(old) = old {
        immutable(object, old, &["data", "binaryData"], findings);
    }
    let binary = At::top(object, "binaryData");
    let mut size = 0;
    let data = At::top(object, "data");
    for (key, value) in data.entries() {
        check_key(value, key, findings);
        if binary.has(key) {
            let detail = "duplicate of key present in binaryData";
            findings.invalid_value(value, &Value::from(key), detail);
        }
        size += value.text().len();
    }
    for (key, value) in binary.entries() {
        check_key(value, key, findings);
        size += decoded(value.value()).len();
    }
    if size > LARGEST {
        findings.too_long("", LARGEST);
    }
}

/// `ValidateSecret`, `ValidateSecretUpdate`.
pub(super) fn secret(object: &Value, old: Option<&Value>, findings: &mut Findings) {
    if let Some(old) = old {
        findings.immutable(At::top(object, "type"), &old["type"]);
        immutable(object, old, &["data"], findings);
    }
    let data = At::top(object, "data");
    let mut size = 0;
    for (key, value) in data.entries() {
        check_key(value, key, findings);
        size += decoded(value.value()).len();
    }
    if size > LARGEST {
        findings.too_long("data", LARGEST);
    }
    let mut needs = |keys: &[&str]| {
        for key in keys.iter().filter(|key| !data.has(key)) {
            findings.required(data.key(key), "");
        }
    };
    match object["type"].as_str().unwrap_or_default() {
        "kubernetes.io/service-account-token" => {
            const ACCOUNT: &str = "kubernetes.io/service-account.name";
            let metadata = At::top(object, "metadata");
            let annotations = metadata.field("annotations");
            if annotations.text_of(ACCOUNT).is_empty() {
                findings.required(annotations.key(ACCOUNT), "");
            }
        }
        "kubernetes.io/dockercfg" => json_key(data, ".dockercfg", findings),
        "kubernetes.io/dockerconfigjson" => json_key(data, ".dockerconfigjson", findings),
        "kubernetes.io/basic-auth" if !data.has("username") && !data.has("password") => {
            needs(&["username", "password"]);
        }
        "kubernetes.io/ssh-auth" if data.text_of("ssh-privatekey").is_empty() => {
            findings.required(data.key("ssh-privatekey"), "");
        }
        "kubernetes.io/tls" => needs(&["tls.crt", "tls.key"]),
        _ => {}
    }
}

fn json_key(data: At<'_>, key: &str, findings: &mut Findings) {
    let at = data.key(key);
    if !at.is_set() {
        findings.required(at, "");
        return;
    }
    let read: Result<serde_json::Map<String, Value>, _> =
        serde_json::from_slice(&decoded(at.value()));
    if let Err(error) = read {
        let redacted = Value::from("<secret contents redacted>");
        findings.invalid_value(at, &redacted, &error.to_string());
    }
}

fn check_key(at: At<'_>, key: &str, findings: &mut Findings) {
    for problem in config_key(key) {
        findings.invalid_value(at, &Value::from(key), &problem);
    }
}

fn decoded(value: &Value) -> Vec<u8> {
    let text = value.as_str().unwrap_or_default();
    STANDARD.decode(text).unwrap_or_default()
}

fn immutable(object: &Value, old: &Value, fields: &[&str], findings: &mut Findings) {
    const DETAIL: &str = "field is immutable when `immutable` is set";
    if old["immutable"] != Value::Bool(true) {
        return;
    }
    if object["immutable"] != Value::Bool(true) {
        findings.forbidden(At::top(object, "immutable"), DETAIL);
    }
    for field in fields {
        if object.get(field) != old.get(field) {
            findings.forbidden(At::top(object, field), DETAIL);
        }
    }
}

/// `ValidateLeaseSpec`.
pub(super) fn lease(object: &Value, _: Option<&Value>, findings: &mut Findings) {
    let spec = At::top(object, "spec");
    let duration = spec.field("leaseDurationSeconds");
    if duration.number().is_some_and(|seconds| seconds <= 0) {
        findings.invalid(duration, "must be greater than 0");
    }
    let transitions = spec.field("leaseTransitions");
    if transitions.number().is_some_and(|count| count < 0) {
        findings.invalid(transitions, "must be greater than or equal to 0");
    }
}
