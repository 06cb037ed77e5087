//! Deletes objects.

use std::sync::Arc;

use http::StatusCode;
use kubewright_core::{Operation, interrupt};
use kubewright_kinds::DeleteResponse;
use kubewright_kinds::apiextensions::CUSTOM_RESOURCE_DEFINITION;
use kubewright_wire::status::Status;

use crate::admission::OperationOptions;
use crate::request::api::Api;
use crate::request::definitions::{clean_up, object_removed};
use crate::request::deletion::{
    DeleteOptions, Deleted, DeletionStep, deletion_step, simulate_deletion, store_deletion,
};
use crate::request::list::select_all;
use crate::request::message::ApiRequest;
use crate::request::options::DryRun;
use crate::request::response::{ApiBody, ApiResponse};
use crate::request::steps::{MAX_ATTEMPTS, Selection, admit, attributes, version};
use crate::request::target::Target;
use crate::store::Object;

/// Deletes an object, or marks it for deletion.
pub(crate) async fn delete(
    api: &Api,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let options = DeleteOptions::parse(&request.content, &request.query)?;
    let name = target.name()?;
    let deleted = delete_object(api, target, name, &options, Some(request)).await?;
    if !options.has_propagation() {
        let warning = target.resource.strategy.default_propagation_warning;
        request.warnings.add(warning.map(str::to_owned));
    }
    Ok(match deleted {
        Deleted::Marked(object) => {
            let code = match options.orphan_dependents {
                Some(false) => StatusCode::ACCEPTED,
                _ => StatusCode::OK,
            };
            ApiResponse::object(code, object)
        }
        Deleted::Removed(object) => match target.resource.strategy.delete_response {
            DeleteResponse::Object => ApiResponse::object(StatusCode::OK, object),
            DeleteResponse::Status => {
                let status = Status::deleted(&target.resource.resource, name, object.uid());
                ApiResponse::ok(ApiBody::Status(Box::new(status)))
            }
        },
    })
}

/// Deletes the selected objects of a collection. Responds with the list as it was.
pub(crate) async fn delete_collection(
    api: &Api,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let options = DeleteOptions::parse(&request.content, &request.query)?;
    let selection = Selection::parse(target, &request.query)?;
    let list = select_all(target, &selection, &api.store.snapshot());
    for object in &list.items {
        if interrupt::is_requested() {
            return Err(Status::internal("the request was interrupted"));
        }
        match delete_object(api, target, object.name(), &options, Some(request)).await {
            Err(status) if status.code == 404 => {}
            result => drop(result?),
        }
    }
    Ok(ApiResponse::ok(ApiBody::List(list)))
}

/// Deletes a Pod that is evicted. Admission has seen the eviction.
pub(crate) async fn delete_evicted(
    api: &Api,
    target: &Target,
    options: &DeleteOptions,
) -> Result<(), Status> {
    delete_object(api, target, target.name()?, options, None)
        .await
        .map(drop)
}

/// Deletes an object. Admission sees the deletion if it is that of a request.
async fn delete_object(
    api: &Api,
    target: &Target,
    name: &str,
    options: &DeleteOptions,
    request: Option<&ApiRequest>,
) -> Result<Deleted, Status> {
    for _ in 0..MAX_ATTEMPTS {
        let old = api
            .store
            .get(&target.key(name))
            .ok_or_else(|| target.not_found(name))?;
        options.check_preconditions(target.kind(), &old)?;
        let step = deletion_step(target, &old, options, api.clock.now());
        if let Some(request) = request
            && !matches!(step, DeletionStep::Nothing)
        {
            admit_deletion(api, target, request, options, &old).await?;
        }
        if options.dry_run() == DryRun::Yes {
            return Ok(simulate_deletion(&old, step));
        }
        if let Ok(deleted) = store_deletion(&api.store, target, &old, step) {
            finish_definition(api, target, &deleted);
            return Ok(deleted);
        }
    }
    Err(Status::conflict(&target.resource.resource, name))
}

async fn admit_deletion(
    api: &Api,
    target: &Target,
    request: &ApiRequest,
    options: &DeleteOptions,
    old: &Arc<Object>,
) -> Result<(), Status> {
    let dry_run = options.dry_run();
    let mut attributes = attributes(target, request, Operation::Delete, dry_run, None);
    attributes.options = OperationOptions {
        delete_options: options.to_value(),
        ..OperationOptions::default()
    };
    attributes.old = Some(version::in_request(api, target, Arc::clone(old)).await?);
    admit(api, attributes, &request.warnings).await.map(drop)
}

/// Deletes the objects of a definition that was marked, and a definition whose last object was
/// removed.
fn finish_definition(api: &Api, target: &Target, deleted: &Deleted) {
    let resource = &target.resource;
    match deleted {
        Deleted::Marked(object) if resource.is(&CUSTOM_RESOURCE_DEFINITION) => {
            clean_up(api, object.name());
        }
        Deleted::Marked(_) => {}
        Deleted::Removed(_) => object_removed(api, &resource.id),
    }
}
