use std::process::Stdio;
use std::time::Duration;

use kube::Client;
use kubewright_testing::Settings;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio::time::sleep;

use super::create::{clean, create, prepare};
use crate::command::LatencyOptions;
use crate::error::Error;
use crate::reading::{Bound, Readings};
use crate::rounds::{Rounds, in_turn};
use crate::server::Server;
use crate::subject::{Builder, Built};

const NAME: &str = "latency";
const PROMISED: [Bound; 2] = [Bound::ratio("p50_ms", 1.0), Bound::value("event_us", 100.0)];
/// Of the time that is compared nearly all is the server's, which varies by more than the subjects
/// differ, and from one minute to the next: many short runs.
const RUNS: u32 = 15;
/// Until what a start causes is over.
const CALM: Duration = Duration::from_secs(1);

/// Builds the subjects, starts an API server, creates objects while each subject runs in turn.
///
/// # Cancel safety
///
/// Dropping the future ends the subject under way and the API server.
pub(crate) async fn run(options: &LatencyOptions) -> Result<(), Error> {
    let settings = Settings::from_environment()?;
    let rounds = &options.rounds.clone().usually(RUNS);
    let built = rounds.build(&Builder::new(NAME, &settings)).await?;
    let objects = rounds.size(options.objects, 20);
    let server = Server::start(options.server, &settings).await?;
    let client = server.client().await?;
    prepare(&client).await?;
    let mut measured = Rounds::new(NAME, format!("{objects} creates"), rounds, &PROMISED);
    for round in 1..=rounds.runs() {
        for subject in in_turn(round, &built) {
            let kubeconfig = format!("--kubeconfig={}", server.kubeconfig().display());
            let arguments = [kubeconfig, format!("--objects={objects}")];
            let name = format!("{}-{round}", subject.subject);
            let creating = Creating {
                client: &client,
                name: &name,
                objects,
            };
            measured.note(round, measure(subject, &arguments, creating).await?);
        }
    }
    measured.report()
}

/// What is created while a subject runs.
#[derive(Clone, Copy)]
struct Creating<'a> {
    client: &'a Client,
    name: &'a str,
    objects: u32,
}

async fn measure(
    built: &Built,
    arguments: &[String],
    creating: Creating<'_>,
) -> Result<Readings, Error> {
    let failed = |source| Error::Spawn {
        command: built.program.display().to_string(),
        source,
    };
    let mut child = Command::new(&built.program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    let mut text = String::new();
    if let Some(stdout) = child.stdout.take() {
        let mut lines = BufReader::new(stdout).lines();
        // The first line says that the subject is ready; one that ends early says why at the end.
        if lines.next_line().await.map_err(failed)?.is_some() {
            sleep(CALM).await;
            create(creating.client, creating.name, creating.objects).await?;
        }
        while let Some(line) = lines.next_line().await.map_err(failed)? {
            text.push_str(&line);
            text.push('\n');
        }
    }
    let status = child.wait().await.map_err(failed)?;
    if !status.success() {
        return Err(Error::SubjectFailed {
            subject: built.subject,
            status,
            tail: "what it said stands above".to_owned(),
        });
    }
    clean(creating.client).await?;
    Readings::parse(built.subject, &text)
}
