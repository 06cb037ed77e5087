//! Benchmarks whose subjects run in alternating rounds.

use clap::Args;

use crate::bound::Bound;
use crate::error::Error;
use crate::machine::{LoadAverage, Machine};
use crate::output;
use crate::program::{Builder, Built};
use crate::promises;
use crate::readings::{Readings, check_equal_work, medians};
use crate::subject::Subject;
use crate::table::align_readings;

/// The default number of runs of each subject.
const DEFAULT_RUNS: u32 = 3;

/// The common options of benchmarks with alternating subjects.
#[derive(Clone, Debug, Args)]
pub(crate) struct RoundOptions {
    /// Number of runs of each subject. Results are medians. [default: 3; latency: 15]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// The subjects to run, in order. Every second round reverses the order.
    #[arg(
        long,
        value_delimiter = ',',
        default_values_t = [Subject::ControllerRuntime, Subject::Kubewright]
    )]
    pub(crate) subjects: Vec<Subject>,
    /// Fail if a result is outside its promised bound.
    #[arg(long)]
    pub(crate) hold: bool,
    /// Print one line of JSON per measurement instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    size: Size,
}

/// The size of a benchmark.
#[derive(Clone, Debug, Args)]
struct Size {
    /// Make one run at a small size, to try the benchmark out. Its results are not meaningful.
    #[arg(long)]
    quick: bool,
}

impl RoundOptions {
    /// Returns the number of runs of each subject.
    pub(crate) fn runs(&self) -> u32 {
        if self.is_quick() {
            return 1;
        }
        self.runs.unwrap_or(DEFAULT_RUNS)
    }

    /// Sets the number of runs unless the command line has one.
    #[must_use]
    pub(crate) fn or_runs(mut self, runs: u32) -> Self {
        self.runs = self.runs.or(Some(runs));
        self
    }

    /// Returns `usual`, or `small` with `--quick`.
    pub(crate) fn size<T>(&self, usual: T, small: T) -> T {
        if self.is_quick() { small } else { usual }
    }

    fn is_quick(&self) -> bool {
        self.size.quick
    }

    /// Builds the selected subjects.
    ///
    /// # Cancel safety
    ///
    /// As for [`Builder::build`].
    pub(crate) async fn build(&self, builder: &Builder) -> Result<Vec<Built>, Error> {
        let mut built = Vec::new();
        for subject in &self.subjects {
            built.push(builder.build(*subject).await?);
        }
        Ok(built)
    }
}

/// Returns the subjects in the order of a round. Every second round has the reverse order, because a
/// subject can leave effects on the server and the machine that affect the next one.
pub(crate) fn alternate<T>(round: u32, subjects: &[T]) -> Vec<&T> {
    let mut order: Vec<_> = subjects.iter().collect();
    if round.is_multiple_of(2) {
        order.reverse();
    }
    order
}

/// The measurements of a benchmark with alternating subjects.
#[derive(Debug)]
pub(crate) struct Rounds<'a> {
    pub(crate) name: &'static str,
    /// The kind and the amount of work.
    title: String,
    options: &'a RoundOptions,
    promised: &'a [Bound],
    runs: Vec<Readings>,
    load_before: LoadAverage,
}

impl<'a> Rounds<'a> {
    /// Creates a benchmark without measurements.
    pub(crate) fn new(
        name: &'static str,
        title: String,
        options: &'a RoundOptions,
        promised: &'a [Bound],
    ) -> Self {
        Self {
            name,
            title,
            options,
            promised,
            runs: Vec::new(),
            load_before: LoadAverage::current(),
        }
    }

    /// Records the readings of a run.
    pub(crate) fn note(&mut self, round: u32, readings: Readings) {
        let runs = self.options.runs();
        output::note(&format!("{}: run {round} of {runs}: {readings}", self.name));
        self.runs.push(readings);
    }

    /// Prints the medians, and checks the promised bounds if the options require it.
    pub(crate) fn report(self) -> Result<(), Error> {
        check_equal_work(&self.runs)?;
        let medians = medians(&self.runs);
        let text = if self.options.json {
            medians
                .iter()
                .map(|row| row.json_lines(self.name))
                .collect()
        } else {
            self.table(&medians)
        };
        output::result(&text)?;
        if self.options.hold {
            promises::check(&medians, self.promised)?;
        }
        Ok(())
    }

    fn table(&self, medians: &[Readings]) -> String {
        let mut text = format!(
            "{}: {}, median of {} alternating runs\n\n{}\n",
            self.name,
            self.title,
            self.options.runs(),
            align_readings(medians),
        );
        if let Some(baseline) = medians.iter().find(|row| row.subject.is_baseline()) {
            text.push_str(&format!("ratios: relative to {}\n", baseline.subject));
        }
        if !self.promised.is_empty() {
            let promised: Vec<String> = self.promised.iter().map(ToString::to_string).collect();
            text.push_str(&format!("promised: {}\n", promised.join(", ")));
        }
        text.push_str(&format!(
            "machine: {}\nload average: {} before the runs, {} after\n",
            Machine::current(),
            self.load_before,
            LoadAverage::current(),
        ));
        if self.options.is_quick() {
            text.push_str("note: results of --quick are not meaningful\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::alternate;

    #[test]
    fn every_second_round_has_the_reverse_order() {
        let rounds = [1, 2, 3].map(|round| alternate(round, &["a", "b"]));
        assert_eq!(rounds, [[&"a", &"b"], [&"b", &"a"], [&"a", &"b"]]);
    }
}
