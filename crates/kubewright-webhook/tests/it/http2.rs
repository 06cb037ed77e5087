//! Reviews over HTTP/2.

use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{join, join3};
use http::{Request, Version};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use kubewright_webhook::ServeOptions;
use serde_json::{Value, json};

use crate::client::connect;
use crate::serving::{TestServer, start_with};

async fn start() -> TestServer {
    start_with(ServeOptions {
        http2: true,
        ..ServeOptions::default()
    })
    .await
}

fn request(name: &str) -> Request<Full<Bytes>> {
    let review = json!({"request": {"uid": "u", "name": name, "operation": "CREATE"}}).to_string();
    Request::post("https://localhost/admit")
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(review)))
        .expect("a request")
}

/// Sends two admission requests at once over one connection.
async fn admit(server: &TestServer, names: [&str; 2]) -> [Value; 2] {
    let stream = connect(&server.connector, &server.authority, &["h2", "http/1.1"])
        .await
        .expect("a connection");
    let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .expect("HTTP/2");
    let exchanges = names.map(|name| {
        let mut sender = sender.clone();
        async move {
            let response = sender
                .send_request(request(name))
                .await
                .expect("a response");
            assert_eq!(response.version(), Version::HTTP_2);
            let body = response.into_body().collect().await.expect("a body");
            let review: Value = serde_json::from_slice(&body.to_bytes()).expect("a review");
            review["response"].clone()
        }
    });
    // The connection is closed with its last sender.
    drop(sender);
    let [first, second] = exchanges;
    let (first_response, second_response, _) = join3(first, second, connection).await;
    [first_response, second_response]
}

#[tokio::test(start_paused = true)]
async fn protocol_is_negotiated_between_http2_and_http1() {
    let server = start().await;
    let [fine, panicked] = admit(&server, ["fine", "panics"]).await;
    assert_eq!(fine, json!({"uid": "u", "allowed": true}));
    assert_eq!(panicked["status"]["code"], 500);
    assert_eq!(server.admit("fine").await["allowed"], true);
}

#[tokio::test(start_paused = true)]
async fn http2_requests_in_flight_complete_before_the_server_stops() {
    let mut server = start().await;
    let stop = server.stop.clone();
    let stopped = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        stop.cancel();
    };
    let ([slow, fine], ()) = join(admit(&server, ["slow", "fine"]), stopped).await;
    assert_eq!(
        slow["status"]["message"],
        "Internal error occurred: the webhook's function did not finish in time"
    );
    assert_eq!(fine["allowed"], true);
    while let Some(ended) = server.tasks.join_next().await {
        ended.expect("it ended well");
    }
}
