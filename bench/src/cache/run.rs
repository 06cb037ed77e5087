use kubewright_testing::Settings;

use super::load::load;
use crate::command::CacheOptions;
use crate::error::Error;
use crate::machine::{Machine, load_average};
use crate::reading::{Bound, Readings, hold};
use crate::results::{Run, Summary, json_lines, summarize, with_growth};
use crate::server::Server;
use crate::subject::{self, Builder, Built, Launch, Subject};
use crate::versions::Versions;
use crate::{output, table};

const NAME: &str = "cache";
const PROMISED: [Bound; 7] = [
    Bound::ratio("seconds", 0.9),
    Bound::ratio("settled_mb", 0.25),
    Bound::ratio("peak_mb", 0.3),
    Bound::ratio("settled_mb", 0.1).of(Subject::KubewrightProjection),
    Bound::ratio("get_cold_us", 1.5),
    Bound::ratio("get_hot_us", 0.1),
    Bound::ratio("list_ms", 1.0),
];

/// Builds the subjects, fills an API server, runs the subjects in turn, prints the medians; once
/// for each size.
///
/// # Cancel safety
///
/// Dropping the future ends the subject under way and the API server.
pub(crate) async fn run(options: &CacheOptions) -> Result<(), Error> {
    let settings = Settings::from_environment()?;
    let builder = Builder::new(NAME, &settings);
    let mut built = Vec::new();
    for subject in options.subjects() {
        built.push(builder.build(subject).await?);
    }
    let load_before = load_average();
    let mut sizes = Vec::new();
    let mut versions = None;
    for objects in &options.objects {
        let server = Server::start(options.server, &settings).await?;
        let client = server.client().await?;
        versions = Some(Versions::ask(&client, &settings.go).await?);
        load(&client, *objects).await?;
        let kubeconfig = server.kubeconfig();
        let launch = Launch {
            kubeconfig: &kubeconfig,
            objects: *objects,
            settle: options.settle,
        };
        let runs = alternate(&built, options.runs, launch).await?;
        sizes.push(summarize(&runs, (*objects).into())?);
    }
    let sizes = with_growth(sizes);
    if options.json {
        let lines: String = sizes.iter().map(|one| json_lines(NAME, one)).collect();
        output::result(&lines)?;
    } else {
        let measured = Measured {
            versions,
            load_before,
            load_after: load_average(),
        };
        output::result(&report(options, &sizes, &measured))?;
    }
    match options.hold {
        true => sizes.iter().try_for_each(|size| held(size)),
        false => Ok(()),
    }
}

/// Whether one size is within what was promised.
fn held(size: &[Summary]) -> Result<(), Error> {
    let rows: Vec<Readings> = size.iter().map(Summary::readings).collect();
    hold(&rows, &PROMISED)
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
    versions: Option<Versions>,
    load_before: Option<f64>,
    load_after: Option<f64>,
}

fn report(options: &CacheOptions, sizes: &[Vec<Summary>], measured: &Measured) -> String {
    let runs = options.runs;
    let load =
        |average: Option<f64>| average.map_or("unknown".to_owned(), |one| format!("{one:.2}"));
    let mut text = String::new();
    for (objects, summaries) in options.objects.iter().zip(sizes) {
        let table = table::render(summaries);
        text.push_str(&format!(
            "{NAME}: {objects} Pods, median of {runs} alternating runs\n\n{table}\n"
        ));
    }
    if options.subjects().contains(&Subject::ControllerRuntime) {
        text.push_str("ratios: to controller-runtime\n");
        let promised = PROMISED.map(|bound| bound.to_string());
        text.push_str(&format!("promised: {}\n", promised.join(", ")));
    }
    if options.objects.len() > 1 {
        text.push_str("bytes_per_object: growth of settled_mb from the size before\n");
    }
    text.push_str(&format!(
        "machine: {}\nload average: {} before the runs, {} after\n",
        Machine::here(),
        load(measured.load_before),
        load(measured.load_after),
    ));
    if let Some(versions) = &measured.versions {
        text.push_str(&format!("versions: {versions}\n"));
    }
    if runs < 3 || options.settle < 30.0 {
        text.push_str("note: a result takes at least 3 runs and 30 seconds to settle\n");
    }
    text
}
