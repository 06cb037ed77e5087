use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// What is sent as `stringData` is kept as `data` (`Convert_v1_Secret_To_core_Secret`).
pub(crate) fn take_string_data(secret: &mut Value) {
    let Some(members) = secret.as_object_mut() else {
        return;
    };
    let Some(Value::Object(texts)) = members.remove("stringData") else {
        return;
    };
    let data = members.entry("data").or_insert_with(|| json!({}));
    for (key, text) in texts {
        let text = text.as_str().unwrap_or_default();
        data[key] = Value::String(STANDARD.encode(text));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::take_string_data;

    #[test]
    fn text_is_kept_encoded() {
        let mut secret = json!({"data": {"b": "eA=="}, "stringData": {"a": "b", "b": "c"}});
        take_string_data(&mut secret);
        assert_eq!(secret, json!({"data": {"a": "Yg==", "b": "Yw=="}}));
    }
}
