//! The command line of the subjects of the benchmark `cache`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use jiff::Timestamp;
use kubewright_core::Clock;

/// The arguments that the harness passes to a subject.
#[derive(Clone, Debug, Parser)]
pub struct Arguments {
    /// The kubeconfig of the cluster. Default: KUBECONFIG, then the usual locations.
    #[arg(long)]
    pub kubeconfig: Option<PathBuf>,
    /// The number of objects in the API server.
    #[arg(long, value_parser = positive)]
    pub objects: usize,
    /// Seconds to wait before the settled memory is read.
    #[arg(long, default_value = "30", value_parser = seconds)]
    pub settle: Duration,
    /// The start time of the process, in nanoseconds since 1970.
    #[arg(long, value_parser = nanoseconds)]
    pub started: Option<Timestamp>,
}

impl Arguments {
    /// Parses the command line. Invalid arguments end the program with an error message.
    ///
    /// Call it first in `main`: without `--started`, the time of this call is the start time.
    pub fn read() -> Self {
        let now = Clock::system().now();
        let mut arguments = Self::parse();
        arguments.started.get_or_insert(now);
        arguments
    }

    /// Returns the seconds since the start of the process.
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
    fn arguments_of_the_harness_are_parsed() {
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
    fn zero_objects_and_a_negative_wait_are_rejected() {
        for invalid in [
            ["--objects=0", "--settle=1"],
            ["--objects=1", "--settle=-1"],
        ] {
            assert!(Arguments::try_parse_from(["subject"].iter().chain(&invalid)).is_err());
        }
    }
}
