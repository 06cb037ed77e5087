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

/// What was refused as forbidden: by the server, to all clients that went through this layer, and
/// by the operators' own guards, before the server was asked.
///
/// An operator that was refused something has a role that lacks a rule, however well it went on.
#[derive(Clone, Debug, Default)]
pub(super) struct Refusals {
    requests: Arc<Mutex<BTreeSet<String>>>,
    guards: Arc<Mutex<Vec<Permissions>>>,
}

impl Refusals {
    /// Also counts what this guard of an operator refuses.
    pub(super) fn include(&self, guard: &Permissions) {
        self.guards.lock().push(guard.clone());
    }

    /// What operators asked for and were allowed so far: verb, group and resource.
    pub(super) fn used(&self) -> BTreeSet<String> {
        let guards = self.guards.lock();
        guards.iter().flat_map(Permissions::used).collect()
    }

    /// Counts nothing that is refused while a server starts: it answers before it knows its roles.
    pub(super) async fn pardon<T>(&self, start: impl Future<Output = T>) -> T {
        let before = self.requests.lock().clone();
        let started = start.await;
        *self.requests.lock() = before;
        started
    }

    /// The refused requests so far, each once; they are forgotten, and the guards too.
    pub(super) fn take(&self) -> BTreeSet<String> {
        let mut refused = std::mem::take(&mut *self.requests.lock());
        let guards = std::mem::take(&mut *self.guards.lock());
        refused.extend(guards.iter().flat_map(Permissions::refused));
        refused
    }
}

impl<S> Layer<S> for Refusals {
    type Service = Noting<S>;

    fn layer(&self, inner: S) -> Noting<S> {
        Noting {
            inner,
            refusals: self.clone(),
        }
    }
}

/// The service that notes refusals on their way back.
#[derive(Clone, Debug)]
pub(super) struct Noting<S> {
    inner: S,
    refusals: Refusals,
}

impl<S, B, R> Service<Request<B>> for Noting<S>
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
        let asked = format!("{} {}", request.method(), request.uri().path());
        let refusals = self.refusals.clone();
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await?;
            if answer.status() != StatusCode::FORBIDDEN {
                return Ok(answer.map(Either::Left));
            }
            let (parts, body) = answer.into_parts();
            let body = body.collect().await;
            let body = body.map(http_body_util::Collected::to_bytes);
            let body = body.unwrap_or_default();
            if is_about_permissions(&body) {
                refusals.requests.lock().insert(asked);
            }
            Ok(Response::from_parts(parts, Either::Right(Full::new(body))))
        })
    }
}

/// Whether a role is to blame: admission answers 403 too, for a quota that is used up or a
/// namespace that is going, which the operator has to live with.
///
/// The words are those of `forbiddenMessage` in apiserver's responsewriters/errors.go, of
/// `ConfirmNoEscalation` in pkg/registry/rbac/validation/rule.go, and of
/// plugin/pkg/admission/gc/gc_admission.go. An answer that is no Status counts.
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

    use super::Refusals;

    #[tokio::test]
    async fn only_forbidden_answers_are_noted_each_once() {
        let refusals = Refusals::default();
        let service = refusals.layer(service_fn(|request: Request<()>| async move {
            let code = match request.uri().path() {
                "/api/v1/nodes" => 403,
                "/api/v1/pods" => 404,
                _ => 200,
            };
            let message = r#"nodes is forbidden: User "bob" cannot list resource "nodes" in API group "" at the cluster scope"#;
            let body = Full::from(json!({ "message": message }).to_string());
            Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap())
        }));
        let ask = async |path: &str| {
            let request = Request::get(path).body(()).unwrap();
            service.clone().oneshot(request).await.unwrap();
        };
        refusals.pardon(ask("/api/v1/nodes")).await;
        assert!(refusals.take().is_empty());
        for path in ["/version", "/api/v1/nodes", "/api/v1/pods", "/api/v1/nodes"] {
            ask(path).await;
        }
        refusals.pardon(ask("/api/v1/pods")).await;
        let refused: Vec<_> = refusals.take().into_iter().collect();
        assert_eq!(refused, ["GET /api/v1/nodes"]);
        assert!(refusals.take().is_empty());
    }

    #[tokio::test]
    async fn what_admission_forbids_is_not_noted_and_arrives_whole() {
        let refusals = Refusals::default();
        for (message, noted) in [
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
            let answer = Response::builder().status(403);
            let answer = answer.body(Full::from(status.clone())).unwrap();
            let service =
                service_fn(move |_: Request<()>| ready(Ok::<_, Infallible>(answer.clone())));
            let answer = refusals
                .layer(service)
                .oneshot(Request::new(()))
                .await
                .unwrap();
            let arrived = answer.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(arrived, status);
            assert_eq!(!refusals.take().is_empty(), noted, "{message}");
        }
    }
}
