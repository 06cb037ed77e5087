//! Finds the handler of a subresource.

use kubewright_core::Verb;
use kubewright_kinds::core::{NAMESPACE, POD, SERVICE_ACCOUNT};
use kubewright_wire::status::Status;

use super::binding::bind;
use super::connect::{connect, is_connection};
use super::eviction::evict;
use super::finalize::finalize;
use super::scale;
use super::token::issue_token;
use crate::request::api::Api;
use crate::request::message::ApiRequest;
use crate::request::response::ApiResponse;
use crate::request::steps::Part;
use crate::request::target::Target;
use crate::request::verbs::{get, write};

/// Handles a request for a subresource.
pub(crate) async fn execute(
    api: &Api,
    target: &Target,
    name: &str,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let Some(subresource) = target.resource.subresource(name) else {
        return Err(match target.resource.custom() {
            Some(_) => target.not_found(target.name()?),
            None => Status::unknown_resource(),
        });
    };
    let verb = request.route.verb;
    if !subresource.verbs.iter().any(|known| known == verb.as_str()) {
        return Err(Status::method_not_supported());
    }
    let is_pod = target.resource.is(&POD);
    match (name, verb) {
        ("status", Verb::Get) => get(api, target, request).await,
        ("status", Verb::Update | Verb::Patch) => write(api, target, request, Part::Status).await,
        ("finalize", Verb::Update) if target.resource.is(&NAMESPACE) => {
            finalize(api, target, request).await
        }
        ("scale", Verb::Get) => scale::get(api, target).await,
        ("scale", Verb::Update | Verb::Patch) => scale::write(api, target, request).await,
        ("eviction", Verb::Create) if is_pod => evict(api, target, request).await,
        ("binding", Verb::Create) if is_pod => bind(api, target, request).await,
        ("token", Verb::Create) if target.resource.is(&SERVICE_ACCOUNT) => {
            issue_token(api, target, request).await
        }
        (name, _) if is_connection(name) => connect(api, target, name, request).await,
        _ => Err(Status::not_implemented(format!(
            "{verb} of {}/{name} is not implemented yet",
            target.resource.resource.qualified_name()
        ))),
    }
}
