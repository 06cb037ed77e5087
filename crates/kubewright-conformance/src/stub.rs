//! The webhook that both clusters call.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use jiff::civil::{Date, date};
use kubewright_http::pki::Authority;
use kubewright_webhook::Certificates;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::conversion::convert;
use crate::Error;
use kubewright_testing::real::AuthorizerAddress;

/// A webhook on loopback whose response depends on the path. Some responses are invalid. Both
/// clusters call the same webhook. It ends when it is dropped.
pub struct WebhookStub {
    address: SocketAddr,
    /// The address with an expired certificate.
    expired: SocketAddr,
    /// The address with a certificate for another name.
    misnamed: SocketAddr,
    authority_pem: String,
    /// An authority that signed none of the certificates.
    other_authority_pem: String,
    /// The certificate of `address`.
    leaf_pem: String,
    /// The certificate of `misnamed`.
    misnamed_leaf_pem: String,
    _stop: DropGuard,
}

impl WebhookStub {
    /// Starts it on free ports.
    ///
    /// # Cancel safety
    ///
    /// When dropped, all servers end.
    pub async fn start() -> Result<Self, Error> {
        // The clusters' clocks differ by years.
        let (first, last) = (date(2000, 1, 1), date(2100, 1, 1));
        let authority = |name: &str, last: Date| Authority::valid_between(name, first, last);
        let trusted = authority("differential", last)?;
        let other = authority("stranger", last)?;
        let past = authority("past", date(2001, 1, 1))?;
        let stop = CancellationToken::new();
        let (address, leaf_pem) = listen(&trusted, "127.0.0.1", &stop).await?;
        let (misnamed, misnamed_leaf_pem) = listen(&trusted, "127.0.0.2", &stop).await?;
        let (expired, _) = listen(&past, "127.0.0.1", &stop).await?;
        Ok(Self {
            address,
            expired,
            misnamed,
            authority_pem: format!("{}{}", trusted.certificate_pem(), past.certificate_pem()),
            other_authority_pem: other.certificate_pem(),
            leaf_pem,
            misnamed_leaf_pem,
            _stop: stop.drop_guard(),
        })
    }

    /// The placeholders of cases and their values.
    pub(super) fn names(&self) -> [(String, String); 7] {
        let url = |address: SocketAddr| format!("https://{address}");
        [
            ("stub".to_owned(), url(self.address)),
            ("expired".to_owned(), url(self.expired)),
            ("misnamed".to_owned(), url(self.misnamed)),
            ("ca".to_owned(), self.ca_bundle()),
            (
                "other-ca".to_owned(),
                STANDARD.encode(&self.other_authority_pem),
            ),
            ("leaf".to_owned(), STANDARD.encode(&self.leaf_pem)),
            (
                "misnamed-leaf".to_owned(),
                STANDARD.encode(&self.misnamed_leaf_pem),
            ),
        ]
    }

    /// The `clientConfig` of a webhook with the response of `path`.
    pub(super) fn client_config(&self, path: &str) -> Value {
        json!({"url": format!("{}{path}", self.url()), "caBundle": self.ca_bundle()})
    }

    fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    fn ca_bundle(&self) -> String {
        STANDARD.encode(&self.authority_pem)
    }

    /// The address of its authorization webhook, which decides by the name of the user.
    pub fn authorizer(&self) -> AuthorizerAddress {
        AuthorizerAddress {
            url: format!("{}/authorize", self.url()),
            ca_pem: self.authority_pem.clone(),
        }
    }
}

/// Serves on a free port with a certificate for `name`. Returns the address and the certificate.
async fn listen(
    authority: &Authority,
    name: &str,
    stop: &CancellationToken,
) -> Result<(SocketAddr, String), Error> {
    let listener = TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.map_err(Error::Listen)?;
    let address = listener.local_addr().map_err(Error::Listen)?;
    let pair = authority.issue_server(&[name])?;
    let certificates = Certificates::new(&pair).map_err(Error::Webhook)?;
    let tls = certificates.tls(&["http/1.1"]).map_err(Error::Webhook)?;
    let tasks = TaskTracker::new();
    let (stop, connections) = (stop.clone(), tasks.clone());
    tasks.spawn(async move {
        let acceptor = TlsAcceptor::from(tls);
        while let Some(Ok((stream, _))) = stop.run_until_cancelled(listener.accept()).await {
            let (acceptor, stop) = (acceptor.clone(), stop.clone());
            connections.spawn(async move {
                stop.run_until_cancelled(serve(acceptor, stream)).await;
            });
        }
    });
    Ok((address, pair.certificate_pem))
}

