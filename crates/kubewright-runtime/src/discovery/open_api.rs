//! The OpenAPI v3 documents of a server.

use std::collections::BTreeMap;

use kube::Client;
use serde::Deserialize;
use serde_json::Value;

use super::fetch::{parse, read};
use crate::Error;

/// The path of the index.
const ROOT: &str = "/openapi/v3";
const JSON: &str = "application/json";

/// The documents by the path of their API.
#[derive(Deserialize)]
struct Index {
    #[serde(default)]
    paths: BTreeMap<String, Document>,
}

/// The address contains a hash of the document, so that proxies can cache it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    #[serde(rename = "serverRelativeURL")]
    address: String,
}

/// Returns the document of an API such as `v1` or `apps/v1`.
pub(super) async fn open_api(client: &Client, api_version: &str) -> Result<Option<Value>, Error> {
    let index: Index = parse(ROOT, &read(client, ROOT, JSON).await?)?;
    let root = if api_version.contains('/') {
        "apis"
    } else {
        "api"
    };
    let path = format!("{root}/{api_version}");
    let Some(document) = index.paths.get(&path) else {
        return Ok(None);
    };
    let bytes = read(client, &document.address, JSON).await?;
    parse(&document.address, &bytes).map(Some)
}
