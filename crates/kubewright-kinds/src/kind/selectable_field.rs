//! The fields that a field selector can name.

use kubewright_core::FieldSelector;
use serde_json::Value;

/// A field, besides `metadata.name` and `metadata.namespace`, that a kind can be selected by
/// (`AddFieldLabelConversionFunc` and `GetAttrs` of each kind).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectableField {
    /// The name in selectors.
    pub name: &'static str,
    /// Where the value is.
    path: &'static str,
    /// What an absent value compares as.
    absent: &'static str,
}

impl SelectableField {
    /// A field that is selected by its own path.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            name,
            path: name,
            absent: "",
        }
    }

    /// The value is at another path than the name.
    pub(crate) const fn at(self, path: &'static str) -> Self {
        Self { path, ..self }
    }

    /// An absent value compares as this one.
    pub(crate) const fn or(self, absent: &'static str) -> Self {
        Self { absent, ..self }
    }
}

/// Whether an object has the field values that a selector requires; an absent field is empty.
///
/// `fields` are those of the object's kind; names that it does not list are paths.
pub(super) fn matches_fields(
    fields: &[SelectableField],
    selector: &FieldSelector,
    object: &Value,
) -> bool {
    selector.requirements.iter().all(|requirement| {
        let name = requirement.path.as_str();
        let declared = fields.iter().find(|field| field.name == name);
        let (path, absent) = declared.map_or((name, ""), |field| (field.path, field.absent));
        (field_text(object, path, absent) == requirement.value) == requirement.equal
    })
}

/// The message for a selector that names a field the kind cannot be selected by.
pub(super) fn unsupported_field(
    fields: &[SelectableField],
    selector: &FieldSelector,
) -> Option<String> {
    let unknown = selector.requirements.iter().find(|requirement| {
        let path = requirement.path.as_str();
        !matches!(path, "metadata.name" | "metadata.namespace")
            && !fields.iter().any(|field| field.name == path)
    })?;
    Some(if fields.is_empty() {
        format!(
            "\"{}\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
            unknown.path
        )
    } else {
        format!("field label not supported: {}", unknown.path)
    })
}

fn field_text(object: &Value, path: &str, absent: &str) -> String {
    let found = path
        .split('.')
        .try_fold(object, |value, field| value.get(field));
    match found {
        Some(Value::String(text)) => text.clone(),
        Some(other @ (Value::Bool(_) | Value::Number(_))) => other.to_string(),
        _ => absent.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::FieldSelector;
    use serde_json::json;

    use super::{SelectableField, matches_fields, unsupported_field};

    const FIELDS: [SelectableField; 3] = [
        SelectableField::new("spec.host").at("spec.nodeName"),
        SelectableField::new("spec.hostNetwork").or("false"),
        SelectableField::new("status.phase"),
    ];

    fn selector(text: &str) -> FieldSelector {
        text.parse().unwrap()
    }

    #[test]
    fn absent_fields_and_aliases_are_compared_as_kubernetes_does() {
        let pod = json!({"metadata": {"name": "a"}, "spec": {"nodeName": "n"}});
        for matching in ["spec.host=n,status.phase=", "spec.hostNetwork=false"] {
            assert!(matches_fields(&FIELDS, &selector(matching), &pod));
        }
        assert!(!matches_fields(
            &FIELDS,
            &selector("metadata.name!=a"),
            &pod
        ));
    }

    #[test]
    fn unknown_fields_are_reported_with_the_message_of_the_kind() {
        let unknown = selector("spec.x=1");
        assert_eq!(
            unsupported_field(&FIELDS, &unknown).unwrap(),
            "field label not supported: spec.x"
        );
        assert_eq!(
            unsupported_field(&[], &unknown).unwrap(),
            "\"spec.x\" is not a known field selector: only \"metadata.name\", \
             \"metadata.namespace\""
        );
    }
}
