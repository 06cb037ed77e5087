//! Requests by path: bytes, typed answers, a stream, and errors as `Status`.

use kubewright::kube::{self, Client};
use kubewright::prelude::*;
use kubewright_runtime::client::{connect, get_json_stream, load_config};
use tokio::time::Instant;

/// What the requests have answered.
#[derive(Debug)]
pub(crate) struct Answers {
    pub(crate) bytes: usize,
    pub(crate) typed: String,
    pub(crate) events: Vec<String>,
    pub(crate) missing: String,
}

/// Makes a ConfigMap in `namespace`, and reads it in four ways.
pub(crate) async fn ask(client: Client, namespace: &str) -> Result<Answers> {
    let collection = format!("/api/v1/namespaces/{namespace}/configmaps");
    let body = serde_json::json!({"metadata": {"name": "letter"}, "data": {"text": "hello"}});
    let post = http::Request::post(format!("{collection}?fieldManager=example"))
        .header("content-type", "application/json")
        .body(body.to_string().into_bytes())?;
    let made: ConfigMap = client.request(post).await?;
    let path = format!("{collection}/letter");
    let bytes = client.request_text(http::Request::get(&path).body(Vec::new())?);
    let bytes = bytes.await?.len();
    let typed: ConfigMap = client
        .request(http::Request::get(&path).body(Vec::new())?)
        .await?;
    // A watch is a stream of lines; the first tells of what is there.
    let minute = Duration::from_secs(60);
    let watch = format!("{collection}?watch=1&fieldSelector=metadata.name%3Dletter");
    let mut stream = get_json_stream(&client, "watch letters", &watch, minute).await?;
    let first = stream
        .chunk(Instant::now() + minute)
        .await?
        .unwrap_or_default();
    let first: serde_json::Value = serde_json::from_slice(&first)?;
    let missing = client.request::<ConfigMap>(
        http::Request::get(format!("{collection}/nothing")).body(Vec::new())?,
    );
    let missing = match missing.await {
        Err(kube::Error::Api(status)) => format!("{} {}", status.code, status.reason),
        other => format!("{other:?}"),
    };
    Ok(Answers {
        bytes,
        typed: typed.data.unwrap_or_default()["text"].clone(),
        events: vec![format!("{} {}", first["type"], made.name_any())],
        missing,
    })
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what the example shows")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = connect(load_config(None).await?, "rest-client-example")?;
    let namespace = client.default_namespace().to_owned();
    let answers = ask(client, &namespace).await;
    let answers = answers.map_err(|one| one.to_string())?;
    println!("{} bytes, which say {}", answers.bytes, answers.typed);
    println!("watched: {}", answers.events.join(", "));
    println!("what is not there: {}", answers.missing);
    Ok(())
}
