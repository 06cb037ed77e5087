//! The errors of a strategic merge patch, with the messages of the API server.

use serde_json::{Map, Value};

use crate::apply::go_print::{plain, type_name};

/// An error of a strategic merge patch. The messages are those of the API server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StrategicPatchError {
    /// `$deleteFromPrimitiveList` without the name of a list.
    #[error("invalid patch format of primitive list")]
    PrimitiveList,
    /// `$setElementOrder` without the name of a list, or whose value is not a list.
    #[error("invalid patch format of setElementOrder list")]
    ElementOrder,
    /// `$retainKeys` is not a list, or the patch sets a field that it does not list.
    #[error("invalid patch format of retainKeys")]
    RetainKeys,
    /// A list of lists cannot be merged.
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// Any other mismatch.
    #[error("{0}")]
    Mismatch(String),
}

impl StrategicPatchError {
    pub(super) fn no_merge_key(item: &Map<String, Value>, key: &str) -> Self {
        Self::Mismatch(format!(
            "map: {} does not contain declared merge key: {key}",
            print_map(item)
        ))
    }

    pub(super) fn unknown_directive(directive: &Value, holder: &Map<String, Value>) -> Self {
        Self::Mismatch(format!(
            "unknown patch type: {} in map: {}",
            plain(directive),
            print_map(holder)
        ))
    }

    pub(super) fn wrong_type(expected: &str, actual: &Value) -> Self {
        Self::Mismatch(format!(
            "expected a {expected}, but received a {}",
            type_name(actual)
        ))
    }
}

/// The text of a patch in error messages, as Go prints it.
pub fn go_display(patch: &Value) -> String {
    plain(patch)
}

fn print_map(members: &Map<String, Value>) -> String {
    plain(&Value::Object(members.clone()))
}

pub(super) fn print_list(items: &[Value]) -> String {
    plain(&Value::Array(items.to_vec()))
}
