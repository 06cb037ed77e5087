//! `binding` of Pods: assigns a Pod to a node.

use kubewright_core::Operation;
use kubewright_kinds::bind as bind_pod;
use kubewright_kinds::core::BINDING;
use kubewright_kinds::json::text;
use kubewright_wire::status::{Cause, Status};
use serde_json::Value;

use super::request_object::{created, parse_named};
use crate::request::api::Api;
use crate::request::message::ApiRequest;
use crate::request::options::WriteOptions;
use crate::request::response::ApiResponse;
use crate::request::steps::{Admission, Change, Edit, Ownership, Part, Write, admit, attributes};
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
    let sent = parse_named(request, name, &BINDING)?;
    if text(&sent["target"]["name"]).is_empty() {
        let cause = Cause::required("target.name", "");
        let (group, kind) = (BINDING.group, BINDING.kind);
        return Err(Status::invalid_as(group, kind, name, vec![cause]));
    }
    let dry_run = options.dry_run;
    let attributes = attributes(target, request, Operation::Create, dry_run, Some(sent));
    let admitted = admit(api, attributes, &request.warnings).await?;
    let binding = admitted.expect("a binding has an object");
    let now = api.timestamp();
    let edit = |old: &Object| {
        let uid = text(&binding["metadata"]["uid"]);
        if !uid.is_empty() && uid != old.uid() {
            let why = format!(
                "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
                old.uid()
            );
            let subresource = format!("{}/binding", target.resource.resource.plural);
            let resource = (target.kind().group(), subresource.as_str());
            return Err(Status::conflict_because(resource, name, &why));
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
