//! Conversion between the version of a request and the stored version.
//!
//! Custom resources and Events are stored in one version and requested in any. All steps of a
//! request up to the store see the version of the request.

use std::sync::Arc;

use kubewright_wire::status::Status;
use serde_json::Value;

use crate::request::api::Api;
use crate::request::target::Target;
use crate::store::Object;

/// Converts a stored object to the version of the request.
pub(crate) async fn in_request(
    api: &Api,
    target: &Target,
    object: Arc<Object>,
) -> Result<Arc<Object>, Status> {
    let mut converted = all_in_request(api, target, vec![object]).await?;
    Ok(converted.pop().expect("one object was given"))
}

/// Converts stored objects to the version of the request. Returns as many objects, in the same
/// order.
pub(crate) async fn all_in_request(
    api: &Api,
    target: &Target,
    objects: Vec<Arc<Object>>,
) -> Result<Vec<Arc<Object>>, Status> {
    let wanted = target.kind().api_version();
    let Some(custom) = target.resource.custom() else {
        return Ok(objects
            .iter()
            .map(|object| target.restored(object))
            .collect());
    };
    let restored: Vec<Arc<Object>> = objects
        .iter()
        .map(|object| custom.restore(object))
        .collect();
    let is_other = |object: &Arc<Object>| object.value()["apiVersion"] != wanted.as_str();
    let others: Vec<Value> = restored
        .iter()
        .filter(|object| is_other(object))
        .map(|object| object.value().clone())
        .collect();
    if others.is_empty() {
        return Ok(restored);
    }
    let mut converted = custom
        .conversion
        .convert(&api.webhooks, target.kind(), others, &wanted)
        .await?
        .into_iter();
    let in_version = restored.into_iter().map(|object| {
        if !is_other(&object) {
            return object;
        }
        let mut value = converted
            .next()
            .expect("each object of another version was converted");
        custom.schema().conform(&mut value);
        Arc::new(Object::encoded(value, object.revision()))
    });
    Ok(in_version.collect())
}

/// Converts an object to the version that its kind is stored in.
pub(crate) async fn to_stored(api: &Api, target: &Target, value: Value) -> Result<Value, Status> {
    let Some(custom) = target.resource.custom() else {
        return Ok(match target.resource.strategy.stored_as {
            Some(stored) => (stored.encode)(value),
            None => value,
        });
    };
    let wanted = custom.storage_api_version.as_str();
    if value["apiVersion"] == wanted {
        return Ok(value);
    }
    custom
        .conversion
        .convert_one(&api.webhooks, target.kind(), value, wanted)
        .await
}
