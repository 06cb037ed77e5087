//! Runs the benchmark `rest`.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use kube::Client;
use kubewright_testing::Settings;
use kubewright_testing::real::Components;
use tokio::process::{Child, Command};
use tokio::time::sleep;

use super::workload::{clean, prepare, roll_out};
use crate::bound::Bound;
use crate::command::RestOptions;
use crate::error::Error;
use crate::process::{processor_time, resident_mb};
use crate::program::{Builder, Built};
use crate::readings::Readings;
use crate::rounds::{Rounds, alternate};
use crate::server::ApiServer;
use crate::subject::Subject;
use crate::webhook::{Identity, free_port};

const NAME: &str = "rest";
const NODES: usize = 3;
const PROMISED: [Bound; 1] = [Bound::value("settled_mb", 12.0)];

/// Builds the operators, starts a control plane with nodes, runs the operators alternately and prints
/// the medians.
///
/// # Cancel safety
///
/// Dropping the future ends the running operator and the control plane.
pub(crate) async fn run(options: &RestOptions) -> Result<(), Error> {
    let settings = Settings::from_environment()?;
    let rounds = &options.rounds;
    let builder = Builder::new("mydaemonset", &settings);
    let ours = builder.operator(Subject::Kubewright).await?;
    let mut built = Vec::new();
    for subject in &rounds.subjects {
        built.push(builder.operator(*subject).await?);
    }
    let server = ApiServer::real(Components::Nodes, &settings).await?;
    let client = server.client().await?;
    prepare(&client, &ours.program, NODES).await?;
    let identity = Identity::new()?;
    let settle = Duration::from_secs(rounds.size(options.settle, 2));
    let title = format!("MyDaemonSet on {NODES} nodes, {settle:?} idle");
    let mut measured = Rounds::new(NAME, title, rounds, &PROMISED);
    for round in 1..=rounds.runs() {
        for subject in alternate(round, &built) {
            let operator = start(subject, &server.kubeconfig(), &identity)?;
            measured.note(round, measure(subject, operator, &client, settle).await?);
        }
    }
    measured.report()
}

/// Starts an operator with its webhook. All other options have their defaults.
fn start(built: &Built, kubeconfig: &Path, identity: &Identity) -> Result<Child, Error> {
    let failed = |source| Error::Spawn {
        command: built.program.display().to_string(),
        source,
    };
    let port = free_port().map_err(failed)?;
    let listen = match built.subject {
        Subject::Kubewright => format!("--webhook-address=127.0.0.1:{port}"),
        _ => format!("--webhook-port={port}"),
    };
    Command::new(&built.program)
        .arg(format!("--kubeconfig={}", kubeconfig.display()))
        .arg(format!("--webhook-certs={}", identity.folder().display()))
        .arg(listen)
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
        return Err(Error::WaitTimeout {
            condition: format!("{} to be idle: the process has ended", built.subject),
            timeout: settle,
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
