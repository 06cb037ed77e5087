//! Types from the OpenAPI v3 documents of an API server and of CustomResourceDefinitions.

mod error;
mod reader;
mod tags;

pub use error::OpenApiError;
pub(super) use reader::Reader;
pub use reader::from_openapi;
