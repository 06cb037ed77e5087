//! What objects look like: the fields of each kind, how lists and maps merge, and the formats of
//! scalars. One representation for Kubernetes' own kinds and for custom resources.

mod conform;
#[cfg(feature = "tables")]
mod crd;
mod forget;
mod go_json;
mod handle;
mod openapi;
mod prune;
mod quantity;
mod table;
mod tags;
mod types;

pub use conform::conform;
pub(crate) use conform::whole_seconds;
#[cfg(feature = "tables")]
pub use crd::from_crd;
pub use forget::forget_empty;
pub use go_json::DecodeError;
pub(crate) use handle::Atom;
pub use handle::SchemaType;
pub use openapi::{OpenApiError, from_openapi};
pub use prune::prune;
pub use quantity::{Quantity, canonical as canonical_quantity};
pub use table::TableError;
pub use types::{
    Any, Field, List, ListType, Map, PatchStrategy, Scalar, Schema, Type, TypeId, Written,
};