impl fmt::Debug for WebhookStub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookStub")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

async fn serve(acceptor: TlsAcceptor, stream: TcpStream) {
    // Fails if the client does not trust the certificate.
    let Ok(stream) = acceptor.accept(stream).await else {
        return;
    };
    let service = service_fn(async |request| Ok::<_, Infallible>(respond(request).await));
    let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    if let Err(error) = served.await {
        tracing::debug!(%error, "a connection to the stub broke");
    }
}

async fn respond(request: Request<Incoming>) -> Response<Full<Bytes>> {
    let path = request.uri().path().to_owned();
    // A request without a valid review gets the response for a null review.
    let bytes = match request.into_body().collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => Bytes::new(),
    };
    let review: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let response = |code: u16, media_type: &str, text: String| {
        Response::builder()
            .status(StatusCode::from_u16(code).unwrap_or_default())
            .header(CONTENT_TYPE, media_type)
            .body(Full::new(text.into()))
            .unwrap_or_default()
    };
    match path.as_str() {
        "/http500" => response(500, "application/json", "{}".to_owned()),
        "/http500-text" => response(500, "text/plain", "out of tea\n".to_owned()),
        "/http503" => response(503, "text/plain", "later".to_owned()),
        "/not-json" => response(200, "text/plain", "hello".to_owned()),
        "/slow" => std::future::pending().await,
        "/authorize" => match authorize(&review) {
            Some(review) => response(200, "application/json", review.to_string()),
            None => response(500, "text/plain", "out of tea\n".to_owned()),
        },
        path if path.starts_with("/convert") => {
            response(200, "application/json", convert(path, &review).to_string())
        }
        path => match admit(path, &review) {
            Some(admitted) => {
                let kind = match path {
                    "/wrong-kind" => "Other",
                    _ => "AdmissionReview",
                };
                let mut reviewed = json!({"apiVersion": review["apiVersion"], "kind": kind});
                if !admitted.is_null() {
                    reviewed["response"] = admitted;
                }
                response(200, "application/json", reviewed.to_string())
            }
            None => response(404, "text/plain", "404 page not found\n".to_owned()),
        },
    }
}

