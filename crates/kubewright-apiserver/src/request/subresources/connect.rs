//! `exec`, `attach`, `portforward` and `proxy`.

use kubewright_core::Operation;
use kubewright_wire::status::Status;
use serde_json::{Map, Value, json};

use crate::request::api::Api;
use crate::request::message::ApiRequest;
use crate::request::options::DryRun;
use crate::request::response::ApiResponse;
use crate::request::steps::{admit, attributes};
use crate::request::target::Target;

/// Whether a subresource is a connection to a container or service.
pub(super) fn is_connection(subresource: &str) -> bool {
    matches!(subresource, "exec" | "attach" | "portforward" | "proxy")
}

/// Lets admission see a connection, as Kubernetes does before it looks for the object
/// (`ConnectResource` of k8s.io/apiserver/pkg/endpoints/handlers/rest.go). The stream itself is not
/// implemented: nothing runs behind the objects.
pub(super) async fn connect(
    api: &Api,
    target: &Target,
    subresource: &str,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    if request.query.get("dryRun").is_some() {
        return Err(Status::bad_request("dryRun is not supported"));
    }
    let name = target.name()?;
    let options = options(target, subresource, request)?;
    let attributes = attributes(
        target,
        request,
        Operation::Connect,
        DryRun::No,
        Some(options),
    );
    admit(api, attributes, &request.warnings).await?;
    if api.store.get(&target.key(name)).is_none() {
        return Err(target.not_found(name));
    }
    Err(Status::not_implemented(format!(
        "{}/{subresource} is not implemented yet: nothing runs behind the object",
        target.resource.resource.qualified_name()
    )))
}

/// The parameters of the request as an object, such as PodExecOptions.
fn options(target: &Target, subresource: &str, request: &ApiRequest) -> Result<Value, Status> {
    let query = &request.query;
    let mut fields = Map::new();
    match subresource {
        "portforward" => {
            let ports: Vec<i32> = query
                .all("ports")
                .map(str::parse)
                .collect::<Result<_, _>>()
                .map_err(|error: std::num::ParseIntError| Status::bad_request(error.to_string()))?;
            if !ports.is_empty() {
                fields.insert("ports".to_owned(), json!(ports));
            }
        }
        "proxy" => {
            if let Some(path) = &request.route.rest {
                fields.insert("path".to_owned(), json!(format!("/{path}")));
            }
        }
        _ => {
            for flag in ["stdin", "stdout", "stderr", "tty"] {
                if query.is_set(flag) {
                    fields.insert(flag.to_owned(), json!(true));
                }
            }
            let container = query.get("container").unwrap_or_default();
            if !container.is_empty() {
                fields.insert("container".to_owned(), json!(container));
            }
        }
    }
    if subresource == "exec" {
        let command: Vec<&str> = query.all("command").collect();
        // Go encodes a nil slice as null.
        let value = if command.is_empty() {
            Value::Null
        } else {
            json!(command)
        };
        fields.insert("command".to_owned(), value);
    }
    if let Some(served) = target.resource.subresource(subresource) {
        fields.insert("kind".to_owned(), json!(served.kind.kind));
        fields.insert("apiVersion".to_owned(), json!(served.kind.api_version()));
    }
    Ok(Value::Object(fields))
}
