use kubewright_testing::Settings;
use kubewright_testing::control_plane::{ControlPlane, Release};
use kubewright_testing::real::{RealCluster, RealOptions};

use super::load::load;
use crate::command::CacheOptions;
use crate::error::Error;
use crate::machine::{Machine, load_average};
use crate::results::{Run, json_lines, summarize};
use crate::subject::{self, Builder, Built, Launch, Subject};
use crate::versions::Versions;
use crate::{output, table};

const NAME: &str = "cache";

/// Builds the subjects, fills an API server, runs the subjects in turn, prints the medians.
///
/// # Cancel safety
///
/// Dropping the future ends the subject under way and the control plane.
pub(crate) async fn run(options: &CacheOptions) -> Result<(), Error> {
    let settings = Settings::from_environment()?;
    let builder = Builder::new(NAME, &settings);
    let mut built = Vec::new();
    for subject in &options.subjects {
        built.push(builder.build(*subject).await?);
    }

    output::note("start a real control plane");
    let control_plane = ControlPlane::locate(Release::current(), &settings).await?;
    let cluster = RealCluster::start(&control_plane, &RealOptions::default()).await?;
    let client = cluster.client().await?;
    let kubeconfig = cluster.kubeconfig();
    let versions = Versions::ask(&client, &settings.go).await?;
    load(&client, options.objects).await?;

    let load_before = load_average();
    let launch = Launch {
        kubeconfig: &kubeconfig,
        objects: options.objects,
        settle: options.settle,
    };
    let runs = alternate(&built, options.runs, launch).await?;
    let summaries = summarize(&runs, options.objects.into())?;
    if options.json {
        return output::result(&json_lines(NAME, &summaries));
    }
    let measured = Measured {
        versions,
        load_before,
        load_after: load_average(),
    };
    let text = report(options, &table::render(&summaries), &measured);
    output::result(&text)
}

/// Each round runs every subject once, so that what changes on the machine meets all of them.
async fn alternate(built: &[Built], rounds: u32, launch: Launch<'_>) -> Result<Vec<Run>, Error> {
    let mut runs = Vec::new();
    for round in 1..=rounds {
        for subject in built {
            let run = subject::run(subject, launch).await?;
            output::note(&progress(round, rounds, &run));
            runs.push(run);
        }
    }
    Ok(runs)
}

fn progress(round: u32, rounds: u32, run: &Run) -> String {
    let costs: Vec<String> = run
        .costs
        .iter()
        .map(|(metric, cost)| format!("{metric} {cost:.2}"))
        .collect();
    format!(
        "run {round} of {rounds}: {}: {}",
        run.subject,
        costs.join(", ")
    )
}

/// What stands below the table.
#[derive(Clone, Debug)]
struct Measured {
    versions: Versions,
    load_before: Option<f64>,
    load_after: Option<f64>,
}

fn report(options: &CacheOptions, table: &str, measured: &Measured) -> String {
    let CacheOptions { objects, runs, .. } = options;
    let load =
        |average: Option<f64>| average.map_or("unknown".to_owned(), |one| format!("{one:.2}"));
    let mut text =
        format!("{NAME}: {objects} Pods, median of {runs} alternating runs\n\n{table}\n");
    if options.subjects.contains(&Subject::ControllerRuntime) {
        text.push_str("ratios: to controller-runtime\n");
    }
    text.push_str(&format!(
        "machine: {}\nload average: {} before the runs, {} after\nversions: {}\n",
        Machine::here(),
        load(measured.load_before),
        load(measured.load_after),
        measured.versions,
    ));
    if *runs < 3 || options.settle < 30.0 {
        text.push_str("note: a result takes at least 3 runs and 30 seconds to settle\n");
    }
    text
}
