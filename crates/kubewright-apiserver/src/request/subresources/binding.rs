//! `binding` of Pods: assigns a Pod to a node.

use http::StatusCode;
use kubewright_core::Operation;
use kubewright_kinds::bind as bind_pod;
use kubewright_wire::status::{Cause, Outcome, Status};
use serde_json::Value;

use crate::admission::Attributes;
use crate::request::api::Api;
use crate::request::codec::decode;
use crate::request::message::ApiRequest;
use crate::request::options::WriteOptions;
use crate::request::response::{ApiBody, ApiResponse};
use crate::request::steps::{Admission, Change, Edit, Ownership, Part, Write, attributes};
use crate::request::target::Target;
use crate::store::Object;

/// Assigns a Pod to a node.
pub(super) async fn bind(
    api: &Api,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let options = WriteOptions::parse(&request.query, "CreateOptions")?;
    let name = target.name()?;
    let binding = parse_named(request, name, "Binding")?;
    let node = binding["target"]["name"].as_str().unwrap_or_default();
    if node.is_empty() {
        let cause = Cause::required("target.name", "");
        return Err(Status::invalid_as("", "Binding", name, vec![cause]));
    }
    let attributes = attributes(target, request, Operation::Create, options.is_dry_run);
    let binding = admit_object(api, attributes, request, binding).await?;
    let now = api.timestamp();
    let edit = |old: &Object| {
        let uid = binding["metadata"]["uid"].as_str().unwrap_or_default();
        if !uid.is_empty() && uid != old.uid() {
            let why = format!(
                "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
                old.uid()
            );
            return Err(Status::conflict_because(("", "pods/binding"), name, &why));
        }
        let mut value: Value = old.value().clone();
        value["metadata"]["resourceVersion"] = binding["metadata"]["resourceVersion"].clone();
        bind_pod(&mut value, &binding, &now)?;
        Ok(value)
    };
    let change = Change::Edit(Edit {
        edit: &edit,
        ownership: Ownership::Unchanged,
    });
    let write = Write::new(api, target, request, &options, Part::Whole);
    write.admission(Admission::Nothing).run(api, change).await?;
    Ok(created())
}

/// Lets admission see the object of a subresource that is not stored.
pub(super) async fn admit_object(
    api: &Api,
    mut attributes: Attributes,
    request: &ApiRequest,
    object: Value,
) -> Result<Value, Status> {
    attributes.object = Some(object);
    api.admission
        .mutate(&mut attributes, &request.warnings)
        .await?;
    api.admission
        .validate(&attributes, &request.warnings)
        .await?;
    Ok(attributes.object.unwrap_or_default())
}

/// The response to a creation without an object.
pub(super) fn created() -> ApiResponse {
    let code = StatusCode::CREATED;
    let status = Status {
        status: Some(Outcome::Success),
        code: code.as_u16(),
        ..Status::default()
    };
    ApiResponse::new(code, ApiBody::Status(Box::new(status)))
}

/// Parses the body of a subresource, which must have the name of the object.
pub(super) fn parse_named(request: &ApiRequest, name: &str, kind: &str) -> Result<Value, Status> {
    let body = decode::parse(&request.content).map_err(Status::bad_request)?;
    if body["metadata"]["name"].as_str().unwrap_or_default() != name {
        let why = format!("name in URL does not match name in {kind} object");
        return Err(Status::bad_request(why));
    }
    Ok(body)
}
