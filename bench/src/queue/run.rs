use kubewright_testing::Settings;

use crate::command::QueueOptions;
use crate::error::Error;
use crate::machine::{Machine, load_average};
use crate::output;
use crate::reading::{Readings, hold, measure, medians};
use crate::subject::{Builder, Subject};
use crate::table::align_readings;

const NAME: &str = "queue";

/// Builds the subjects, runs them in turn, prints the medians.
///
/// # Cancel safety
///
/// Dropping the future ends the subject under way.
pub(crate) async fn run(options: &QueueOptions) -> Result<(), Error> {
    let settings = Settings::from_environment()?;
    let builder = Builder::new(NAME, &settings);
    let mut built = Vec::new();
    for subject in &options.subjects {
        built.push(builder.build(*subject).await?);
    }
    let before = load_average();
    let arguments = [format!("--keys={}", options.keys)];
    let mut runs: Vec<Readings> = Vec::new();
    for round in 1..=options.runs {
        for subject in &built {
            let readings = measure(subject, &arguments).await?;
            output::note(&format!("run {round} of {}: {readings}", options.runs));
            runs.push(readings);
        }
    }
    let medians = medians(&runs);
    let bound = options.at_most.map_or(Ok(()), |most| hold(&medians, most));
    if options.json {
        let lines = medians.iter().map(|one| one.json_lines(NAME));
        output::result(&lines.collect::<String>())?;
        return bound;
    }
    let mut text = format!(
        "{NAME}: {} keys, median of {} alternating runs\n\n{}\n",
        options.keys,
        options.runs,
        align_readings(&medians),
    );
    if options.subjects.contains(&Subject::ControllerRuntime) {
        text.push_str("ratios: to controller-runtime\n");
    }
    let load =
        |average: Option<f64>| average.map_or("unknown".to_owned(), |one| format!("{one:.2}"));
    text.push_str(&format!(
        "machine: {}\nload average: {} before the runs, {} after\n",
        Machine::here(),
        load(before),
        load(load_average()),
    ));
    output::result(&text)?;
    bound
}
