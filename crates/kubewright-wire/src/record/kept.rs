use std::collections::BTreeMap;

/// Which fields of an object a record keeps.
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
    /// Of an object only these fields; of an array, these of each element.
    Fields(BTreeMap<Box<str>, FieldTree>),
}

impl FieldTree {
    /// No field at all.
    pub const fn none() -> Self {
        Self::Fields(BTreeMap::new())
    }

    /// The same, and the field at a dotted path such as `spec.nodeName`, whole. Arrays on the way
    /// are passed through.
    #[must_use]
    pub fn with(self, path: &str) -> Self {
        self.with_path(&path.split('.').collect::<Vec<_>>(), Self::Whole)
    }

    /// Whether nothing is left out.
    pub fn is_whole(&self) -> bool {
        *self == Self::Whole
    }

    /// The names of the fields on this level; none where everything is kept.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let fields = match self {
            Self::Whole => None,
            Self::Fields(fields) => Some(fields.keys()),
        };
        fields.into_iter().flatten().map(|name| &**name)
    }

    /// What is kept of the field; none where nothing is.
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
    fn a_whole_field_is_not_cut_down_by_a_path_below_it() {
        let one = FieldTree::none().with("spec").with("spec.nodeName");
        let other = FieldTree::none().with("spec.nodeName").with("spec");
        assert_eq!(one, other);
        assert_eq!(one, FieldTree::none().with("spec"));
    }

    #[test]
    fn what_is_not_an_object_is_kept_where_fields_of_it_are_wanted() {
        let tree = FieldTree::none().with("spec.a");
        let mut encoder = Encoder::new(EncoderOptions::default()).keeping(tree);
        for spec in [json!(null), json!("text"), json!([1, [2, {"a": 3}]])] {
            let object = json!({"spec": spec});
            assert_eq!(encoder.encode_value(&object).unwrap().to_value(), object);
        }
    }

    #[test]
    fn of_user_chosen_names_only_those_asked_for_are_kept() {
        let tree = FieldTree::none().with("metadata.labels.app");
        let mut encoder = Encoder::new(EncoderOptions::default()).keeping(tree);
        let object = json!({"metadata": {"labels": {"app": "web", "zone": "b"}}, "data": {"a": 1}});
        assert_eq!(
            encoder.encode_value(&object).unwrap().to_value(),
            json!({"metadata": {"labels": {"app": "web"}}})
        );
    }
}
