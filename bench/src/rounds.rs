use clap::Args;

use crate::error::Error;
use crate::machine::{Machine, load_average};
use crate::output;
use crate::reading::{Bound, Readings, agree, hold, medians};
use crate::subject::{Builder, Built, Subject};
use crate::table::align_readings;

/// How often each subject runs, unless asked otherwise.
const RUNS: u32 = 3;

/// What benchmarks whose subjects take turns have in common.
#[derive(Clone, Debug, Args)]
pub(crate) struct RoundOptions {
    /// How often each subject runs; the medians count. [default: 3; latency: 15]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// Which subjects run, in which order; every second round turns it round.
    #[arg(
        long,
        value_delimiter = ',',
        default_values_t = [Subject::ControllerRuntime, Subject::Kubewright]
    )]
    pub(crate) subjects: Vec<Subject>,
    /// Fails when a promise of the benchmark is not held.
    #[arg(long)]
    pub(crate) hold: bool,
    /// One line of JSON a measurement instead of the table.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    size: Size,
}

/// How much is measured.
#[derive(Clone, Debug, Args)]
struct Size {
    /// One run at a small size: shows that it works, and measures nothing.
    #[arg(long)]
    quick: bool,
}

impl RoundOptions {
    /// How often each subject runs.
    pub(crate) fn runs(&self) -> u32 {
        match self.size.quick {
            true => 1,
            false => self.runs.unwrap_or(RUNS),
        }
    }

    /// The same for a benchmark that needs so many runs, unless asked for others.
    #[must_use]
    pub(crate) fn usually(mut self, runs: u32) -> Self {
        self.runs = self.runs.or(Some(runs));
        self
    }

    /// The usual size, or the small one.
    pub(crate) fn size<T>(&self, usual: T, small: T) -> T {
        match self.size.quick {
            true => small,
            false => usual,
        }
    }

    /// Builds the subjects.
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

/// The subjects in the order of one round: every second round begins with the last, so that what a
/// subject leaves behind on the server and on the machine is not always the same one's gain or loss.
pub(crate) fn in_turn<T>(round: u32, subjects: &[T]) -> Vec<&T> {
    let mut order: Vec<_> = subjects.iter().collect();
    if round.is_multiple_of(2) {
        order.reverse();
    }
    order
}

/// A benchmark whose subjects take turns.
#[derive(Debug)]
pub(crate) struct Rounds<'a> {
    pub(crate) name: &'static str,
    /// What was done how often.
    title: String,
    options: &'a RoundOptions,
    promised: &'a [Bound],
    runs: Vec<Readings>,
    load_before: Option<f64>,
}

impl<'a> Rounds<'a> {
    /// Nothing measured yet.
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
            load_before: load_average(),
        }
    }

    /// Notes what one run measured.
    pub(crate) fn note(&mut self, round: u32, readings: Readings) {
        let runs = self.options.runs();
        output::note(&format!("{}: run {round} of {runs}: {readings}", self.name));
        self.runs.push(readings);
    }

    /// Prints the medians, and holds what was promised when that is asked for.
    pub(crate) fn report(self) -> Result<(), Error> {
        agree(&self.runs)?;
        let medians = medians(&self.runs);
        let text = match self.options.json {
            true => medians
                .iter()
                .map(|one| one.json_lines(self.name))
                .collect(),
            false => self.table(&medians),
        };
        output::result(&text)?;
        match self.options.hold {
            true => hold(&medians, self.promised),
            false => Ok(()),
        }
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
            text.push_str(&format!("ratios: to {}\n", baseline.subject));
        }
        if !self.promised.is_empty() {
            let promised: Vec<String> = self.promised.iter().map(ToString::to_string).collect();
            text.push_str(&format!("promised: {}\n", promised.join(", ")));
        }
        let load =
            |average: Option<f64>| average.map_or("unknown".to_owned(), |one| format!("{one:.2}"));
        text.push_str(&format!(
            "machine: {}\nload average: {} before the runs, {} after\n",
            Machine::here(),
            load(self.load_before),
            load(load_average()),
        ));
        if self.options.size(false, true) {
            text.push_str("note: --quick shows that it works; these are no measurements\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::in_turn;

    #[test]
    fn every_second_round_begins_with_the_last() {
        let rounds = [1, 2, 3].map(|round| in_turn(round, &["a", "b"]));
        assert_eq!(rounds, [[&"a", &"b"], [&"b", &"a"], [&"a", &"b"]]);
    }
}
