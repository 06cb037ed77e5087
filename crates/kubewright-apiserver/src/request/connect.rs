use kubewright_core::Operation;
use kubewright_wire::status::Status;
use serde_json::{Map, Value, json};

use super::admit::Admit;
use super::answer::ApiResponse;
use super::execute::ApiRequest;
use super::target::Target;
use crate::server::Server;

/// Whether a part of an object is a connection to what it stands for.
pub(super) fn is_connection(part: &str) -> bool {
    matches!(part, "exec" | "attach" | "portforward" | "proxy")
}

/// Asks policies and webhooks about a connection, as Kubernetes does before it looks for the
/// object (`ConnectResource` of k8s.io/apiserver/pkg/endpoints/handlers/rest.go). The stream itself
/// is not here: nothing runs behind the objects.
pub(super) async fn connect(
    server: &Server,
    target: &Target,
    part: &str,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    if request.query.get("dryRun").is_some() {
        return Err(Status::bad_request("dryRun is not supported"));
    }
    let name = target.name()?;
    let options = options(target, part, request)?;
    let admit = Admit::new(server, target, request, false);
    let options = admit.mutate(Operation::Connect, options, None).await?;
    admit.validate(Operation::Connect, &options, None).await?;
    if server.store().get(&target.key(name)).is_none() {
        return Err(target.not_found(name));
    }
    Err(Status::not_implemented(format!(
        "{}/{part} is not implemented yet: nothing runs behind the object",
        target.served.resource.qualified_name()
    )))
}

/// What a connection is asked about by: the parameters of the request as an object, such as
/// PodExecOptions.
fn options(target: &Target, part: &str, request: &ApiRequest) -> Result<Value, Status> {
    let query = &request.query;
    let mut fields = Map::new();
    match part {
        "portforward" => {
            let ports: Result<Vec<i32>, _> = query.all("ports").map(str::parse).collect();
            let ports = ports.map_err(|error| Status::bad_request(error.to_string()))?;
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
    if part == "exec" {
        let command: Vec<&str> = query.all("command").collect();
        // As Go writes a list that was never made.
        let command = match command.is_empty() {
            true => Value::Null,
            false => json!(command),
        };
        fields.insert("command".to_owned(), command);
    }
    if let Some(served) = target.served.subresource(part) {
        fields.insert("kind".to_owned(), json!(served.kind.kind));
        fields.insert("apiVersion".to_owned(), json!(served.kind.api_version()));
    }
    Ok(Value::Object(fields))
}
