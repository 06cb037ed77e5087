//! The fields of an object that a record contains.

use std::collections::BTreeMap;

/// Selects the fields of an object that a record contains.
///
/// ```
/// use kubewright_wire::record::{Encoder, EncoderOptions, FieldTree};
/// use serde_json::json;
///
/// let tree = FieldTree::none().with("metadata.name").with("spec.containers.image");
/// let mut encoder = Encoder::new(EncoderOptions::default()).keeping(tree);
/// let record = encoder.encode_value(&json!({
///     "metadata": {"name": "web", "uid": "7"},
///     "spec": {"containers": [{"name": "main", "image": "nginx"}]},
/// }))?;
/// assert_eq!(
///     record.to_value(),
///     json!({"metadata": {"name": "web"}, "spec": {"containers": [{"image": "nginx"}]}})
/// );
/// # Ok::<(), kubewright_wire::record::RecordError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FieldTree {
    /// The value with everything below it.
    Whole,
    /// Only these fields of an object, or of each element of an array.
    Fields(BTreeMap<Box<str>, FieldTree>),
}

impl FieldTree {
    /// No fields.
    pub const fn none() -> Self {
        Self::Fields(BTreeMap::new())
    }

    /// Adds the field at a dotted path such as `spec.nodeName`, with everything below it. The path
    /// continues in the elements of arrays.
    #[must_use]
    pub fn with(self, path: &str) -> Self {
        self.with_path(&path.split('.').collect::<Vec<_>>(), Self::Whole)
    }

    /// Whether it selects everything.
    pub fn is_whole(&self) -> bool {
        *self == Self::Whole
    }

    /// The names of the fields on this level; empty when everything is selected.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let fields = match self {
            Self::Whole => None,
            Self::Fields(fields) => Some(fields.keys()),
        };
        fields.into_iter().flatten().map(|name| &**name)
    }

    /// The selection within a field; `None` when the field is not selected.
    pub(super) fn below(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Whole => Some(self),
            Self::Fields(fields) => fields.get(name),
        }
    }

    pub(super) fn with_path(self, path: &[&str], leaf: Self) -> Self {
        let Self::Fields(mut fields) = self else {
            return self;
        };
        let Some((name, rest)) = path.split_first() else {
            return match leaf {
                Self::Whole => Self::Whole,
                Self::Fields(_) => Self::Fields(fields),
            };
        };
        let below = fields.remove(*name).unwrap_or_else(Self::none);
        fields.insert((*name).into(), below.with_path(rest, leaf));
        Self::Fields(fields)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::FieldTree;
    use crate::record::{Encoder, EncoderOptions};

    #[test]
    fn path_below_a_whole_field_changes_nothing() {
        let expected = FieldTree::none().with("spec");
        let below_last = FieldTree::none().with("spec").with("spec.nodeName");
        let below_first = FieldTree::none().with("spec.nodeName").with("spec");
        assert_eq!(below_last, expected);
        assert_eq!(below_first, expected);
    }

    #[test]
    fn other_values_than_objects_are_kept_when_fields_of_them_are_selected() {
        let tree = FieldTree::none().with("spec.a");
        let mut encoder = Encoder::new(EncoderOptions::default()).keeping(tree);
        for spec in [json!(null), json!("text"), json!([1, [2, {"a": 3}]])] {
            let object = json!({"spec": spec});
            assert_eq!(encoder.encode_value(&object).unwrap().to_value(), object);
        }
    }

    #[test]
    fn only_selected_labels_are_kept() {
        let tree = FieldTree::none().with("metadata.labels.app");
        let mut encoder = Encoder::new(EncoderOptions::default()).keeping(tree);
        let object = json!({"metadata": {"labels": {"app": "web", "zone": "b"}}, "data": {"a": 1}});
        assert_eq!(
            encoder.encode_value(&object).unwrap().to_value(),
            json!({"metadata": {"labels": {"app": "web"}}})
        );
    }
}
