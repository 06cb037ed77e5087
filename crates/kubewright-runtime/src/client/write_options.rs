//! Options of all writes of a client, such as dry run.

use bytes::Bytes;
use futures_util::FutureExt as _;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Uri};
use kube::Client;
use kube::client::Body;
use kubewright_wire::route::{self, ResourceRoute, Route};
use serde_json::{Map, Value, json};

use super::{Blocked, Query, RequestFilter, with_layer};
use crate::Error;

/// Options that are added to each write of a client. An option that the request already has stays as
/// it is, and reads are not changed.
///
/// ```
/// use kubewright_runtime::client::{FieldValidation, WriteOptions};
///
/// # fn with(client: kube::Client) {
/// let careful = WriteOptions {
///     dry_run: true,
///     field_validation: Some(FieldValidation::Strict),
///     ..WriteOptions::default()
/// };
/// let client = careful.wrap(&client);
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Whether the API server processes writes without storing them. Requests for which it has no
    /// dry run, such as a command in a container or a proxied request, are blocked.
    pub dry_run: bool,
    /// The manager that owns the written fields.
    pub field_manager: Option<String>,
    /// How unknown fields are handled; none leaves it to the API server, which warns.
    pub field_validation: Option<FieldValidation>,
}

/// How the API server handles unknown and duplicate fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValidation {
    /// They are dropped silently.
    Ignore,
    /// They are dropped, and the response has a warning.
    Warn,
    /// The request fails.
    Strict,
}

impl FieldValidation {
    /// The value of `fieldValidation` in a request.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ignore => "Ignore",
            Self::Warn => "Warn",
            Self::Strict => "Strict",
        }
    }
}

impl WriteOptions {
    /// The client, whose writes have these options.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, as kube's client does.
    pub fn wrap(self, client: &Client) -> Client {
        with_layer(client, self.layer())
    }

    fn add_parameters(&self, request: &mut Request<Body>) -> Result<(), Error> {
        let present = route::Query::parse(request.uri().query().unwrap_or_default());
        let options = [
            ("dryRun", self.dry_run.then_some("All")),
            ("fieldManager", self.field_manager.as_deref()),
            (
                "fieldValidation",
                self.field_validation.map(FieldValidation::as_str),
            ),
        ];
        let missing = options
            .into_iter()
            .filter(|(name, _)| present.get(name).is_none())
            .fold(Query::new(), |query, (name, value)| {
                query.with(name, value.unwrap_or_default())
            });
        extend_query(request, &missing).map_err(|source| Error::InvalidRequest {
            what: described(request),
            source,
        })
    }
}

impl RequestFilter for WriteOptions {
    type RequestState = ();

    fn before(&self, request: &mut Request<Body>) -> Result<(), Blocked> {
        let result = match Effect::of(request) {
            Effect::Deletes if self.dry_run => make_delete_dry(request),
            Effect::Acts if self.dry_run => Err(Error::DryRunUnsupported {
                what: described(request),
            }),
            Effect::Stores => self.add_parameters(request),
            Effect::None | Effect::Deletes | Effect::Acts => Ok(()),
        };
        result.map_err(Blocked::new)
    }
}

/// The effect of a request on the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    None,
    Stores,
    Deletes,
    /// An action for which the API server has no dry run.
    Acts,
}

impl Effect {
    fn of(request: &Request<Body>) -> Self {
        let (method, uri) = (request.method(), request.uri());
        let route = Route::parse(method, uri.path(), uri.query());
        match (route.resource(), method) {
            (Some(route), _) if connects(route) => Self::Acts,
            (_, &Method::GET | &Method::HEAD | &Method::OPTIONS) => Self::None,
            (Some(_), &Method::DELETE) => Self::Deletes,
            (Some(_), _) => Self::Stores,
            (None, _) => Self::Acts,
        }
    }
}

/// Whether the request is passed on to a Pod, node or service (`rest.Connecter` of
/// k8s.io/apiserver).
fn connects(route: &ResourceRoute) -> bool {
    let subresource = route.subresource.as_deref();
    matches!(
        subresource,
        Some("attach" | "exec" | "portforward" | "proxy")
    )
}

fn described(request: &Request<Body>) -> String {
    format!("{} {}", request.method(), request.uri().path())
}

