//! A reflector, the lowest level: it lists and watches, and returns ordered deltas.

use kubewright::client::{connect, load_config};
use kubewright::controller::resource_of;
use kubewright::kube::Client;
use kubewright::prelude::*;
use kubewright_runtime::record::Record;
use kubewright_runtime::reflector::{InformerSpec, Reflector, ReflectorOptions, Sink};
use kubewright_runtime::store::Delta;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Sends each delta as a line.
#[derive(Debug)]
struct LineSink(mpsc::Sender<String>);

impl LineSink {
    /// Sends a line, or drops it if the channel is full: a sink must not wait.
    fn send(&self, line: String) {
        self.0.try_send(line).ok();
    }
}

impl Sink for LineSink {
    fn held(&self, _: &Record) -> Option<Record> {
        None
    }

    fn replace(&mut self, list: Vec<Record>, _: &str) {
        let mut names: Vec<_> = list.iter().map(|record| record.key().to_string()).collect();
        names.sort();
        self.send(format!("replaced {}", names.join(",")));
    }

    fn kind_removed(&mut self) {
        self.send("kind removed".to_owned());
    }

    fn apply(&mut self, deltas: Vec<Delta>) {
        for delta in deltas {
            match delta {
                Delta::Applied(record) => self.send(format!("applied {}", record.key())),
                Delta::Deleted(record) => self.send(format!("deleted {}", record.key())),
                _ => {}
            }
        }
    }

    fn skipped(&mut self, objects: u64, _: Arc<kubewright_runtime::Error>) {
        self.send(format!("skipped {objects}"));
    }

    fn failed(&mut self, error: Arc<kubewright_runtime::Error>) {
        self.send(format!("failed: {error}"));
    }
}

/// Follows the ConfigMaps of a namespace that have the label `watched`, until `stop` is cancelled.
pub(crate) async fn follow(
    client: Client,
    namespace: &str,
    lines: mpsc::Sender<String>,
    stop: CancellationToken,
) -> Result<()> {
    let spec = InformerSpec {
        namespace: Some(namespace.to_owned()),
        labels: "watched".parse()?,
        ..InformerSpec::all(resource_of::<ConfigMap>())
    };
    let reflector = Reflector::new(client, spec, ReflectorOptions::default());
    reflector.run(&mut LineSink(lines), &stop).await;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what the example shows")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = connect(load_config(None).await?, "reflector-example")?;
    let namespace = client.default_namespace().to_owned();
    let (sender, mut lines) = mpsc::channel(64);
    let follow = follow(client, &namespace, sender, CancellationToken::new());
    let print = async {
        while let Some(line) = lines.recv().await {
            println!("{line}");
        }
    };
    let (result, ()) = tokio::join!(follow, print);
    result.map_err(|error| error.to_string().into())
}
