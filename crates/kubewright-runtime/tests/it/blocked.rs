//! The errors of requests that a layer of the client blocks.

use std::error::Error as _;

use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use kubewright_runtime::client::Blocked;
use kubewright_runtime::informer::{InformerOptions, Informers};
use kubewright_runtime::write::{Target, Writer};
use tower::BoxError;

use crate::scripted_server::{key, pods};

/// A client whose layer fails each request.
fn failing(error: fn() -> BoxError) -> Client {
    let service = tower::service_fn(move |_: Request<Body>| async move {
        Err::<Response<Body>, BoxError>(error())
    });
    Client::new(service, "default")
}

/// The errors of a delete and of a list, each with its first cause.
async fn errors(client: Client) -> [(String, String); 2] {
    let resource = pods().resource;
    let target = Target {
        resource: &resource,
        store: None,
    };
    let writer = Writer::new(client.clone(), "us");
    let deleted = writer.delete(target, &key("a"), "1").await;
    let written = deleted.expect_err("nothing is sent");
    let informers = Informers::new(client, InformerOptions::default());
    let informer = informers.get(&pods());
    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    let read = informer.last_error().expect("nothing is sent");
    let cause = |cause: Option<&(dyn std::error::Error + 'static)>| {
        cause.map(ToString::to_string).unwrap_or_default()
    };
    [
        (written.to_string(), cause(written.source())),
        (read.to_string(), cause(read.source())),
    ]
}

#[tokio::test(start_paused = true)]
async fn blocked_request_is_not_reported_as_a_missing_response() {
    let [written, read] = errors(failing(|| Blocked::new("not granted").into())).await;
    assert_eq!(written.0, "delete pods shop/a: the request was not sent");
    assert_eq!(written.1, "not granted");
    assert_eq!(
        read.0,
        "stream pods: the request was not sent; trying again"
    );
    assert_eq!(read.1, "not granted");
}

#[derive(Debug, thiserror::Error)]
#[error("a layer around it failed")]
struct Around(#[source] Blocked);

#[tokio::test(start_paused = true)]
async fn blocked_request_is_recognized_through_further_layers() {
    let [written, read] = errors(failing(|| Around(Blocked::new("not granted")).into())).await;
    assert_eq!(written.0, "delete pods shop/a: the request was not sent");
    assert_eq!(
        read.0,
        "stream pods: the request was not sent; trying again"
    );
    assert_eq!(read.1, "a layer around it failed");
}

#[tokio::test(start_paused = true)]
async fn other_errors_of_the_client_are_missing_responses() {
    let [written, read] = errors(failing(|| "connection refused".into())).await;
    assert_eq!(
        written.0,
        "delete pods shop/a: no response from the API server"
    );
    assert_eq!(
        read.0,
        "stream pods: no response from the API server; trying again"
    );
}
