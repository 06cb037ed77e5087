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
use crate::serving::{World, world_with};

async fn world() -> World {
    world_with(ServeOptions {
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

/// Asks two questions at once over one connection.
async fn ask(world: &World, names: [&str; 2]) -> [Value; 2] {
    let stream = connect(&world.connector, &world.authority, &["h2", "http/1.1"]).await;
    let stream = TokioIo::new(stream.expect("a connection"));
    let (sender, connection) = http2::handshake(TokioExecutor::new(), stream)
        .await
        .expect("HTTP/2");
    let asked = names.map(|name| {
        let mut sender = sender.clone();
        async move {
            let response = sender.send_request(request(name)).await;
            let response = response.expect("an answer");
            assert_eq!(response.version(), Version::HTTP_2);
            let body = response.into_body().collect().await.expect("a body");
            let review: Value = serde_json::from_slice(&body.to_bytes()).expect("a review");
            review["response"].clone()
        }
    });
    // The connection ends with the last of those that can send.
    drop(sender);
    let [first, second] = asked;
    let (first, second, _) = join3(first, second, connection).await;
    [first, second]
}

#[tokio::test(start_paused = true)]
async fn http2_is_spoken_with_who_chooses_it_and_http1_with_others() {
    let world = world().await;
    let [fine, panicked] = ask(&world, ["fine", "panics"]).await;
    assert_eq!(fine, json!({"uid": "u", "allowed": true}));
    assert_eq!(panicked["status"]["code"], 500);
    assert_eq!(world.admit("fine").await["allowed"], true);
}

#[tokio::test(start_paused = true)]
async fn questions_under_way_over_http2_are_answered_before_the_server_ends() {
    let mut world = world().await;
    let stop = world.stop.clone();
    let stopped = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        stop.cancel();
    };
    let ([slow, fine], ()) = join(ask(&world, ["slow", "fine"]), stopped).await;
    assert_eq!(
        slow["status"]["message"],
        "Internal error occurred: the webhook's function did not finish in time"
    );
    assert_eq!(fine["allowed"], true);
    while let Some(ended) = world.tasks.join_next().await {
        ended.expect("it ended well");
    }
}
