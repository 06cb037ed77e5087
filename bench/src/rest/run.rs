use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use kube::Client;
use kubewright_testing::Settings;
use kubewright_testing::real::Parts;
use tokio::process::{Child, Command};
use tokio::time::sleep;

use super::objects::{clean, prepare, roll_out};
use crate::command::RestOptions;
use crate::error::Error;
use crate::process::{processor_time, resident_mb};
use crate::reading::{Bound, Readings};
use crate::rounds::{Rounds, in_turn};
use crate::server::Server;
use crate::subject::{Builder, Built, Subject};
use crate::webhook::{Identity, free_port};

const NAME: &str = "rest";
const NODES: usize = 3;
const PROMISED: [Bound; 1] = [Bound::value("settled_mb", 12.0)];

/// Builds the operators, starts a control plane with nodes, lets each operator roll out in turn.
///
/// # Cancel safety
///
/// Dropping the future ends the operator under way and the control plane.
pub(crate) async fn run(options: &RestOptions) -> Result<(), Error> {
    let settings = Settings::from_environment()?;
    let rounds = &options.rounds;
    let builder = Builder::new("mydaemonset", &settings);
    let ours = builder.operator(Subject::Kubewright).await?;
    let mut built = Vec::new();
    for subject in &rounds.subjects {
        built.push(builder.operator(*subject).await?);
    }
    let server = Server::real(Parts::Nodes, &settings).await?;
    let client = server.client().await?;
    prepare(&client, &ours.program, NODES).await?;
    let identity = Identity::new()?;
    let settle = Duration::from_secs(rounds.size(options.settle, 2));
    let title = format!("MyDaemonSet on {NODES} nodes, {settle:?} at rest");
    let mut measured = Rounds::new(NAME, title, rounds, &PROMISED);
    for round in 1..=rounds.runs() {
        for subject in in_turn(round, &built) {
            let operator = start(subject, &server.kubeconfig(), &identity)?;
            measured.note(round, measure(subject, operator, &client, settle).await?);
        }
    }
    measured.report()
}

/// Each operator with its webhook served, and everything else at its default.
fn start(built: &Built, kubeconfig: &Path, identity: &Identity) -> Result<Child, Error> {
    let failed = |source| Error::Spawn {
        command: built.program.display().to_string(),
        source,
    };
    let port = free_port().map_err(failed)?;
    let port = match built.subject {
        Subject::Kubewright => format!("--webhook-address=127.0.0.1:{port}"),
        _ => format!("--webhook-port={port}"),
    };
    Command::new(&built.program)
        .arg(format!("--kubeconfig={}", kubeconfig.display()))
        .arg(format!("--webhook-certs={}", identity.folder().display()))
        .arg(port)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)
}

async fn measure(
    built: &Built,
    operator: Child,
    client: &Client,
    settle: Duration,
) -> Result<Readings, Error> {
    roll_out(client, NODES).await?;
    let processes: Vec<u32> = operator.id().into_iter().collect();
    let before = processor_time(&processes);
    sleep(settle).await;
    let used = processor_time(&processes).saturating_sub(before);
    let settled = resident_mb(&processes);
    if settled <= 0.0 {
        return Err(Error::Late {
            what: format!("{} to be at rest: it has ended", built.subject),
            limit: settle,
        });
    }
    clean(client).await?;
    drop(operator);
    let values = [
        ("settled_mb".to_owned(), settled),
        (
            "cpu_ms_per_s".to_owned(),
            used.as_secs_f64() * 1e3 / settle.as_secs_f64(),
        ),
    ];
    Ok(Readings {
        subject: built.subject,
        values: values.into(),
    })
}
