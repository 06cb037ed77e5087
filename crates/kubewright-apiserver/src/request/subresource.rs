use http::StatusCode;
use kubewright_core::{Kind, Operation, Verb};
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::admit::Admit;
use super::answer::{ApiBody, ApiResponse};
use super::execute::ApiRequest;
use super::metadata::Part;
use super::options::WriteOptions;
use super::ownership::track_part;
use super::patch::patch_part;
use super::target::Target;
use super::update::{Write, replace, writer};
use super::{connect, decode, eviction, scale};
use crate::kinds::{bind, validate_finalized};
use crate::server::Server;
use crate::who::TokenRequest;

/// Requests about a part of an object.
pub(super) async fn execute(
    server: &Server,
    target: &Target,
    name: &str,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let Some(subresource) = target.served.subresource(name) else {
        return Err(match target.served.custom() {
            Some(_) => target.not_found(target.name()?),
            None => Status::unknown_resource(),
        });
    };
    let verb = request.route.verb;
    if !subresource.verbs.iter().any(|one| one == verb.as_str()) {
        return Err(Status::method_not_supported());
    }
    let is_pod = target.served.is("", "Pod");
    match (name, verb) {
        ("status", Verb::Get) => get(server, target),
        ("status", Verb::Update) => replace(server, target, request, Part::Status).await,
        ("status", Verb::Patch) => patch_part(server, target, request, Part::Status).await,
        ("finalize", Verb::Update) if target.served.is("", "Namespace") => {
            finalize(server, target, request).await
        }
        ("scale", Verb::Get) => scale::get(server, target).await,
        ("scale", Verb::Update | Verb::Patch) => scale::write(server, target, request).await,
        ("eviction", Verb::Create) if is_pod => eviction::evict(server, target, request).await,
        ("binding", Verb::Create) if is_pod => binding(server, target, request).await,
        ("token", Verb::Create) if target.served.is("", "ServiceAccount") => {
            token(server, target, request).await
        }
        (part, _) if connect::is_connection(part) => {
            connect::connect(server, target, part, request).await
        }
        _ => Err(Status::not_implemented(format!(
            "{verb} of {}/{name} is not implemented yet",
            target.served.resource.qualified_name()
        ))),
    }
}

fn get(server: &Server, target: &Target) -> Result<ApiResponse, Status> {
    let name = target.name()?;
    let object = server
        .store()
        .get(&target.key(name))
        .ok_or_else(|| target.not_found(name))?;
    Ok(ApiResponse::object(StatusCode::OK, object))
}

/// The finalizers in the specification of a Namespace, and nothing else, can be changed here.
async fn finalize(
    server: &Server,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let options = WriteOptions::parse(&request.query, "UpdateOptions")?;
    let name = target.name()?;
    let validation = options.field_validation;
    let decoded = decode::object(target, &request.content, target.kind(), validation)?;
    request.warnings.add(decoded.warnings);
    let sent = decoded.value;
    let causes = validate_finalized(&sent);
    if !causes.is_empty() {
        return Err(Status::invalid(target.kind(), name, causes));
    }
    let write = Write {
        target,
        admit: Admit::new(server, target, request, options.is_dry_run),
        writer: writer(server, request, &options, Part::Whole),
    };
    let changed = write.change(server, name, |old| {
        let mut value = old.value().clone();
        value["metadata"]["resourceVersion"] = sent["metadata"]["resourceVersion"].clone();
        match sent.pointer("/spec/finalizers") {
            Some(finalizers) => value["spec"]["finalizers"] = finalizers.clone(),
            None => value["spec"] = json!({}),
        }
        Ok(value)
    });
    let object = changed.await?;
    Ok(ApiResponse::object(StatusCode::OK, object))
}

/// The body of a request for a subresource of the object with that name, which it must carry.
pub(super) fn parse_named(request: &ApiRequest, name: &str, kind: &str) -> Result<Value, Status> {
    let body = decode::parse(&request.content).map_err(Status::bad_request)?;
    if body["metadata"]["name"].as_str().unwrap_or_default() != name {
        let why = format!("name in URL does not match name in {kind} object");
        return Err(Status::bad_request(why));
    }
    Ok(body)
}

/// Assigns a Pod to a node.
async fn binding(
    server: &Server,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let options = WriteOptions::parse(&request.query, "CreateOptions")?;
    let name = target.name()?;
    let binding = parse_named(request, name, "Binding")?;
    let node = binding["target"]["name"].as_str().unwrap_or_default();
    if node.is_empty() {
        let cause = kubewright_wire::status::Cause::required("target.name", "");
        return Err(Status::invalid_as("", "Binding", name, vec![cause]));
    }
    let write = Write {
        target,
        admit: Admit::new(server, target, request, options.is_dry_run),
        writer: writer(server, request, &options, Part::Whole),
    };
    let binding = write.admit.mutate(Operation::Create, binding, None).await?;
    write
        .admit
        .validate(Operation::Create, &binding, None)
        .await?;
    let now = server.timestamp();
    // As in Kubernetes, what a binding writes belongs to nobody.
    let changed = write.change_owned(server, name, |old| {
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
        bind(&mut value, &binding, &now)?;
        Ok(value)
    });
    changed.await?;
    let mut status = Status {
        status: Some(kubewright_wire::status::Outcome::Success),
        ..Status::default()
    };
    status.code = StatusCode::CREATED.as_u16();
    let body = ApiBody::Status(Box::new(status));
    Ok(ApiResponse::new(StatusCode::CREATED, body))
}

/// Issues a token for a ServiceAccount.
async fn token(
    server: &Server,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let options = WriteOptions::parse(&request.query, "CreateOptions")?;
    let kind = Kind::new("authentication.k8s.io", "v1", "TokenRequest");
    let decoded = decode::part(&request.content, &kind, options.field_validation)?;
    request.warnings.add(decoded.warnings);
    let writer = writer(server, request, &options, Part::Whole);
    let body = track_part(&kind, decoded.value, &writer);
    let admit = Admit::new(server, target, request, options.is_dry_run);
    let body = admit.mutate(Operation::Create, body, None).await?;
    let answer = server.access().token(
        TokenRequest {
            namespace: target.namespace.as_deref().unwrap_or_default(),
            name: target.name()?,
            now: server.clock().now(),
            token_id: &server.random().uid(),
        },
        body,
    )?;
    // Those who judge it see the request filled in and found right, but not the token.
    let mut judged = answer.clone();
    judged["status"] = json!({"token": "", "expirationTimestamp": null});
    admit.validate(Operation::Create, &judged, None).await?;
    Ok(ApiResponse::new(
        StatusCode::CREATED,
        ApiBody::Value(answer),
    ))
}
