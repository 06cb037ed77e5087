//! Runs the benchmark `cache`.

use kubewright_testing::Settings;

use super::load_pods::load_pods;
use crate::bound::Bound;
use crate::command::CacheOptions;
use crate::error::Error;
use crate::machine::{LoadAverage, Machine};
use crate::program::{Builder, Built, CacheArguments, run_cache};
use crate::readings::Readings;
use crate::results::{Run, Summary, json_lines, summarize, with_growth};
use crate::server::ApiServer;
use crate::subject::Subject;
use crate::versions::Versions;
use crate::{output, promises, table};

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

/// Builds the subjects. For each size, starts an API server with that many Pods, runs the subjects
/// alternately and prints the medians.
///
/// # Cancel safety
///
/// Dropping the future ends the running subject and the API server.
pub(crate) async fn run(options: &CacheOptions) -> Result<(), Error> {
    let settings = Settings::from_environment()?;
    let builder = Builder::new(NAME, &settings);
    let mut built = Vec::new();
    for subject in options.subjects() {
        built.push(builder.build(subject).await?);
    }
    let load_before = LoadAverage::current();
    let mut sizes = Vec::new();
    let mut versions = None;
    for objects in &options.objects {
        let server = ApiServer::start(options.server, &settings).await?;
        let client = server.client().await?;
        versions = Some(Versions::read(&client, &settings.go).await?);
        load_pods(&client, *objects).await?;
        let kubeconfig = server.kubeconfig();
        let arguments = CacheArguments {
            kubeconfig: &kubeconfig,
            objects: *objects,
            settle: options.settle,
        };
        let runs = run_alternately(&built, options.runs, arguments).await?;
        sizes.push(summarize(&runs, (*objects).into())?);
    }
    let sizes = with_growth(sizes);
    if options.json {
        let lines: String = sizes.iter().map(|size| json_lines(NAME, size)).collect();
        output::result(&lines)?;
    } else {
        let conditions = Conditions {
            versions,
            load_before,
            load_after: LoadAverage::current(),
        };
        output::result(&report(options, &sizes, &conditions))?;
    }
    if options.hold {
        sizes.iter().try_for_each(|size| check(size))?;
    }
    Ok(())
}

/// Checks the results of one size against the promised bounds.
fn check(size: &[Summary]) -> Result<(), Error> {
    let rows: Vec<Readings> = size.iter().map(Summary::readings).collect();
    promises::check(&rows, &PROMISED)
}

/// Runs every subject once per round, so that changes of the machine affect all of them.
async fn run_alternately(
    built: &[Built],
    rounds: u32,
    arguments: CacheArguments<'_>,
) -> Result<Vec<Run>, Error> {
    let mut runs = Vec::new();
    for round in 1..=rounds {
        for subject in built {
            let run = run_cache(subject, arguments).await?;
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

/// The conditions of a measurement, printed below the table.
#[derive(Clone, Debug)]
struct Conditions {
    versions: Option<Versions>,
    load_before: LoadAverage,
    load_after: LoadAverage,
}

fn report(options: &CacheOptions, sizes: &[Vec<Summary>], conditions: &Conditions) -> String {
    let runs = options.runs;
    let mut text = String::new();
    for (objects, summaries) in options.objects.iter().zip(sizes) {
        let table = table::render(summaries);
        text.push_str(&format!(
            "{NAME}: {objects} Pods, median of {runs} alternating runs\n\n{table}\n"
        ));
    }
    if options.subjects().contains(&Subject::ControllerRuntime) {
        text.push_str("ratios: relative to controller-runtime\n");
        let promised = PROMISED.map(|bound| bound.to_string());
        text.push_str(&format!("promised: {}\n", promised.join(", ")));
    }
    if options.objects.len() > 1 {
        text.push_str("bytes_per_object: growth of settled_mb from the previous size\n");
    }
    text.push_str(&format!(
        "machine: {}\nload average: {} before the runs, {} after\n",
        Machine::current(),
        conditions.load_before,
        conditions.load_after,
    ));
    if let Some(versions) = &conditions.versions {
        text.push_str(&format!("versions: {versions}\n"));
    }
    if runs < 3 || options.settle < 30.0 {
        text.push_str("note: meaningful results need at least 3 runs and --settle 30\n");
    }
    text
}
