//! Leader election alone, without an operator: who holds a Lease works, and stops before another
//! can have it.

use kubewright::Clock;
use kubewright::election::ElectionTimes;
use kubewright::kube::Client;
use kubewright::prelude::*;
use kubewright_runtime::client::{connect, load_config};
use kubewright_runtime::election::{Candidate, Elector, Leadership};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Says when it leads and when it no longer does.
async fn work(name: &str, leadership: &Leadership, to: &mpsc::Sender<String>) {
    loop {
        let term = leadership.gained().await;
        to.send(format!("{name} leads")).await.unwrap_or_default();
        // What is done meanwhile ends with the term: `select!` on this one.
        leadership.lost(term).await;
        to.send(format!("{name} stopped")).await.unwrap_or_default();
    }
}

/// Stands for election until `stop`, and then gives the Lease back.
pub(crate) async fn stand(
    (client, clock): (Client, Clock),
    namespace: &str,
    name: &str,
    to: mpsc::Sender<String>,
    stop: CancellationToken,
) -> Result<()> {
    let candidate = Candidate {
        namespace: namespace.to_owned(),
        lease: "example".to_owned(),
        identity: name.to_owned(),
        times: ElectionTimes::default(),
    };
    let (elector, leadership) = Elector::new(client, clock, candidate)?;
    tokio::select! {
        () = elector.run(stop) => {}
        () = work(name, &leadership, &to) => {}
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what the example shows")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = connect(load_config(None).await?, "leader-example")?;
    let namespace = client.default_namespace().to_owned();
    let name = Candidate::identity_on("example");
    let (to, mut lines) = mpsc::channel(16);
    let stop = CancellationToken::new();
    let tell = async {
        while let Some(line) = lines.recv().await {
            println!("{line}");
        }
    };
    let standing = stand((client, Clock::system()), &namespace, &name, to, stop);
    let (stood, ()) = tokio::join!(standing, tell);
    stood.map_err(|one| one.to_string().into())
}
