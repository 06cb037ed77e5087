//! Runs the benchmark `queue`.

use kubewright_testing::Settings;

use crate::bound::Bound;
use crate::command::QueueOptions;
use crate::error::Error;
use crate::program::{Builder, measure};
use crate::rounds::{Rounds, alternate};

const NAME: &str = "queue";
const PROMISED: [Bound; 2] = [
    Bound::ratio("item_ns_1", 0.1),
    Bound::ratio("item_ns_8", 0.1),
];

/// Builds the subjects, runs them alternately and prints the medians.
///
/// # Cancel safety
///
/// Dropping the future ends the running subject.
pub(crate) async fn run(options: &QueueOptions) -> Result<(), Error> {
    let settings = Settings::from_environment()?;
    let rounds = &options.rounds;
    let built = rounds.build(&Builder::new(NAME, &settings)).await?;
    let keys = rounds.size(options.keys, 10_000);
    let mut measured = Rounds::new(NAME, format!("{keys} keys"), rounds, &PROMISED);
    for round in 1..=rounds.runs() {
        for subject in alternate(round, &built) {
            measured.note(round, measure(subject, &[format!("--keys={keys}")]).await?);
        }
    }
    measured.report()
}
