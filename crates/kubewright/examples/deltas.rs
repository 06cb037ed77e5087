//! What has happened to each object, in its order, with the object before and after: what
//! client-go's DeltaFIFO and event handlers tell.

use kubewright::controller::resource_of;
use kubewright::kube::Client;
use kubewright::prelude::*;
use kubewright_runtime::client::{connect, load_config};
use kubewright_runtime::informer::{ChangeEvent, InformerSpec, Informers, Notification};
use kubewright_runtime::record::Record;
use tokio::sync::mpsc;

/// The ConfigMap's `text`.
fn text(record: &Record) -> String {
    let map = record.decode::<ConfigMap>().unwrap_or_default();
    let text = map.data.and_then(|mut data| data.remove("text"));
    text.unwrap_or_default()
}

fn told(event: &ChangeEvent) -> String {
    let name = event.key.name();
    match (&event.old, &event.new) {
        (None, Some(new)) if event.is_initial => format!("there was {name}: {}", text(new)),
        (None, Some(new)) => format!("added {name}: {}", text(new)),
        (Some(old), Some(new)) => format!("updated {name}: {} to {}", text(old), text(new)),
        (Some(old), None) => format!("deleted {name}: {}", text(old)),
        (None, None) => format!("nothing of {name}"),
    }
}

/// Tells of the ConfigMaps of a namespace that carry the label `watched`, until nobody listens.
pub(crate) async fn follow(
    client: Client,
    namespace: &str,
    to: mpsc::Sender<String>,
) -> Result<()> {
    let informers = Informers::new(client, Default::default());
    let informer = informers.get(&InformerSpec {
        namespace: Some(namespace.to_owned()),
        labels: "watched".parse()?,
        ..InformerSpec::all(resource_of::<ConfigMap>())
    });
    let mut deltas = informer.subscribe();
    while let Some(notice) = deltas.next().await {
        let line = match notice {
            Notification::Change(event) => told(&event),
            Notification::Synced => "synced".to_owned(),
            _ => continue,
        };
        if to.send(line).await.is_err() {
            break;
        }
    }
    informers.shutdown().await;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what the example shows")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = connect(load_config(None).await?, "deltas-example")?;
    let namespace = client.default_namespace().to_owned();
    let (to, mut lines) = mpsc::channel(16);
    let tell = async {
        while let Some(line) = lines.recv().await {
            println!("{line}");
        }
    };
    let (followed, ()) = tokio::join!(follow(client, &namespace, to), tell);
    followed.map_err(|one| one.to_string().into())
}