/// Adds parameters to the query of a request.
fn extend_query(request: &mut Request<Body>, query: &Query) -> Result<(), http::Error> {
    let text = query.to_string();
    let Some(added) = text.strip_prefix('?') else {
        return Ok(());
    };
    let uri = request.uri();
    let target = match uri.query().unwrap_or_default().trim_matches('&') {
        "" => format!("{}?{added}", uri.path()),
        existing => format!("{}?{existing}&{added}", uri.path()),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(target.parse()?);
    *request.uri_mut() = Uri::from_parts(parts)?;
    Ok(())
}

/// Makes a delete a dry run, in its body: the API server reads the options of a delete that has a body
/// only there, not from the query (k8s.io/apiserver/pkg/endpoints/handlers/delete.go,
/// `DeleteResource`).
fn make_delete_dry(request: &mut Request<Body>) -> Result<(), Error> {
    let body = std::mem::replace(request.body_mut(), Body::empty());
    // The body of a client's request is in memory, so that it is collected without waiting. Only a
    // body that is forwarded from elsewhere is a stream.
    let bytes = body.collect_bytes().now_or_never();
    let options = bytes.and_then(|bytes| delete_options(&bytes.ok()?));
    let Some(mut options) = options else {
        return Err(Error::DryRunUnsupported {
            what: described(request),
        });
    };
    options.insert("dryRun".to_owned(), json!(["All"]));
    *request.body_mut() = Body::from(Value::Object(options).to_string().into_bytes());
    let headers = request.headers_mut();
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(())
}

/// The options in the body of a delete; none when they are not JSON.
fn delete_options(body: &Bytes) -> Option<Map<String, Value>> {
    if body.is_empty() {
        return Some(Map::new());
    }
    serde_json::from_slice(body).ok()
}

#[cfg(test)]
mod tests {
    use http::{Method, Request};
    use kube::client::Body;

    use super::{FieldValidation, WriteOptions};
    use crate::client::RequestFilter as _;

    fn all_options() -> WriteOptions {
        WriteOptions {
            dry_run: true,
            field_manager: Some("us and them".to_owned()),
            field_validation: Some(FieldValidation::Strict),
        }
    }

    /// The target and body of a request after the filter, or why it is blocked.
    async fn sent(options: &WriteOptions, line: &str, body: &str) -> String {
        let (method, target) = line.split_once(' ').unwrap();
        let method: Method = method.parse().unwrap();
        let request = Request::builder().method(method).uri(target);
        let mut request = request.body(Body::from(body.as_bytes().to_vec())).unwrap();
        if let Err(blocked) = options.before(&mut request) {
            return blocked.to_string();
        }
        let target = request.uri().to_string();
        let body = request.into_body().collect_bytes().await.unwrap();
        format!("{target} {}", String::from_utf8_lossy(&body))
    }

    #[tokio::test]
    async fn options_are_added_to_a_write_that_does_not_set_them() {
        let pods = "/api/v1/namespaces/web/pods";
        assert_eq!(
            sent(&all_options(), &format!("POST {pods}"), "{}").await,
            format!("{pods}?dryRun=All&fieldManager=us%20and%20them&fieldValidation=Strict {{}}")
        );
        // In the spelling of kube.
        let own = format!("PATCH {pods}/a?&fieldManager=me&fieldValidation=Warn&dryRun=All");
        assert_eq!(
            sent(&all_options(), &own, "{}").await,
            format!("{pods}/a?&fieldManager=me&fieldValidation=Warn&dryRun=All {{}}")
        );
        let forced = format!("PATCH {pods}/a?&force=true");
        let manager = WriteOptions {
            field_manager: Some("us".to_owned()),
            ..WriteOptions::default()
        };
        assert_eq!(
            sent(&manager, &forced, "{}").await,
            format!("{pods}/a?force=true&fieldManager=us {{}}")
        );
    }

    #[tokio::test]
    async fn reads_are_not_changed() {
        for line in ["GET /api/v1/pods?watch=1", "HEAD /api/v1/pods/a"] {
            let (_, target) = line.split_once(' ').unwrap();
            assert_eq!(sent(&all_options(), line, "").await, format!("{target} "));
        }
    }

    #[tokio::test]
    async fn dry_run_of_a_delete_is_set_in_its_body() {
        let line = "DELETE /api/v1/namespaces/web/pods/a";
        let dry = WriteOptions {
            dry_run: true,
            ..WriteOptions::default()
        };
        let path = "/api/v1/namespaces/web/pods/a";
        assert_eq!(
            sent(&dry, line, "").await,
            format!("{path} {{\"dryRun\":[\"All\"]}}")
        );
        let precondition = r#"{"preconditions":{"uid":"7"}}"#;
        let target = sent(&dry, line, precondition).await;
        assert!(target.contains(r#""dryRun":["All"]"#), "{target}");
        assert!(target.contains(r#""uid":"7""#), "{target}");
        let blocked = sent(&dry, line, "k8s\0protobuf").await;
        assert!(blocked.contains("does not support"), "{blocked}");
        // Without dry run the delete is not changed.
        assert_eq!(
            sent(&WriteOptions::default(), line, "").await,
            format!("{path} ")
        );
    }

    #[tokio::test]
    async fn request_without_dry_run_is_blocked() {
        let acts = [
            "POST /api/v1/namespaces/web/pods/a/exec?command=rm",
            "GET /api/v1/namespaces/web/pods/a/exec?command=rm",
            "POST /api/v1/namespaces/web/services/a/proxy/delete-all",
            "POST /debug/flags",
        ];
        for line in acts {
            let blocked = sent(&all_options(), line, "").await;
            assert!(blocked.contains("does not support"), "{line}: {blocked}");
            let (_, target) = line.split_once(' ').unwrap();
            let wet = WriteOptions {
                dry_run: false,
                ..all_options()
            };
            assert_eq!(sent(&wet, line, "").await, format!("{target} "));
        }
    }
}