/// The `response` of an admission review under a path, valid or invalid; `None` for an unknown
/// path.
fn admit(path: &str, review: &Value) -> Option<Value> {
    let request = &review["request"];
    let patch = |operations: Value| {
        json!({
            "allowed": true, "patchType": "JSONPatch",
            "patch": STANDARD.encode(operations.to_string()),
        })
    };
    let add = |field: &str, value: &str| {
        patch(json!([{"op": "add", "path": format!("/data/{field}"), "value": value}]))
    };
    let denied = |status: Value| json!({"allowed": false, "status": status});
    let mut response = match path {
        "/allow" | "/wrong-kind" => json!({"allowed": true}),
        "/warn" => json!({"allowed": true, "warnings": ["mind the gap", "mind the gap", "twice"]}),
        "/deny" => denied(json!({"code": 403, "message": "no"})),
        "/deny-plain" => json!({"allowed": false}),
        "/deny-reason" => denied(json!({"reason": "Teapot"})),
        "/deny-code" => denied(json!({"code": 418, "message": "tea", "reason": "Teapot",
            "details": {"name": "pot", "causes": [{"field": "spec.tea", "message": "cold"}]}})),
        "/deny-low" => denied(json!({"code": 200, "status": "Success", "message": "almost"})),
        "/deny-warn" => json!({"allowed": false, "warnings": ["last call"]}),
        "/wrong-uid" => json!({"allowed": true, "uid": "other"}),
        "/no-uid" => json!({"allowed": true, "uid": ""}),
        "/no-response" => return Some(Value::Null),
        "/patch" => add("patched", "yes"),
        "/patch-again" => {
            let seen = request["object"]["data"]["count"]
                .as_str()
                .unwrap_or_default();
            add("count", &format!("{seen}x"))
        }
        "/patch-numbers" => json!({"allowed": true, "patchType": "JSONPatch",
            "patch": br#"[{"op":"add","path":"/data/patched","value":"yes"}]"#.to_vec()}),
        "/patch-empty" => patch(json!([])),
        "/patch-untyped" => json!({"allowed": true, "patch": STANDARD.encode("[]")}),
        "/type-unpatched" => json!({"allowed": true, "patchType": "JSONPatch"}),
        "/patch-merge" => json!({"allowed": true, "patchType": "MergePatch",
            "patch": STANDARD.encode("[{}]")}),
        "/patch-junk" => json!({"allowed": true, "patchType": "JSONPatch",
            "patch": STANDARD.encode("{}")}),
        "/patch-missing" => patch(json!([{"op": "replace", "path": "/spec/tea/pot", "value": 1}])),
        "/patch-add-missing" => patch(json!([{"op": "add", "path": "/spec/tea/pot", "value": 1}])),
        "/patch-tolerations" => patch(json!([{"op": "remove", "path": "/spec/tolerations"}])),
        "/patch-remove" => patch(json!([{"op": "remove", "path": "/data/absent"}])),
        "/patch-test" => patch(json!([{"op": "test", "path": "/data/k", "value": "other"}])),
        "/patch-type" => patch(json!([{"op": "add", "path": "/data/k", "value": [1]}])),
        "/patch-replicas" => {
            patch(json!([{"op": "replace", "path": "/spec/replicas", "value": 3}]))
        }
        "/patch-binary" => {
            patch(json!([{"op": "add", "path": "/binaryData", "value": {"b": "aGk="}}]))
        }
        // Records the order in which webhooks are called.
        path if path.starts_with("/note-") => {
            let seen = &request["object"]["data"]["order"];
            let letter = path.trim_start_matches("/note-");
            add(
                "order",
                &format!("{}{letter}", seen.as_str().unwrap_or_default()),
            )
        }
        // Returns the compared fields of the request.
        "/echo" => {
            let fields = compared_fields(review);
            denied(json!({"code": 400, "message": fields.to_string()}))
        }
        _ => return None,
    };
    if response["uid"].is_null() {
        response["uid"] = request["uid"].clone();
    }
    Some(response)
}

/// The fields of a review that are compared.
fn compared_fields(review: &Value) -> Value {
    let request = &review["request"];
    let is_connection = request["operation"] == "CONNECT";
    json!({
        "review": review["apiVersion"],
        "requestResource": request["requestResource"],
        "requestSubResource": request["requestSubResource"],
        "connection": request["object"].as_object().filter(|_| is_connection),
        "operation": request["operation"], "kind": request["kind"],
        "resource": request["resource"], "subResource": request["subResource"],
        "requestKind": request["requestKind"],
        "name": request["name"], "namespace": request["namespace"],
        "dryRun": request["dryRun"], "options": request["options"],
        "userInfo": request["userInfo"]["username"],
        "hasObject": request["object"].is_object(),
        "hasOld": request["oldObject"].is_object(),
        "spec": request["object"]["spec"],
    })
}

/// Decides by the name of the user; `None` for a user for whom the webhook fails.
fn authorize(review: &Value) -> Option<Value> {
    let mut spec = review["spec"].clone();
    if let Some(members) = spec.as_object_mut() {
        // The id of the credential differs from cluster to cluster.
        members.remove("extra");
    }
    let status = match spec["user"].as_str().unwrap_or_default() {
        "hook-allowed" => json!({"allowed": true, "reason": "a friend"}),
        "hook-denied" => json!({"allowed": false, "denied": true, "reason": "barred"}),
        "hook-both" => json!({"allowed": true, "denied": true, "reason": "torn"}),
        "hook-unsure" => json!({"allowed": false, "reason": "never heard of"}),
        "hook-broken" => return None,
        // Returns the review.
        "hook-echo" => json!({"allowed": false, "denied": true, "reason": spec.to_string()}),
        _ => json!({"allowed": false}),
    };
    let mut review = review.clone();
    review["status"] = status;
    Some(review)
}
