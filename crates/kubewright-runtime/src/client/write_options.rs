use bytes::Bytes;
use futures_util::FutureExt as _;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Uri};
use kube::Client;
use kube::client::Body;
use kubewright_wire::route::{self, ResourceRoute, Route};
use serde_json::{Map, Value, json};

use super::{Blocked, Guard, Query, guarded};
use crate::Error;

/// What each write of a client asks of the API server, unless the request asks for something else
/// itself; reads are left alone.
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
/// let client = careful.guard(client);
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Goes all the way but stores nothing. What acts in another way than by storing an object (a
    /// command in a container, a proxy) is not sent.
    pub dry_run: bool,
    /// Whose the fields become that are written.
    pub field_manager: Option<String>,
    /// What becomes of fields that the kind does not have; none leaves it to the API server, which
    /// warns.
    pub field_validation: Option<FieldValidation>,
}

/// What becomes of fields that a kind does not have, or that stand twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValidation {
    /// They are dropped without a word.
    Ignore,
    /// They are dropped, and the answer warns of them.
    Warn,
    /// They are an error.
    Strict,
}

impl FieldValidation {
    /// The spelling in a request.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ignore => "Ignore",
            Self::Warn => "Warn",
            Self::Strict => "Strict",
        }
    }
}

impl WriteOptions {
    /// The same client, all of whose writes ask for this.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, as kube's client does.
    pub fn guard(self, client: Client) -> Client {
        guarded(&client, self)
    }

    fn complete(&self, request: &mut Request<Body>) -> Result<(), Error> {
        let present = route::Query::parse(request.uri().query().unwrap_or_default());
        let wanted = [
            ("dryRun", self.dry_run.then_some("All")),
            ("fieldManager", self.field_manager.as_deref()),
            (
                "fieldValidation",
                self.field_validation.map(FieldValidation::as_str),
            ),
        ];
        let missing = wanted
            .into_iter()
            .filter(|(name, _)| present.get(name).is_none())
            .fold(Query::new(), |query, (name, value)| {
                query.with(name, value.unwrap_or_default())
            });
        extend(request, &missing).map_err(|source| Error::InvalidRequest {
            what: what(request),
            source,
        })
    }
}

impl Guard for WriteOptions {
    type Noted = ();

    fn before(&self, request: &mut Request<Body>) -> Result<(), Blocked> {
        let done = match Effect::of(request) {
            Effect::Deletes if self.dry_run => delete_dry(request),
            Effect::Acts if self.dry_run => Err(Error::DryRunUnsupported {
                what: what(request),
            }),
            Effect::Stores => self.complete(request),
            Effect::None | Effect::Deletes | Effect::Acts => Ok(()),
        };
        done.map_err(Blocked::new)
    }
}

/// What a request does beside being answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    None,
    Stores,
    Deletes,
    /// Something that cannot be taken back, and that the API server has no dry run for.
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

/// Subresources that hand the request on (`rest.Connecter` of k8s.io/apiserver).
fn connects(route: &ResourceRoute) -> bool {
    let subresource = route.subresource.as_deref();
    matches!(
        subresource,
        Some("attach" | "exec" | "portforward" | "proxy")
    )
}

fn what(request: &Request<Body>) -> String {
    format!("{} {}", request.method(), request.uri().path())
}

