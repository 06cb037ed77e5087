use serde_json::{Map, Value};

use crate::apply::go_print::{plain, type_name};

/// A strategic merge patch that cannot be carried out. The messages are the API server's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StrategicPatchError {
    /// `$deleteFromPrimitiveList` without the name of a list.
    #[error("invalid patch format of primitive list")]
    PrimitiveList,
    /// `$setElementOrder` without the name of a list, or with something else than a list.
    #[error("invalid patch format of setElementOrder list")]
    ElementOrder,
    /// `$retainKeys` is no list, or the patch holds a field that it does not keep.
    #[error("invalid patch format of retainKeys")]
    RetainKeys,
    /// A list of lists is to be merged.
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// All else that does not fit together.
    #[error("{0}")]
    Mismatch(String),
}

impl StrategicPatchError {
    pub(super) fn no_merge_key(item: &Map<String, Value>, key: &str) -> Self {
        let item = print_map(item);
        Self::Mismatch(format!(
            "map: {item} does not contain declared merge key: {key}"
        ))
    }

    pub(super) fn unknown_directive(directive: &Value, holder: &Map<String, Value>) -> Self {
        let (directive, holder) = (plain(directive), print_map(holder));
        Self::Mismatch(format!("unknown patch type: {directive} in map: {holder}"))
    }

    pub(super) fn wrong_type(expected: &str, actual: &Value) -> Self {
        let actual = type_name(actual);
        Self::Mismatch(format!("expected a {expected}, but received a {actual}"))
    }
}

/// A patch as messages about it show it, which is as Go prints a map.
pub fn printed(patch: &Value) -> String {
    plain(patch)
}

fn print_map(members: &Map<String, Value>) -> String {
    plain(&Value::Object(members.clone()))
}

pub(super) fn print_list(items: &[Value]) -> String {
    plain(&Value::Array(items.to_vec()))
}
