//! `finalize` of Namespaces: changes the finalizers in `spec`.

use http::StatusCode;
use kubewright_kinds::validate_finalized;
use kubewright_wire::status::Status;
use serde_json::json;

use crate::request::api::Api;
use crate::request::message::ApiRequest;
use crate::request::options::WriteOptions;
use crate::request::response::ApiResponse;
use crate::request::steps::{Change, Edit, Ownership, Part, Write};
use crate::request::target::Target;
use crate::store::Object;

/// Sets the finalizers in the spec of a Namespace, and nothing else.
pub(super) async fn finalize(
    api: &Api,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let options = WriteOptions::parse(&request.query, "UpdateOptions")?;
    let Change::Replace(sent) = Change::read(target, request, &options)? else {
        return Err(Status::method_not_supported());
    };
    let causes = validate_finalized(&sent);
    if !causes.is_empty() {
        return Err(Status::invalid(target.kind(), target.name()?, causes));
    }
    let edit = |old: &Object| {
        let mut value = old.value().clone();
        value["metadata"]["resourceVersion"] = sent["metadata"]["resourceVersion"].clone();
        match sent.pointer("/spec/finalizers") {
            Some(finalizers) => value["spec"]["finalizers"] = finalizers.clone(),
            None => value["spec"] = json!({}),
        }
        Ok(value)
    };
    let change = Change::Edit(Edit {
        edit: &edit,
        ownership: Ownership::Tracked,
    });
    let write = Write::new(api, target, request, &options, Part::Whole);
    let written = write.run(api, change).await?;
    Ok(ApiResponse::object(StatusCode::OK, written.object))
}
