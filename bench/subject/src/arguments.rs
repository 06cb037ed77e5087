use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use jiff::Timestamp;
use kubewright_core::Clock;

/// What the harness hands to a subject.
#[derive(Clone, Debug, Parser)]
pub struct Arguments {
    /// The cluster to read; without it KUBECONFIG and the usual places are looked at.
    #[arg(long)]
    pub kubeconfig: Option<PathBuf>,
    /// How many objects the API server holds.
    #[arg(long, value_parser = positive)]
    pub objects: usize,
    /// Seconds to wait before settled memory is read.
    #[arg(long, default_value = "30", value_parser = seconds)]
    pub settle: Duration,
    /// When the process was started, in nanoseconds since 1970.
    #[arg(long, value_parser = nanoseconds)]
    pub started: Option<Timestamp>,
}

impl Arguments {
    /// Reads the command line; wrong arguments end the program with their message.
    ///
    /// Called first thing in `main`: without `--started` this moment counts as the start.
    pub fn read() -> Self {
        let now = Clock::system().now();
        let mut arguments = Self::parse();
        arguments.started.get_or_insert(now);
        arguments
    }

    /// Seconds from the start of the process until now.
    pub fn elapsed(&self) -> f64 {
        let now = Clock::system().now();
        now.duration_since(self.started.unwrap_or(now))
            .as_secs_f64()
    }
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(error) => Err(error.to_string()),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|error| format!("a number of seconds: {error}"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

fn nanoseconds(text: &str) -> Result<Timestamp, String> {
    let number: i128 = text
        .parse()
        .map_err(|error| format!("a number of nanoseconds: {error}"))?;
    Timestamp::from_nanosecond(number).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser;

    use super::Arguments;

    #[test]
    fn arguments_of_the_harness_are_understood() {
        let arguments = Arguments::try_parse_from([
            "subject",
            "--kubeconfig=/k",
            "--objects=10",
            "--settle=0.5",
            "--started=1700000000000000000",
        ])
        .unwrap();
        assert_eq!(arguments.objects, 10);
        assert_eq!(arguments.settle, Duration::from_millis(500));
        assert_eq!(
            arguments.started.unwrap().to_string(),
            "2023-11-14T22:13:20Z"
        );
    }

    #[test]
    fn no_objects_and_negative_waits_are_refused() {
        for wrong in [
            ["--objects=0", "--settle=1"],
            ["--objects=1", "--settle=-1"],
        ] {
            assert!(Arguments::try_parse_from(["subject"].iter().chain(&wrong)).is_err());
        }
    }
}
