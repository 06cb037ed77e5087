//! The kinds that a controller or webhook uses: their types, which of their objects and changes are
//! selected, and the views that show them.

mod cache;
pub mod changed;
mod custom_resource_definition;
pub mod enqueue;
mod index;
mod kind;
mod mapper;
mod object_filter;
pub mod only;
mod predicate;
mod selection;
mod view_id;
mod views;

pub use cache::Cache;
pub(crate) use custom_resource_definition::custom_resource_definition;
pub(crate) use index::{SelectionIndex, add_indexes, index_name};
pub use kind::{AnyKind, TypedKind, resource_of};
pub(crate) use mapper::{by_mapper, passes};
pub(crate) use object_filter::ObjectFilter;
pub use predicate::Predicate;
pub(crate) use selection::UnusedOption;
pub use selection::{Selection, kind, kind_of, projection};
pub(crate) use view_id::ViewId;
pub(crate) use views::{AnyView, Views};
