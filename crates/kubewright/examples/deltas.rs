//! The changes of each object in order, with the object before and after, as client-go's DeltaFIFO and
//! event handlers have them.

use kubewright::client::{connect, load_config};
use kubewright::controller::resource_of;
use kubewright::kube::Client;
use kubewright::prelude::*;
use kubewright_runtime::informer::{ChangeEvent, InformerSpec, Informers, Notification};
use kubewright_runtime::record::Record;
use tokio::sync::mpsc;

/// Returns the `text` of a ConfigMap.
fn text(record: &Record) -> String {
    let map = record.decode::<ConfigMap>().unwrap_or_default();
    let text = map.data.and_then(|mut data| data.remove("text"));
    text.unwrap_or_default()
}

fn describe(event: &ChangeEvent) -> String {
    let name = event.key.name();
    match (&event.old, &event.new) {
        (None, Some(new)) if event.is_initial => format!("existing {name}: {}", text(new)),
        (None, Some(new)) => format!("added {name}: {}", text(new)),
        (Some(old), Some(new)) => format!("updated {name}: {} to {}", text(old), text(new)),
        (Some(old), None) => format!("deleted {name}: {}", text(old)),
        (None, None) => format!("no object {name}"),
    }
}

/// Sends a line per change of the ConfigMaps in a namespace that have the label `watched`, until the
/// receiver is dropped.
pub(crate) async fn follow(
    client: Client,
    namespace: &str,
    lines: mpsc::Sender<String>,
) -> Result<()> {
    let informers = Informers::new(client, Default::default());
    let informer = informers.get(&InformerSpec {
        namespace: Some(namespace.to_owned()),
        labels: "watched".parse()?,
        ..InformerSpec::all(resource_of::<ConfigMap>())
    });
    let mut deltas = informer.subscribe();
    while let Some(notification) = deltas.next().await {
        let line = match notification {
            Notification::Change(event) => describe(&event),
            Notification::Synced => "synced".to_owned(),
            _ => continue,
        };
        if lines.send(line).await.is_err() {
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
    let (sender, mut lines) = mpsc::channel(16);
    let print = async {
        while let Some(line) = lines.recv().await {
            println!("{line}");
        }
    };
    let (result, ()) = tokio::join!(follow(client, &namespace, sender), print);
    result.map_err(|error| error.to_string().into())
}
