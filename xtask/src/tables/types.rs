use std::collections::BTreeMap;
use std::error::Error;

use kubewright_wire::schema::{Written, from_openapi};

use super::openapi::Definitions;
use crate::go;

/// The types of every kind, from the OpenAPI documents of all group versions and, for what these
/// do not tell, from Kubernetes' Go types.
pub(super) fn pack(definitions: &Definitions) -> Result<Vec<u8>, Box<dyn Error>> {
    let written: BTreeMap<String, BTreeMap<String, Written>> =
        serde_json::from_slice(&go::run("written", &[])?)?;
    Ok(from_openapi(definitions, &written)?.encode()?)
}
