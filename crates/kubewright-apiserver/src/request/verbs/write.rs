//! Creates, updates and patches objects.

use http::StatusCode;
use kubewright_core::Verb;
use kubewright_kinds::Permission;
use kubewright_wire::status::Status;

use crate::request::api::Api;
use crate::request::message::{ApiRequest, PatchKind};
use crate::request::options::WriteOptions;
use crate::request::response::ApiResponse;
use crate::request::steps::{Change, Mode, Part, Write};
use crate::request::target::Target;

/// Creates, updates or patches an object, or its status.
pub(crate) async fn write(
    api: &Api,
    target: &Target,
    request: &ApiRequest,
    part: Part,
) -> Result<ApiResponse, Status> {
    let verb = request.route.verb;
    let options = WriteOptions::parse(&request.query, options_kind(verb))?;
    let change = Change::read(target, request, &options)?;
    let mode = match verb {
        Verb::Create => Mode::Create,
        Verb::Update
            if part == Part::Main
                && target.resource.strategy.create_on_update == Permission::Allowed =>
        {
            Mode::CreateOrUpdate
        }
        Verb::Patch if part == Part::Main && request.patch == Some(PatchKind::Apply) => {
            Mode::CreateOrUpdate
        }
        _ => Mode::Update,
    };
    let write = Write::new(api, target, request, &options, part).mode(mode);
    let written = write.run(api, change).await?;
    request.warnings.add(target.resource.strategy.notices());
    let code = if written.is_created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok(ApiResponse::object(code, written.object))
}

/// The name of the options in errors.
fn options_kind(verb: Verb) -> &'static str {
    match verb {
        Verb::Create => "CreateOptions",
        Verb::Patch => "PatchOptions",
        _ => "UpdateOptions",
    }
}
