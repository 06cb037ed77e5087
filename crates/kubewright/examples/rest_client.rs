//! Requests by path: bytes, typed responses, a stream, and errors as `Status`.

use kubewright::client::{connect, get_json_stream, load_config};
use kubewright::kube::{self, Client};
use kubewright::prelude::*;
use tokio::time::Instant;

/// The responses of the requests.
#[derive(Debug)]
pub(crate) struct Responses {
    pub(crate) bytes: usize,
    pub(crate) typed: String,
    pub(crate) events: Vec<String>,
    pub(crate) missing: String,
}

/// Creates a ConfigMap in `namespace`, and reads it in four ways.
pub(crate) async fn send_requests(client: Client, namespace: &str) -> Result<Responses> {
    let collection = format!("/api/v1/namespaces/{namespace}/configmaps");
    let body = serde_json::json!({"metadata": {"name": "letter"}, "data": {"text": "hello"}});
    let post = http::Request::post(format!("{collection}?fieldManager=example"))
        .header("content-type", "application/json")
        .body(body.to_string().into_bytes())?;
    let created: ConfigMap = client.request(post).await?;
    let path = format!("{collection}/letter");
    let text = client
        .request_text(http::Request::get(&path).body(Vec::new())?)
        .await?;
    let typed: ConfigMap = client
        .request(http::Request::get(&path).body(Vec::new())?)
        .await?;
    // A watch is a stream of lines; the first has the existing object.
    let minute = Duration::from_secs(60);
    let watch = format!("{collection}?watch=1&fieldSelector=metadata.name%3Dletter");
    let mut stream = get_json_stream(&client, "watch letters", &watch, minute).await?;
    let line = stream
        .chunk(Instant::now() + minute)
        .await?
        .unwrap_or_default();
    let event: serde_json::Value = serde_json::from_slice(&line)?;
    let request = http::Request::get(format!("{collection}/nothing")).body(Vec::new())?;
    let missing = match client.request::<ConfigMap>(request).await {
        Err(kube::Error::Api(status)) => format!("{} {}", status.code, status.reason),
        other => format!("{other:?}"),
    };
    Ok(Responses {
        bytes: text.len(),
        typed: typed.data.unwrap_or_default()["text"].clone(),
        events: vec![format!("{} {}", event["type"], created.name_any())],
        missing,
    })
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what the example shows")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = connect(load_config(None).await?, "rest-client-example")?;
    let namespace = client.default_namespace().to_owned();
    let responses = send_requests(client, &namespace)
        .await
        .map_err(|error| error.to_string())?;
    println!("{} bytes with {}", responses.bytes, responses.typed);
    println!("watched: {}", responses.events.join(", "));
    println!("missing: {}", responses.missing);
    Ok(())
}
