//! Runs the benchmark `cluster`.

use kubewright_apiserver::{Server, ServerOptions, User};
use kubewright_testing::Settings;
use kubewright_testing::control_plane::{ControlPlane, Release};
use tokio::time::Instant;

use super::measure::{measure, milliseconds};
use super::report::{PROMISED, ServerRuns, check, json_lines, render};
use super::running_server::{Implementation, RunningServer};
use crate::command::ClusterOptions;
use crate::error::Error;
use crate::machine::{LoadAverage, Machine};
use crate::output;
use crate::program::Builder;

/// Builds the command, starts and measures the servers alternately and prints the medians.
///
/// # Cancel safety
///
/// Dropping the future stops the running server.
pub(crate) async fn run(options: &ClusterOptions) -> Result<(), Error> {
    let options = &options.resolved();
    let settings = Settings::from_environment()?;
    let program = Builder::new("cluster", &settings)
        .program("kubewright-cli")
        .await?;
    let programs = ControlPlane::locate(Release::current(), &settings).await?;
    let folder = std::env::temp_dir();
    let load_before = LoadAverage::current();
    let (mut real, mut embedded) = (Vec::new(), Vec::new());
    for round in 1..=options.runs {
        output::note(&format!("run {round} of {}: kubernetes", options.runs));
        let server = RunningServer::kubernetes(&programs).await?;
        real.push(measure(&server, options).await?);
        drop(server);
        output::note(&format!("run {round} of {}: kubewright", options.runs));
        let first = first_request().await?;
        let server = RunningServer::kubewright(&program, &folder).await?;
        let mut figures = measure(&server, options).await?;
        figures.first_request_ms = Some(first);
        embedded.push(figures);
    }
    let servers = [
        ServerRuns {
            server: Implementation::Kubernetes,
            figures: real,
        },
        ServerRuns {
            server: Implementation::Kubewright,
            figures: embedded,
        },
    ];
    let text = if options.report.json {
        json_lines(&servers)
    } else {
        table(options, &servers, load_before)
    };
    output::result(&text)?;
    if options.report.hold {
        check(&servers)?;
    }
    Ok(())
}

fn table(options: &ClusterOptions, servers: &[ServerRuns], load_before: LoadAverage) -> String {
    let promised: Vec<String> = PROMISED.iter().map(ToString::to_string).collect();
    format!(
        "cluster: {} creates, {} Pods, median of {} alternating runs\n\n{}\n\
         ratios: relative to kubernetes (etcd with --unsafe-no-fsync)\npromised: {}\nmachine: {}\n\
         load average: {} before the runs, {} after\n",
        options.creates,
        options.objects,
        options.runs,
        render(servers),
        promised.join(", "),
        Machine::current(),
        load_before,
        LoadAverage::current(),
    )
}

/// Returns the time from the creation of a server in this process to its first response.
async fn first_request() -> Result<f64, Error> {
    let start = Instant::now();
    let server = Server::new(ServerOptions::default());
    let client = kube::Client::new(server.service(User::admin()), "default");
    let path = "/api/v1/namespaces";
    let request = http::Request::get(path)
        .body(Vec::new())
        .expect("a constant path is a valid request");
    client
        .request_text(request)
        .await
        .map_err(|source| Error::Request {
            path: path.to_owned(),
            source: Box::new(source),
        })?;
    Ok(milliseconds(start.elapsed()))
}
