use kubewright_apiserver::{Server as Embedded, ServerOptions, User};
use kubewright_testing::Settings;
use kubewright_testing::control_plane::{ControlPlane, Release};
use tokio::time::Instant;

use super::measure::{measure, milliseconds};
use super::report::{PROMISED, Runs, hold, json_lines, render};
use super::subject::{Server, Started};
use crate::command::ClusterOptions;
use crate::error::Error;
use crate::machine::{Machine, load_average};
use crate::output;
use crate::subject::Builder;

/// Builds the command, starts each server in turn, measures it, prints the medians.
///
/// # Cancel safety
///
/// Dropping the future ends the server under way.
pub(crate) async fn run(options: &ClusterOptions) -> Result<(), Error> {
    let options = &options.resolved();
    let settings = Settings::from_environment()?;
    let program = Builder::new("cluster", &settings)
        .program("kubewright-cli")
        .await?;
    let programs = ControlPlane::locate(Release::current(), &settings).await?;
    let folder = std::env::temp_dir();
    let before = load_average();
    let (mut real, mut ours) = (Vec::new(), Vec::new());
    for round in 1..=options.runs {
        output::note(&format!("run {round} of {}: kubernetes", options.runs));
        let server = Started::kubernetes(&programs).await?;
        real.push(measure(&server, options).await?);
        drop(server);
        output::note(&format!("run {round} of {}: kubewright", options.runs));
        let first = first_request().await?;
        let server = Started::kubewright(&program, &folder).await?;
        let mut figures = measure(&server, options).await?;
        figures.first_request_ms = Some(first);
        ours.push(figures);
    }
    let runs = vec![(Server::Kubernetes, real), (Server::Kubewright, ours)];
    let text = match options.report.json {
        true => json_lines(&runs),
        false => table(options, &runs, before),
    };
    output::result(&text)?;
    match options.report.hold {
        true => hold(&runs),
        false => Ok(()),
    }
}

fn table(options: &ClusterOptions, runs: &Runs, before: Option<f64>) -> String {
    let promised: Vec<String> = PROMISED.iter().map(ToString::to_string).collect();
    let load = |load: Option<f64>| load.map_or("unknown".to_owned(), |load| format!("{load:.2}"));
    format!(
        "cluster: {} creates, {} Pods, median of {} alternating runs\n\n{}\n\
         ratios: to kubernetes (etcd with --unsafe-no-fsync)\npromised: {}\nmachine: {}\n\
         load average: {} before the runs, {} after\n",
        options.creates,
        options.objects,
        options.runs,
        render(runs),
        promised.join(", "),
        Machine::here(),
        load(before),
        load(load_average()),
    )
}

/// From nothing to the answer of the first request, in this process.
async fn first_request() -> Result<f64, Error> {
    let start = Instant::now();
    let server = Embedded::new(ServerOptions::default());
    let client = kube::Client::new(server.service(User::admin()), "default");
    let request = http::Request::get("/api/v1/namespaces").body(Vec::new());
    let request = request.expect("a constant path is a valid request");
    let answer = client.request_text(request).await;
    answer.map_err(|source| Error::Request {
        path: "/api/v1/namespaces".to_owned(),
        source: Box::new(source),
    })?;
    Ok(milliseconds(start.elapsed()))
}
