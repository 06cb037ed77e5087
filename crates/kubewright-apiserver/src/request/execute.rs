//! Executes requests for objects.

use std::sync::Arc;

use kubewright_core::Verb;
use kubewright_wire::status::Status;

use super::api::Api;
use super::message::ApiRequest;
use super::response::{ApiBody, ApiResponse};
use super::settled::{not_stored, settled};
use super::steps::{Part, version};
use super::target::Target;
use super::workers::Place;
use super::{subresources, verbs};
use crate::authorization::Review;
use crate::table::{Form, Shaper};

/// A body or stored object of this size is large.
const LARGE: usize = 64 * 1024;

/// Executes a request, of a client or of a component of the cluster.
///
/// # Cancel safety
///
/// A write has happened completely or not at all.
pub(crate) async fn execute(api: &Arc<Api>, request: ApiRequest) -> Result<ApiResponse, Status> {
    settled(&api.store, dispatch(api, request)).await
}

/// Finds the resource of a request, and runs the handler in the right place.
async fn dispatch(api: &Arc<Api>, request: ApiRequest) -> Result<ApiResponse, Status> {
    let snapshot = api.store.snapshot();
    let Some(resource) = api.catalog.find(&snapshot, &request.route)? else {
        return Ok(ApiResponse::page_not_found());
    };
    let Some(target) = Target::new(resource, &request.route)? else {
        return Ok(ApiResponse::page_not_found());
    };
    check_implemented(&target)?;
    let is_review = review_of(&target).is_some();
    if let Some(why) = api
        .store
        .failure()
        .filter(|_| !is_review && is_write(&request))
    {
        return Err(not_stored(&why));
    }
    let place = place_of(api, &target, &request);
    let handler = Arc::clone(api);
    // Boxed, so that the futures of callers stay small.
    let work = Box::pin(async move {
        let response = handle(&handler, &target, &request).await?;
        let converted = convert(&handler, &target, response).await?;
        shape(&handler, &target, request.form, converted)
    });
    api.workers.run(place, work).await
}

fn review_of(target: &Target) -> Option<Review> {
    Review::of(target.resource.strategy)
}

fn check_implemented(target: &Target) -> Result<(), Status> {
    let unconverted = target.resource.strategy.unconverted_versions;
    if unconverted.contains(&target.kind().version()) {
        return Err(Status::not_implemented(format!(
            "conversion of {} from its stored version is not implemented yet",
            target.kind()
        )));
    }
    if !target.resource.is_stored() && review_of(target).is_none() {
        return Err(Status::not_implemented(format!(
            "{} is not implemented yet",
            target.resource.resource.qualified_name()
        )));
    }
    Ok(())
}

async fn handle(
    api: &Arc<Api>,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    if let Some(name) = &request.route.subresource {
        return subresources::execute(api, target, name, request).await;
    }
    if !target.resource.has_verb(request.route.verb.as_str()) {
        return Err(Status::method_not_supported());
    }
    match request.route.verb {
        Verb::Get => verbs::get(api, target, request).await,
        Verb::List => verbs::list(api, target, request).await,
        Verb::Watch => verbs::watch(api, target, request),
        Verb::Create | Verb::Update | Verb::Patch => match review_of(target) {
            Some(review) => verbs::review(api, target, request, review).await,
            None => verbs::write(api, target, request, Part::Main).await,
        },
        Verb::Delete => verbs::delete(api, target, request).await,
        Verb::DeleteCollection => verbs::delete_collection(api, target, request).await,
        other => Err(Status::not_implemented(format!(
            "the verb {other} is not implemented yet"
        ))),
    }
}

/// Converts the objects of a response to the version of the request.
async fn convert(
    api: &Api,
    target: &Target,
    mut response: ApiResponse,
) -> Result<ApiResponse, Status> {
    if !target.is_converted() {
        return Ok(response);
    }
    response.body = match response.body {
        ApiBody::Object(object) => ApiBody::Object(version::in_request(api, target, object).await?),
        ApiBody::List(mut list) => {
            let items = std::mem::take(&mut list.items);
            list.items = version::all_in_request(api, target, items).await?;
            ApiBody::List(list)
        }
        other => other,
    };
    Ok(response)
}

/// Transforms the objects of a response into a table or into metadata.
fn shape(
    api: &Api,
    target: &Target,
    form: Form,
    mut response: ApiResponse,
) -> Result<ApiResponse, Status> {
    if form == Form::Whole {
        return Ok(response);
    }
    let shaper = Shaper::new(form, Arc::clone(&target.resource));
    let now = api.clock.now();
    response.body = match response.body {
        ApiBody::Object(object) => ApiBody::Value(shaper.object(object.value(), now)?),
        ApiBody::Value(value) => ApiBody::Value(shaper.object(&value, now)?),
        ApiBody::List(list) => {
            let objects = list.items.iter().map(|object| object.value());
            ApiBody::Value(shaper.list(&list.head, objects, now)?)
        }
        ApiBody::Watch(mut watch) => {
            watch.shape(shaper);
            ApiBody::Watch(watch)
        }
        other @ (ApiBody::Status(_) | ApiBody::Text(_)) => other,
    };
    Ok(response)
}

/// Where the work of a request runs: by the size of its body and of the stored object, and by
/// whether expressions are evaluated for it.
fn place_of(api: &Api, target: &Target, request: &ApiRequest) -> Place {
    match request.route.verb {
        Verb::Get | Verb::Watch => return Place::Inline,
        Verb::List | Verb::DeleteCollection => return Place::Offloaded,
        _ => {}
    }
    let is_stored_large = || {
        let key = target.key(target.name.as_deref()?);
        Some(api.store.get(&key)?.weight() >= LARGE)
    };
    if request.content.len() >= LARGE || is_stored_large().unwrap_or(false) {
        return Place::OffloadedLarge;
    }
    let custom = target.resource.custom();
    let has_rules = custom.is_some_and(|custom| custom.has_rules());
    if has_rules || api.admission.evaluates_expressions() {
        return Place::Offloaded;
    }
    Place::Inline
}

/// Whether a request changes what is stored.
fn is_write(request: &ApiRequest) -> bool {
    let is_token = request.route.subresource.as_deref() == Some("token");
    let is_read = matches!(request.route.verb, Verb::Get | Verb::List | Verb::Watch);
    !is_read && !is_token
}
