use std::sync::Arc;

use kubewright_wire::status::Status;
use serde_json::Value;

use super::answer::{ApiBody, ApiResponse};
use super::target::Target;
use crate::crd::CustomVersion;
use crate::kinds::{is_newer_event, stored_event};
use crate::seeded::SeededFault;
use crate::server::Server;
use crate::store::Object;

/// An answer in the version of its request: objects of custom resources, and Events, are stored in
/// one version and asked for in any. The other way is [`to_stored`]; nothing else changes a version.
pub(super) async fn shown(
    server: &Server,
    target: &Target,
    mut response: ApiResponse,
) -> Result<ApiResponse, Status> {
    if target.served.custom().is_none() && !is_newer_event(target.kind()) {
        return Ok(response);
    }
    response.body = match response.body {
        ApiBody::Object(object) => ApiBody::Object(in_request(server, target, object).await?),
        ApiBody::List(mut list) => {
            let items = std::mem::take(&mut list.items);
            list.items = all_in_request(server, target, items).await?;
            ApiBody::List(list)
        }
        other => other,
    };
    Ok(response)
}

/// A stored object in the version of the request.
pub(super) async fn in_request(
    server: &Server,
    target: &Target,
    object: Arc<Object>,
) -> Result<Arc<Object>, Status> {
    let mut converted = all_in_request(server, target, vec![Arc::clone(&object)]).await?;
    Ok(converted.pop().unwrap_or(object))
}

/// The objects of a collection in the version of the request.
pub(super) async fn all_in_request(
    server: &Server,
    target: &Target,
    objects: Vec<Arc<Object>>,
) -> Result<Vec<Arc<Object>>, Status> {
    let wanted = target.kind().api_version();
    let Some(custom) = target.served.custom() else {
        return Ok(objects.iter().map(|one| target.restored(one)).collect());
    };
    let objects: Vec<Arc<Object>> = match server.has(SeededFault::DefaultsMissOnRead) {
        true => objects,
        false => objects.iter().map(|one| custom.restore(one)).collect(),
    };
    let is_other = |object: &Arc<Object>| object.value()["apiVersion"] != wanted.as_str();
    let others = objects.iter().filter(|one| is_other(one));
    let others: Vec<Value> = others.map(|one| one.value().clone()).collect();
    if others.is_empty() {
        return Ok(objects);
    }
    let converted = convert(server, target, (custom, others), &wanted).await?;
    let mut converted = converted.into_iter();
    let shown = objects.into_iter().map(|object| match is_other(&object) {
        false => object,
        true => {
            let revision = object.revision();
            let mut value = converted.next().unwrap_or_default();
            custom.schema().conform(&mut value);
            Arc::new(Object::encoded(value, revision))
        }
    });
    Ok(shown.collect())
}

/// A value in the version that objects of its kind are stored in.
pub(super) async fn to_stored(
    server: &Server,
    target: &Target,
    value: Value,
) -> Result<Value, Status> {
    let Some(custom) = target.served.custom() else {
        return Ok(match is_newer_event(target.kind()) {
            true => stored_event(value),
            false => value,
        });
    };
    let wanted = custom.storage_api_version.as_str();
    if value["apiVersion"] == wanted {
        return Ok(value);
    }
    let mut stored = convert(server, target, (custom, vec![value]), wanted).await?;
    Ok(stored.pop().unwrap_or_default())
}

async fn convert(
    server: &Server,
    target: &Target,
    (custom, objects): (&CustomVersion, Vec<Value>),
    wanted: &str,
) -> Result<Vec<Value>, Status> {
    let conversion = &custom.conversion;
    conversion
        .convert(server, target.kind(), objects, wanted)
        .await
}
