//! The lowest rung: a reflector lists and watches, and tells what it reads as ordered deltas.

use kubewright::controller::resource_of;
use kubewright::kube::Client;
use kubewright::prelude::*;
use kubewright_runtime::client::{connect, load_config};
use kubewright_runtime::record::Record;
use kubewright_runtime::reflector::{InformerSpec, Reflector, ReflectorOptions, Sink};
use kubewright_runtime::store::Delta;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Tells each delta as a line; lines that nobody takes are dropped, for no call may wait.
#[derive(Debug)]
struct Teller(mpsc::Sender<String>);

impl Teller {
    fn tell(&self, line: String) {
        self.0.try_send(line).unwrap_or_default();
    }
}

impl Sink for Teller {
    fn held(&self, _: &Record) -> Option<Record> {
        None
    }

    fn replace(&mut self, list: Vec<Record>, _: &str) {
        let mut names: Vec<_> = list.iter().map(|one| one.key().to_string()).collect();
        names.sort();
        self.tell(format!("replaced {}", names.join(",")));
    }

    fn kind_removed(&mut self) {
        self.tell("withdrawn".to_owned());
    }

    fn apply(&mut self, deltas: Vec<Delta>) {
        for delta in deltas {
            match delta {
                Delta::Applied(record) => self.tell(format!("present {}", record.key())),
                Delta::Deleted(record) => self.tell(format!("gone {}", record.key())),
                _ => {}
            }
        }
    }

    fn skipped(&mut self, objects: u64, _: Arc<kubewright_runtime::Error>) {
        self.tell(format!("skipped {objects}"));
    }

    fn failed(&mut self, error: Arc<kubewright_runtime::Error>) {
        self.tell(format!("failed: {error}"));
    }
}

/// Follows the ConfigMaps of a namespace that carry the label `watched`, until `stop`.
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
    reflector.run(&mut Teller(lines), &stop).await;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what the example shows")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = connect(load_config(None).await?, "reflector-example")?;
    let namespace = client.default_namespace().to_owned();
    let (sender, mut lines) = mpsc::channel(64);
    let followed = follow(client, &namespace, sender, CancellationToken::new());
    let told = async {
        while let Some(line) = lines.recv().await {
            println!("{line}");
        }
    };
    let (followed, ()) = tokio::join!(followed, told);
    followed.map_err(|failure| failure.to_string().into())
}
