//! The table of types.

use std::collections::BTreeMap;
use std::error::Error;

use kubewright_wire::schema::{Written, from_openapi};

use super::openapi::Definitions;
use crate::go;

/// Returns the types of all kinds, from the OpenAPI documents and, for properties that these do not
/// contain, from the Go types of Kubernetes.
pub(super) fn pack(definitions: &Definitions) -> Result<Vec<u8>, Box<dyn Error>> {
    let written: BTreeMap<String, BTreeMap<String, Written>> =
        serde_json::from_slice(&go::run("written", &[])?)?;
    Ok(from_openapi(definitions, &written)?.encode()?)
}
