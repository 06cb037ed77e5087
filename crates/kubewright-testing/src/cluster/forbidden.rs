//! Records requests of operators that were forbidden.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Either, Full};
use kubewright::client::Permissions;
use parking_lot::Mutex;
use serde::Deserialize;
use tower::{Layer, Service};

/// The forbidden requests: of all clients that use this layer, and those that the permission check
/// of an operator denied before they were sent.
///
/// A forbidden request shows that the role of the operator lacks a rule, even if the operator
/// ignores the error.
#[derive(Clone, Debug, Default)]
pub(super) struct ForbiddenRequests {
    requests: Arc<Mutex<BTreeSet<String>>>,
    permissions: Arc<Mutex<Vec<Permissions>>>,
}

impl ForbiddenRequests {
    /// Includes what the permission check of an operator denies.
    pub(super) fn include(&self, permissions: &Permissions) {
        self.permissions.lock().push(permissions.clone());
    }

    /// The permissions that operators have used so far: verb, group and resource.
    pub(super) fn used_permissions(&self) -> BTreeSet<String> {
        let permissions = self.permissions.lock();
        permissions.iter().flat_map(Permissions::used).collect()
    }

    /// Records nothing while a server starts: it serves requests before it has loaded its roles.
    pub(super) async fn ignore_during<T>(&self, start: impl Future<Output = T>) -> T {
        let before = self.requests.lock().clone();
        let started = start.await;
        *self.requests.lock() = before;
        started
    }

    /// Takes the forbidden requests so far, each once, and forgets the operators.
    pub(super) fn take(&self) -> BTreeSet<String> {
        let mut requests = std::mem::take(&mut *self.requests.lock());
        let permissions = std::mem::take(&mut *self.permissions.lock());
        requests.extend(permissions.iter().flat_map(Permissions::denied));
        requests
    }
}

impl<S> Layer<S> for ForbiddenRequests {
    type Service = ForbiddenRecorder<S>;

    fn layer(&self, inner: S) -> ForbiddenRecorder<S> {
        ForbiddenRecorder {
            inner,
            forbidden: self.clone(),
        }
    }
}

/// Records requests whose response is 403.
#[derive(Clone, Debug)]
pub(super) struct ForbiddenRecorder<S> {
    inner: S,
    forbidden: ForbiddenRequests,
}

impl<S, B, R> Service<Request<B>> for ForbiddenRecorder<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
    R: http_body::Body<Data = Bytes> + Send + 'static,
{
    type Response = Response<Either<R, Full<Bytes>>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let line = format!("{} {}", request.method(), request.uri().path());
        let forbidden = self.forbidden.clone();
        let response = self.inner.call(request);
        Box::pin(async move {
            let response = response.await?;
            if response.status() != StatusCode::FORBIDDEN {
                return Ok(response.map(Either::Left));
            }
            let (parts, body) = response.into_parts();
            // A body that breaks off has no message, which counts as a missing permission.
            let bytes = match body.collect().await {
                Ok(collected) => collected.to_bytes(),
                Err(_) => Bytes::new(),
            };
            if is_about_permissions(&bytes) {
                forbidden.requests.lock().insert(line);
            }
            Ok(Response::from_parts(parts, Either::Right(Full::new(bytes))))
        })
    }
}

/// Whether a missing permission is the cause. Admission also fails with 403, for a used up quota or
/// a terminating namespace, which an operator has to handle.
///
/// The texts are those of `forbiddenMessage` in apiserver's responsewriters/errors.go, of
/// `ConfirmNoEscalation` in pkg/registry/rbac/validation/rule.go, and of
/// plugin/pkg/admission/gc/gc_admission.go. A response without a Status counts, too.
fn is_about_permissions(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Status {
        message: String,
    }
    let Ok(Status { message }) = serde_json::from_slice(body) else {
        return true;
    };
    let by_role = message
        .split_once("User \"")
        .and_then(|(_, rest)| rest.split_once("\" cannot "))
        .is_some_and(|(_, rest)| rest.contains(" resource \"") || rest.contains(" path \""));
    by_role
        || message.contains("is attempting to grant RBAC permissions not currently held")
        || message.contains("a resource you can't set finalizers on")
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::future::ready;

    use http::{Request, Response};
    use http_body_util::{BodyExt as _, Full};
    use serde_json::json;
    use tower::{Layer as _, ServiceExt as _, service_fn};

    use super::ForbiddenRequests;

    #[tokio::test]
    async fn each_forbidden_request_is_recorded_once() {
        let forbidden = ForbiddenRequests::default();
        let service = forbidden.layer(service_fn(|request: Request<()>| async move {
            let code = match request.uri().path() {
                "/api/v1/nodes" => 403,
                "/api/v1/pods" => 404,
                _ => 200,
            };
            let message = r#"nodes is forbidden: User "bob" cannot list resource "nodes" in API group "" at the cluster scope"#;
            let body = Full::from(json!({ "message": message }).to_string());
            Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap())
        }));
        let send = async |path: &str| {
            let request = Request::get(path).body(()).unwrap();
            service.clone().oneshot(request).await.unwrap();
        };
        forbidden.ignore_during(send("/api/v1/nodes")).await;
        assert!(forbidden.take().is_empty());
        for path in ["/version", "/api/v1/nodes", "/api/v1/pods", "/api/v1/nodes"] {
            send(path).await;
        }
        forbidden.ignore_during(send("/api/v1/pods")).await;
        let requests: Vec<_> = forbidden.take().into_iter().collect();
        assert_eq!(requests, ["GET /api/v1/nodes"]);
        assert!(forbidden.take().is_empty());
    }

    #[tokio::test]
    async fn response_of_admission_is_not_recorded_and_arrives_unchanged() {
        let forbidden = ForbiddenRequests::default();
        for (message, is_recorded) in [
            (
                r#"pods "x" is forbidden: exceeded quota: small, requested: pods=1"#,
                false,
            ),
            (
                r#"pods "x" is forbidden: unable to create new content in namespace a because it is being terminated"#,
                false,
            ),
            (
                r#"pods "x" is forbidden: violates PodSecurity "restricted:latest": runAsUser=0 (container "web" must not set it; it cannot run)"#,
                false,
            ),
            (r#"forbidden: User "bob" cannot get path "/metrics""#, true),
            (
                r#"pods "x" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>"#,
                true,
            ),
        ] {
            let status = json!({ "kind": "Status", "code": 403, "message": message }).to_string();
            let denial = Response::builder()
                .status(403)
                .body(Full::from(status.clone()))
                .unwrap();
            let service =
                service_fn(move |_: Request<()>| ready(Ok::<_, Infallible>(denial.clone())));
            let response = forbidden
                .layer(service)
                .oneshot(Request::new(()))
                .await
                .unwrap();
            let arrived = response.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(arrived, status);
            assert_eq!(!forbidden.take().is_empty(), is_recorded, "{message}");
        }
    }
}