/// The request with further parameters.
fn extend(request: &mut Request<Body>, query: &Query) -> Result<(), http::Error> {
    let query = query.to_string();
    let Some(further) = query.strip_prefix('?') else {
        return Ok(());
    };
    let uri = request.uri();
    let target = match uri.query().unwrap_or_default().trim_matches('&') {
        "" => format!("{}?{further}", uri.path()),
        former => format!("{}?{former}&{further}", uri.path()),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(target.parse()?);
    *request.uri_mut() = Uri::from_parts(parts)?;
    Ok(())
}

/// A delete that has a body is asked for its options there alone, not in the query
/// (k8s.io/apiserver/pkg/endpoints/handlers/delete.go, `DeleteResource`).
fn delete_dry(request: &mut Request<Body>) -> Result<(), Error> {
    let body = std::mem::replace(request.body_mut(), Body::empty());
    // What a client sends is at hand; only a body that is passed on from elsewhere is not.
    let body = body.collect_bytes().now_or_never();
    let options = body.and_then(|bytes| delete_options(&bytes.ok()?));
    let Some(mut options) = options else {
        return Err(Error::DryRunUnsupported {
            what: what(request),
        });
    };
    options.insert("dryRun".to_owned(), json!(["All"]));
    *request.body_mut() = Body::from(Value::Object(options).to_string().into_bytes());
    let headers = request.headers_mut();
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(())
}

/// The options of a delete; none when they are not JSON.
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
    use crate::client::Guard as _;

    fn all() -> WriteOptions {
        WriteOptions {
            dry_run: true,
            field_manager: Some("us and them".to_owned()),
            field_validation: Some(FieldValidation::Strict),
        }
    }

    /// What becomes of a request: its target and body, or why it is not sent.
    async fn sent(options: &WriteOptions, line: &str, body: &str) -> String {
        let (method, target) = line.split_once(' ').unwrap();
        let method: Method = method.parse().unwrap();
        let request = Request::builder().method(method).uri(target);
        let mut request = request.body(Body::from(body.as_bytes().to_vec())).unwrap();
        if let Err(unsent) = options.before(&mut request) {
            return unsent.to_string();
        }
        let target = request.uri().to_string();
        let body = request.into_body().collect_bytes().await.unwrap();
        format!("{target} {}", String::from_utf8_lossy(&body))
    }

    #[tokio::test]
    async fn a_write_asks_for_what_it_does_not_ask_for_itself() {
        let pods = "/api/v1/namespaces/web/pods";
        assert_eq!(
            sent(&all(), &format!("POST {pods}"), "{}").await,
            format!("{pods}?dryRun=All&fieldManager=us%20and%20them&fieldValidation=Strict {{}}")
        );
        // As kube spells it.
        let own = format!("PATCH {pods}/a?&fieldManager=me&fieldValidation=Warn&dryRun=All");
        assert_eq!(
            sent(&all(), &own, "{}").await,
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
    async fn reads_stay_as_they_are() {
        for line in ["GET /api/v1/pods?watch=1", "HEAD /api/v1/pods/a"] {
            let (_, target) = line.split_once(' ').unwrap();
            assert_eq!(sent(&all(), line, "").await, format!("{target} "));
        }
    }

    #[tokio::test]
    async fn a_dry_delete_says_so_in_its_body() {
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
        let asked = sent(&dry, line, precondition).await;
        assert!(asked.contains(r#""dryRun":["All"]"#), "{asked}");
        assert!(asked.contains(r#""uid":"7""#), "{asked}");
        let strange = sent(&dry, line, "k8s\0protobuf").await;
        assert!(strange.contains("cannot be tried"), "{strange}");
        // Whoever does not try deletes.
        assert_eq!(
            sent(&WriteOptions::default(), line, "").await,
            format!("{path} ")
        );
    }

    #[tokio::test]
    async fn what_cannot_be_tried_is_not_sent_dry() {
        let acts = [
            "POST /api/v1/namespaces/web/pods/a/exec?command=rm",
            "GET /api/v1/namespaces/web/pods/a/exec?command=rm",
            "POST /api/v1/namespaces/web/services/a/proxy/delete-all",
            "POST /debug/flags",
        ];
        for line in acts {
            let answer = sent(&all(), line, "").await;
            assert!(answer.contains("cannot be tried"), "{line}: {answer}");
            let (_, target) = line.split_once(' ').unwrap();
            let wet = WriteOptions {
                dry_run: false,
                ..all()
            };
            assert_eq!(sent(&wet, line, "").await, format!("{target} "));
        }
    }
}
