//! Types from the OpenAPI v3 documents of an API server and of CustomResourceDefinitions.

mod error;
mod reader;
mod tags;

pub use error::OpenApiError;
#[cfg(feature = "tables")]
pub(super) use reader::Reader;
pub use reader::from_openapi;
