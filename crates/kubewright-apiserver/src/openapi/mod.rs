//! `/openapi/v3`: one document for each group and version, from the tables and from the stored
//! CustomResourceDefinitions. Without descriptions of fields.

mod custom;
mod document;
mod operation;
mod parameters;
mod paths;
mod schemas;

pub(crate) use document::{document, index};
