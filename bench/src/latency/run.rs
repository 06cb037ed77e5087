//! Runs the benchmark `latency`.

use std::process::Stdio;
use std::time::Duration;

use kube::Client;
use kubewright_testing::Settings;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio::time::sleep;

use super::config_maps::{clean, create, prepare};
use crate::bound::Bound;
use crate::command::LatencyOptions;
use crate::error::Error;
use crate::program::{Builder, Built};
use crate::readings::Readings;
use crate::rounds::{Rounds, alternate};
use crate::server::ApiServer;

const NAME: &str = "latency";
const PROMISED: [Bound; 2] = [Bound::ratio("p50_ms", 1.0), Bound::value("event_us", 100.0)];
/// The server takes most of the measured time, and its time varies from minute to minute by more
/// than the subjects differ. Many short runs even that out.
const RUNS: u32 = 15;
/// The wait after the start of a subject, until its first requests are over.
const START_DELAY: Duration = Duration::from_secs(1);

/// Builds the subjects, starts an API server, runs the subjects alternately while objects are created
/// and prints the medians.
///
/// # Cancel safety
///
/// Dropping the future ends the running subject and the API server.
pub(crate) async fn run(options: &LatencyOptions) -> Result<(), Error> {
    let settings = Settings::from_environment()?;
    let rounds = &options.rounds.clone().or_runs(RUNS);
    let built = rounds.build(&Builder::new(NAME, &settings)).await?;
    let objects = rounds.size(options.objects, 20);
    let server = ApiServer::start(options.server, &settings).await?;
    let client = server.client().await?;
    prepare(&client).await?;
    let mut measured = Rounds::new(NAME, format!("{objects} creates"), rounds, &PROMISED);
    for round in 1..=rounds.runs() {
        for subject in alternate(round, &built) {
            let kubeconfig = format!("--kubeconfig={}", server.kubeconfig().display());
            let arguments = [kubeconfig, format!("--objects={objects}")];
            let name = format!("{}-{round}", subject.subject);
            let creation = Creation {
                client: &client,
                name: &name,
                objects,
            };
            measured.note(round, measure(subject, &arguments, creation).await?);
        }
    }
    measured.report()
}

/// The objects that are created while a subject runs.
#[derive(Clone, Copy)]
struct Creation<'a> {
    client: &'a Client,
    name: &'a str,
    objects: u32,
}

async fn measure(
    built: &Built,
    arguments: &[String],
    creation: Creation<'_>,
) -> Result<Readings, Error> {
    let spawn_error = |source| Error::Spawn {
        command: built.program.display().to_string(),
        source,
    };
    let mut child = Command::new(&built.program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(spawn_error)?;
    let mut text = String::new();
    if let Some(stdout) = child.stdout.take() {
        let mut lines = BufReader::new(stdout).lines();
        // The first line means that the subject is ready. If it ends before, it has failed.
        if lines.next_line().await.map_err(spawn_error)?.is_some() {
            sleep(START_DELAY).await;
            create(creation.client, creation.name, creation.objects).await?;
        }
        while let Some(line) = lines.next_line().await.map_err(spawn_error)? {
            text.push_str(&line);
            text.push('\n');
        }
    }
    let status = child.wait().await.map_err(spawn_error)?;
    if !status.success() {
        return Err(Error::SubjectFailed {
            subject: built.subject,
            status,
            tail: "its standard error is above".to_owned(),
        });
    }
    clean(creation.client).await?;
    Readings::parse(built.subject, &text)
}
