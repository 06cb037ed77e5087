//! TokenRequests: issuing a token for a ServiceAccount.

use jiff::{SignedDuration, Timestamp};
use kubewright_kinds::BuiltinKind;
use kubewright_kinds::authentication::TOKEN_REQUEST;
use kubewright_kinds::core::{NODE, POD, SECRET, SERVICE_ACCOUNT};
use kubewright_wire::status::{Cause, Status};
use serde::Deserialize;
use serde_json::{Value, json};

use super::token::{BoundReference, Claims, ISSUER, KubernetesClaims, TokenSigner};
use super::user::User;

/// The validity of a token when the request has no `expirationSeconds`.
const DEFAULT_SECONDS: i64 = 3600;
const MIN_SECONDS: i64 = 600;
const MAX_SECONDS: i64 = 1 << 32;

/// A POST to `serviceaccounts/NAME/token`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenRequest<'a> {
    /// The account's namespace.
    pub(crate) namespace: &'a str,
    /// The account's name.
    pub(crate) name: &'a str,
    /// The time of the request.
    pub(crate) now: Timestamp,
    /// The token's own id.
    pub(crate) token_id: &'a str,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    audiences: Option<Vec<String>>,
    expiration_seconds: Option<i64>,
    bound_object_ref: Option<BoundObject>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct BoundObject {
    api_version: String,
    kind: String,
    name: String,
    uid: String,
}

/// Fills in the status of a TokenRequest with the signed token, by the rules of
/// pkg/registry/core/serviceaccount/storage/token.go.
///
/// `object` looks up an object by kind, namespace (empty for Nodes) and name.
pub(super) fn issue_token(
    request: TokenRequest<'_>,
    mut body: Value,
    signer: &TokenSigner,
    object: impl Fn(&BuiltinKind, &str, &str) -> Option<Value>,
) -> Result<Value, Status> {
    let TokenRequest {
        namespace,
        name,
        now,
        token_id,
    } = request;
    check_metadata(&body, request)?;
    let account = object(&SERVICE_ACCOUNT, namespace, name)
        .ok_or_else(|| Status::not_found(SERVICE_ACCOUNT.as_resource_tuple(), name))?;
    let uid = metadata(&account, "uid");
    let sent_uid = metadata(&body, "uid");
    if !sent_uid.is_empty() && sent_uid != uid {
        let why = format!(
            "the UID in the token request ({sent_uid}) does not match the UID of the service account ({uid})"
        );
        let kind = (TOKEN_REQUEST.group, TOKEN_REQUEST.kind);
        return Err(Status::conflict_because(kind, name, &why));
    }
    let spec = read_spec(&body)?;
    let seconds = expiration(&spec)?;
    let kubernetes = KubernetesClaims {
        namespace: namespace.to_owned(),
        serviceaccount: BoundReference {
            name: name.to_owned(),
            uid: uid.clone(),
        },
        ..bind(&spec, request, &object)?
    };
    let audiences = spec
        .audiences
        .filter(|audiences| !audiences.is_empty())
        .unwrap_or_else(|| vec![ISSUER.to_owned()]);
    let issued = now.as_second();
    let claims = Claims {
        aud: audiences.clone(),
        exp: issued + seconds,
        iat: issued,
        iss: ISSUER.to_owned(),
        jti: token_id.to_owned(),
        kubernetes,
        nbf: issued,
        sub: User::service_account(namespace, name).name,
    };
    let token = signer
        .sign(&claims)
        .ok_or_else(|| Status::internal("failed to generate token: no key can be generated"))?;
    let expires = now
        .checked_add(SignedDuration::from_secs(seconds))
        .unwrap_or(Timestamp::MAX);
    // Only single fields are set: the metadata already has managedFields.
    body["metadata"]["name"] = name.into();
    body["metadata"]["namespace"] = namespace.into();
    body["metadata"]["uid"] = uid.into();
    body["metadata"]["creationTimestamp"] = whole_seconds(now).into();
    body["spec"]["audiences"] = audiences.into();
    body["spec"]["expirationSeconds"] = seconds.into();
    if body["spec"].get("boundObjectRef").is_none() {
        body["spec"]["boundObjectRef"] = Value::Null;
    }
    body["status"] = json!({"token": token, "expirationTimestamp": whole_seconds(expires)});
    Ok(body)
}

