//! Leader election without an operator: the holder of a Lease works, and stops before another candidate
//! can acquire it.

use kubewright::Clock;
use kubewright::client::{connect, load_config};
use kubewright::election::ElectionTimes;
use kubewright::kube::Client;
use kubewright::prelude::*;
use kubewright_runtime::election::{Candidate, Elector, Leadership};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Sends a line when leadership begins and when it ends. Sending fails if the receiver is dropped, which
/// does not matter here.
async fn work(name: &str, leadership: &Leadership, lines: &mpsc::Sender<String>) {
    loop {
        let term = leadership.gained().await;
        lines.send(format!("{name} leads")).await.ok();
        // Use `select!` to end the work of the leader with its term.
        leadership.lost(term).await;
        lines.send(format!("{name} stopped")).await.ok();
    }
}

/// A client, and the clock of its cluster.
pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) clock: Clock,
}

/// Takes part in the election in the client's default namespace until `stop` is cancelled, and then
/// releases the Lease.
pub(crate) async fn run_candidate(
    connection: Connection,
    name: &str,
    lines: mpsc::Sender<String>,
    stop: CancellationToken,
) -> Result<()> {
    let Connection { client, clock } = connection;
    let candidate = Candidate {
        namespace: client.default_namespace().to_owned(),
        lease: "example".to_owned(),
        identity: name.to_owned(),
        times: ElectionTimes::default(),
    };
    let (elector, leadership) = Elector::new(client, clock, candidate)?;
    tokio::select! {
        () = elector.run(stop) => {}
        () = work(name, &leadership, &lines) => {}
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what the example shows")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = connect(load_config(None).await?, "leader-example")?;
    let name = Candidate::identity_on("example");
    let (sender, mut lines) = mpsc::channel(16);
    let stop = CancellationToken::new();
    let print = async {
        while let Some(line) = lines.recv().await {
            println!("{line}");
        }
    };
    let clock = Clock::system();
    let candidate = run_candidate(Connection { client, clock }, &name, sender, stop);
    let (result, ()) = tokio::join!(candidate, print);
    result.map_err(|error| error.to_string().into())
}
