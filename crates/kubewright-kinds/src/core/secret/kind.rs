//! Secret: confidential data.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::key_pair;
use crate::columns::{AGE, Cell, Column, NAME};
use crate::core::data_keys::{LARGEST, decoded, validate_immutable, validate_key};
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::groups;
use crate::json::text;
use crate::kind::{BuiltinKind, SelectableField, Validation, add_one};

/// Confidential data.
pub static SECRET: BuiltinKind = BuiltinKind {
    selectable_fields: &[SelectableField::new("type")],
    declared_columns: COLUMNS,
    convert: encode_string_data,
    validation: Validation::Rules(validate),
    warnings: key_pair::warn,
    quota_usage: |_, usage| add_one(usage, "secrets"),
    ..BuiltinKind::new(groups::CORE, "Secret", "secrets")
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("Type", Cell::Text("/type")),
    Column::text("Data", Cell::Count("/data")),
    AGE,
];

/// Moves `stringData` to `data` (`Convert_v1_Secret_To_core_Secret`).
fn encode_string_data(secret: &mut Map<String, Value>) {
    let Some(Value::Object(texts)) = secret.remove("stringData") else {
        return;
    };
    let data = secret.entry("data").or_insert_with(|| json!({}));
    for (key, value) in texts {
        data[key] = Value::String(STANDARD.encode(text(&value)));
    }
}

/// `ValidateSecret`, `ValidateSecretUpdate`.
fn validate(object: &Value, old: Option<&Value>, errors: &mut ErrorList) {
    if let Some(old) = old {
        errors.immutable(FieldPath::new(object, "type"), &old["type"]);
        validate_immutable(object, old, &["data"], errors);
    }
    let data = FieldPath::new(object, "data");
    let mut size = 0;
    for (key, value) in data.entries() {
        validate_key(value, key, errors);
        size += decoded(value.value()).len();
    }
    if size > LARGEST {
        errors.too_long("data", LARGEST);
    }
    let mut require = |keys: &[&str]| {
        for key in keys.iter().filter(|key| !data.has(key)) {
            errors.required(data.key(key), "");
        }
    };
    match text(&object["type"]) {
        "kubernetes.io/service-account-token" => {
            const ACCOUNT: &str = "kubernetes.io/service-account.name";
            let metadata = FieldPath::new(object, "metadata");
            let annotations = metadata.field("annotations");
            if annotations.text_of(ACCOUNT).is_empty() {
                errors.required(annotations.key(ACCOUNT), "");
            }
        }
        "kubernetes.io/dockercfg" => validate_json_key(data, ".dockercfg", errors),
        "kubernetes.io/dockerconfigjson" => validate_json_key(data, ".dockerconfigjson", errors),
        "kubernetes.io/basic-auth" if !data.has("username") && !data.has("password") => {
            require(&["username", "password"]);
        }
        "kubernetes.io/ssh-auth" if data.text_of("ssh-privatekey").is_empty() => {
            errors.required(data.key("ssh-privatekey"), "");
        }
        "kubernetes.io/tls" => require(&["tls.crt", "tls.key"]),
        _ => {}
    }
}

fn validate_json_key(data: FieldPath<'_>, key: &str, errors: &mut ErrorList) {
    let at = data.key(key);
    if !at.is_set() {
        errors.required(at, "");
        return;
    }
    let parsed: Result<Map<String, Value>, _> = serde_json::from_slice(&decoded(at.value()));
    if let Err(error) = parsed {
        let redacted = Value::from("<secret contents redacted>");
        errors.invalid_value(at, &redacted, &error.to_string());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::encode_string_data;

    #[test]
    fn string_data_is_stored_as_base64() {
        let mut secret = json!({"data": {"b": "eA=="}, "stringData": {"a": "b", "b": "c"}});
        encode_string_data(secret.as_object_mut().unwrap());
        assert_eq!(secret, json!({"data": {"a": "Yg==", "b": "Yw=="}}));
    }
}
