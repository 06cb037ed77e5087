use std::collections::BTreeMap;

use kube::Client;
use serde::Deserialize;
use serde_json::Value;

use super::fetch::{parse, read};
use crate::Error;

/// Where the documents are.
const ROOT: &str = "/openapi/v3";
const JSON: &str = "application/json";

/// Which documents there are, by the path of their API.
#[derive(Deserialize)]
struct Index {
    #[serde(default)]
    paths: BTreeMap<String, Document>,
}

/// Its address names its content, so that caches on the way may keep it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    #[serde(rename = "serverRelativeURL")]
    address: String,
}

/// The document of an API such as `v1` or `apps/v1`.
pub(super) async fn open_api(client: &Client, api_version: &str) -> Result<Option<Value>, Error> {
    let index: Index = parse(ROOT, &read(client, ROOT, JSON).await?)?;
    let path = match api_version.contains('/') {
        true => format!("apis/{api_version}"),
        false => format!("api/{api_version}"),
    };
    let Some(document) = index.paths.get(&path) else {
        return Ok(None);
    };
    let bytes = read(client, &document.address, JSON).await?;
    parse(&document.address, &bytes).map(Some)
}
