//! An external source: an HTTP request to `/NAMESPACE/NAME` enqueues a bell.

use std::collections::HashMap;
use std::io;
use std::process::ExitCode;

use kubewright::controller::sources;
use kubewright::prelude::*;
use kubewright::{ObjectKey, TaskContext};
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc::Sender;

/// A bell that counts its rings.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "examples.kubewright.dev", version = "v1", kind = "Bell")]
#[kube(namespaced, status = "BellStatus")]
pub(crate) struct BellSpec {}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct BellStatus {
    pub(crate) rings: u32,
}

type Rings = Mutex<HashMap<ObjectKey, u32>>;

async fn reconcile(rings: Arc<Rings>, _: Arc<Bell>, cx: Context<Bell>) -> Result<Outcome> {
    let count = rings.lock().get(cx.key()).copied().unwrap_or_default();
    cx.status(|status| status.rings = count).await?;
    Ok(Outcome::done())
}

/// Serves one request after the other.
async fn serve(address: String, rings: Arc<Rings>, bell: Sender<ObjectKey>) -> Result<()> {
    let listener = TcpListener::bind(address).await?;
    loop {
        let (mut stream, _) = listener.accept().await?;
        let mut request = [0; 1024];
        let read = stream.read(&mut request).await?;
        let text = String::from_utf8_lossy(request.get(..read).unwrap_or_default()).into_owned();
        let path = text
            .split(' ')
            .nth(1)
            .and_then(|path| path.strip_prefix('/'));
        let status = match path.and_then(|path| path.split_once('/')) {
            Some((namespace, name)) => {
                let key = ObjectKey::namespaced(namespace, name);
                *rings.lock().entry(key.clone()).or_default() += 1;
                bell.send(key).await.map_err(io::Error::other)?;
                "202 Accepted"
            }
            None => "404 Not Found",
        };
        let response =
            format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        stream.write_all(response.as_bytes()).await?;
    }
}

pub(crate) fn operator(address: &str) -> Operator {
    let address = address.to_owned();
    let rings = Arc::new(Rings::default());
    let (bell, keys) = sources::channel(16);
    let controller = Controller::with(Arc::clone(&rings), reconcile);
    Operator::new("bells")
        .controller(controller.source("web", keys, enqueue::itself()))
        .task("web", move |cx: TaskContext| {
            let serve = serve(address.clone(), Arc::clone(&rings), bell.clone());
            async move {
                tokio::select! {
                    () = cx.stopping() => Ok(()),
                    result = serve => result,
                }
            }
        })
}

fn main() -> ExitCode {
    operator("127.0.0.1:8080").main()
}
