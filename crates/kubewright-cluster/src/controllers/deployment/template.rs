//! Pod templates: when two of them are the same, and the hash that distinguishes ReplicaSets.

use serde_json::Value;

/// The label with the hash of the template, on each ReplicaSet and its Pods.
pub(super) const TEMPLATE_HASH: &str = "pod-template-hash";

/// Whether two templates describe the same Pods, apart from the label with the hash
/// (`EqualIgnoreHash`).
pub(super) fn is_same_template(a: &Value, b: &Value) -> bool {
    without_hash(a) == without_hash(b)
}

fn without_hash(template: &Value) -> Value {
    let mut template = template.clone();
    let Some(metadata) = template.get_mut("metadata").and_then(Value::as_object_mut) else {
        return template;
    };
    if let Some(labels) = metadata.get_mut("labels").and_then(Value::as_object_mut) {
        labels.remove(TEMPLATE_HASH);
    }
    metadata.retain(|_, value| {
        !value.is_null() && value.as_object().is_none_or(|fields| !fields.is_empty())
    });
    if metadata.is_empty()
        && let Some(template) = template.as_object_mut()
    {
        template.remove("metadata");
    }
    template
}

/// The hash of a template: short, equal for equal templates, and written with letters that form no
/// words (`SafeEncodeString` of apimachinery/pkg/util/rand). Kubernetes hashes Go's memory layout
/// of the template, so that its hashes differ.
pub(super) fn template_hash(template: &Value, collisions: i64) -> String {
    const ALPHABET: [char; 27] = [
        'b', 'c', 'd', 'f', 'g', 'h', 'j', 'k', 'l', 'm', 'n', 'p', 'q', 'r', 's', 't', 'v', 'w',
        'x', 'z', '2', '4', '5', '6', '7', '8', '9',
    ];
    let hashed = format!("{}{collisions}", without_hash(template));
    // FNV-1a with 32 bits.
    let hash = hashed.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    let letter = |byte: u8| ALPHABET[usize::from(byte) % ALPHABET.len()];
    hash.to_string().bytes().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{is_same_template, template_hash};

    #[test]
    fn templates_are_compared_without_the_hash_label() {
        let plain = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"x": 1}});
        let hashed = json!({"metadata": {"labels": {"app": "web", "pod-template-hash": "b"}}, "spec": {"x": 1}});
        let other = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"x": 2}});
        assert!(is_same_template(&plain, &hashed));
        assert!(!is_same_template(&plain, &other));
        assert_eq!(template_hash(&plain, 0), template_hash(&hashed, 0));
        assert_ne!(template_hash(&plain, 0), template_hash(&other, 0));
        assert_ne!(template_hash(&plain, 0), template_hash(&plain, 1));
    }
}
