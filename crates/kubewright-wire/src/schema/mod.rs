//! Schemas of kinds: their fields, how lists and maps merge, and the formats of scalars. Kubernetes'
//! own kinds and custom resources have one representation.

mod conform;
#[cfg(feature = "tables")]
mod crd;
mod drop_empty_fields;
mod go_json;
mod handle;
mod openapi;
mod prune;
mod table;
mod types;

pub use conform::conform;
pub(crate) use conform::whole_seconds;
#[cfg(feature = "tables")]
pub use crd::from_crd;
pub use drop_empty_fields::drop_empty_fields;
pub use go_json::DecodeError;
pub(crate) use handle::Atom;
pub use handle::SchemaType;
pub use openapi::{OpenApiError, from_openapi};
pub use prune::prune;
pub use table::TableError;
pub use types::{
    Any, Field, List, ListType, Map, PatchStrategy, Scalar, Schema, Type, TypeId, Written,
};