fn check_metadata(body: &Value, request: TokenRequest<'_>) -> Result<(), Status> {
    let fields = [
        (
            "name",
            request.name,
            "must match the service account name if specified",
        ),
        (
            "namespace",
            request.namespace,
            "must match the service account namespace if specified",
        ),
    ];
    for (field, wanted, detail) in fields {
        let sent = metadata(body, field);
        if !sent.is_empty() && sent != wanted {
            let cause = Cause::invalid(&format!("metadata.{field}"), &json!(sent), detail);
            return Err(invalid(request.name, cause));
        }
    }
    Ok(())
}

fn read_spec(body: &Value) -> Result<Spec, Status> {
    let spec = match body.get("spec") {
        None | Some(Value::Null) => return Ok(Spec::default()),
        Some(spec) => spec,
    };
    Spec::deserialize(spec).map_err(|error| {
        let kind = TOKEN_REQUEST.kind;
        Status::bad_request(format!(
            "{kind} in version \"v1\" cannot be handled as a {kind}: {error}"
        ))
    })
}

fn invalid(name: &str, cause: Cause) -> Status {
    Status::invalid_as(TOKEN_REQUEST.group, TOKEN_REQUEST.kind, name, vec![cause])
}

fn expiration(spec: &Spec) -> Result<i64, Status> {
    let seconds = spec.expiration_seconds.unwrap_or(DEFAULT_SECONDS);
    let detail = match seconds {
        ..MIN_SECONDS => "may not specify a duration less than 10 minutes",
        MIN_SECONDS..=MAX_SECONDS => return Ok(seconds),
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    let cause = Cause::invalid("spec.expirationSeconds", &json!(seconds), detail);
    Err(invalid("", cause))
}

/// The claims that bind the token to the object that the request names.
fn bind(
    spec: &Spec,
    request: TokenRequest<'_>,
    object: &impl Fn(&BuiltinKind, &str, &str) -> Option<Value>,
) -> Result<KubernetesClaims, Status> {
    let mut claims = KubernetesClaims::default();
    let Some(bound) = &spec.bound_object_ref else {
        return Ok(claims);
    };
    let api_version = bound.api_version.as_str();
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    // Any version of the core group is accepted.
    let bindable: [&'static BuiltinKind; 3] = [&POD, &SECRET, &NODE];
    let Some(kind) = bindable
        .into_iter()
        .find(|kind| kind.group == group && kind.kind == bound.kind)
    else {
        return Err(Status::bad_request(format!(
            "cannot bind token to object of type {group}/{version}, Kind={}",
            bound.kind
        )));
    };
    if bound.name.is_empty() {
        return Err(Status::bad_request("Name parameter required."));
    }
    let namespace = if *kind == NODE { "" } else { request.namespace };
    let found = object(kind, namespace, &bound.name)
        .ok_or_else(|| Status::not_found(kind.as_resource_tuple(), &bound.name))?;
    let uid = metadata(&found, "uid");
    let at = |pointer: &str| {
        found
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    if *kind == POD && at("/spec/serviceAccountName") != request.name {
        return Err(Status::bad_request(format!(
            "cannot bind token for serviceaccount {:?} to pod running with different serviceaccount name.",
            request.name
        )));
    }
    if !bound.uid.is_empty() && bound.uid != uid {
        let why = format!(
            "the UID in the bound object reference ({}) does not match the UID in record. The object might have been deleted and then recreated",
            bound.uid
        );
        return Err(Status::conflict_because(
            ("", bound.kind.as_str()),
            &bound.name,
            &why,
        ));
    }
    let reference = Some(BoundReference {
        name: bound.name.clone(),
        uid,
    });
    if *kind == SECRET {
        claims.secret = reference;
    } else if *kind == NODE {
        claims.node = reference;
    } else {
        claims.pod = reference;
        let node = at("/spec/nodeName");
        claims.node = (!node.is_empty()).then(|| BoundReference {
            name: node.to_owned(),
            uid: object(&NODE, "", node)
                .map(|node| metadata(&node, "uid"))
                .unwrap_or_default(),
        });
    }
    Ok(claims)
}

fn metadata(object: &Value, field: &str) -> String {
    let value = object
        .get("metadata")
        .and_then(|metadata| metadata.get(field));
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A time as Kubernetes writes it: whole seconds, UTC.
fn whole_seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use kubewright_kinds::BuiltinKind;
    use serde_json::{Value, json};

    use super::{TokenRequest, issue_token};
    use crate::authentication::token::TokenSigner;

    fn object(kind: &BuiltinKind, namespace: &str, name: &str) -> Option<Value> {
        match (kind.plural, namespace, name) {
            ("serviceaccounts", "web", "robot") => Some(json!({"metadata": {"uid": "u-1"}})),
            ("pods", "web", "p") => Some(json!({
                "metadata": {"uid": "p-1"},
                "spec": {"serviceAccountName": "robot", "nodeName": "n"},
            })),
            ("pods", "web", "other") => Some(json!({"metadata": {"uid": "p-2"}})),
            _ => None,
        }
    }

    fn uid(kind: &BuiltinKind, namespace: &str, name: &str) -> Option<String> {
        let object = object(kind, namespace, name)?;
        Some(object["metadata"]["uid"].as_str()?.to_owned())
    }

    fn issue(signer: &TokenSigner, name: &str, spec: Value) -> Result<Value, String> {
        let request = TokenRequest {
            namespace: "web",
            name,
            now: "2026-01-01T00:00:00Z".parse().unwrap(),
            token_id: "j",
        };
        issue_token(request, json!({"spec": spec}), signer, object).map_err(|status| status.message)
    }

    #[test]
    fn token_is_issued_for_an_hour_by_default() {
        let signer = TokenSigner::default();
        let issued = issue(&signer, "robot", json!({})).unwrap();
        assert_eq!(
            issued["status"]["expirationTimestamp"],
            "2026-01-01T01:00:00Z"
        );
        assert_eq!(issued["spec"]["expirationSeconds"], 3600);
        assert_eq!(issued["spec"]["boundObjectRef"], Value::Null);
        assert_eq!(issued["metadata"]["uid"], "u-1");
        let token = issued["status"]["token"].as_str().unwrap();
        let now: Timestamp = "2026-01-01T00:59:00Z".parse().unwrap();
        let user = signer.user(token, now, &uid).unwrap();
        assert_eq!(user.name, "system:serviceaccount:web:robot");
    }

    #[test]
    fn token_bound_to_a_pod_names_pod_and_node() {
        let signer = TokenSigner::default();
        let bound = json!({"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "p"}});
        let issued = issue(&signer, "robot", bound).unwrap();
        let token = issued["status"]["token"].as_str().unwrap();
        let user = signer
            .user(token, "2026-01-01T00:00:00Z".parse().unwrap(), &uid)
            .unwrap();
        assert_eq!(user.extra["authentication.kubernetes.io/pod-uid"], ["p-1"]);
        assert_eq!(user.extra["authentication.kubernetes.io/node-name"], ["n"]);
    }

    #[test]
    fn invalid_token_request_fails_with_the_reason() {
        let pod =
            |name| json!({"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": name}});
        for (wanted, name, spec) in [
            (r#"serviceaccounts "gone" not found"#, "gone", json!({})),
            (
                r#"TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes"#,
                "robot",
                json!({"expirationSeconds": 599}),
            ),
            (r#"pods "gone" not found"#, "robot", pod("gone")),
            ("Name parameter required.", "robot", pod("")),
            (
                r#"cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name."#,
                "robot",
                pod("other"),
            ),
            (
                "cannot bind token to object of type apps/v1, Kind=Deployment",
                "robot",
                json!({"boundObjectRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}),
            ),
        ] {
            assert_eq!(
                issue(&TokenSigner::default(), name, spec),
                Err(wanted.to_owned())
            );
        }
    }
}
