//! What the server does with the objects of a built-in kind: the struct that each kind fills in.

mod builtin;
#[cfg(test)]
mod builtin_tests;
mod quota;
mod resource_id;
mod selectable_field;
mod status;
mod strategy;
#[cfg(test)]
mod testing;

pub(crate) use builtin::Validation;
pub use builtin::{BuiltinKind, StoredAs};
pub use quota::QuotaUsage;
pub(crate) use quota::add_one;
pub use selectable_field::SelectableField;
pub use status::{KeptMetadata, StatusOnCreate, StatusStrategy};
pub use strategy::{
    ControllerSupport, DeleteResponse, FinalizerRule, Generation, Permission, Persistence,
    Propagation, SelectorForm, StorageEncoding,
};
