//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::rounds::RoundOptions;
use crate::subject::Subject;

/// Compares kubewright with its peers.
#[derive(Clone, Debug, Parser)]
#[command(name = "kubewright-bench", version)]
pub(crate) struct Command {
    /// The benchmark to run.
    #[command(subcommand)]
    pub(crate) benchmark: Benchmark,
}

/// The benchmarks.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Benchmark {
    /// Fill a cache with Pods from an API server and read it.
    Cache(CacheOptions),
    /// Add keys to a work queue, get them and mark them as done.
    Queue(QueueOptions),
    /// Compare the embedded API server, as a process, with a real one under load.
    Cluster(ClusterOptions),
    /// Handle an admission review that adds two sidecars to a Pod.
    Inject(InjectOptions),
    /// Serve a mutating webhook under a constant load.
    Webhook(WebhookOptions),
    /// Create objects and measure the time until they are reconciled.
    Latency(LatencyOptions),
    /// Measure MyDaemonSet while it is idle after a rollout.
    Rest(RestOptions),
    /// Build MyDaemonSet from scratch, without a change and after a change.
    Loop(LoopOptions),
    /// Create a project with `init` and run its tests.
    Newcomer(NewcomerOptions),
}

/// The options of the benchmark `queue`.
#[derive(Clone, Debug, Args)]
pub(crate) struct QueueOptions {
    /// Number of distinct keys.
    #[arg(long, default_value_t = 400_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) keys: u32,
    #[command(flatten)]
    pub(crate) rounds: RoundOptions,
}

/// The options of the benchmark `inject`.
#[derive(Clone, Debug, Args)]
pub(crate) struct InjectOptions {
    /// How many times the review is handled in each pass.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) reviews: u32,
    #[command(flatten)]
    pub(crate) rounds: RoundOptions,
}

/// The options of the benchmark `webhook`.
#[derive(Clone, Debug, Args)]
pub(crate) struct WebhookOptions {
    /// Reviews per second. They are sent at this rate even if responses are late.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rate: u32,
    /// Duration of the load in seconds.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) seconds: u32,
    #[command(flatten)]
    pub(crate) rounds: RoundOptions,
}

/// The options of the benchmark `latency`.
#[derive(Clone, Debug, Args)]
pub(crate) struct LatencyOptions {
    /// Number of objects. One is created every 25 ms.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) objects: u32,
    /// The API server: a real one or the embedded one.
    #[arg(long, value_enum, default_value_t = ServerKind::Real)]
    pub(crate) server: ServerKind,
    #[command(flatten)]
    pub(crate) rounds: RoundOptions,
}

/// The options of the benchmark `rest`.
#[derive(Clone, Debug, Args)]
pub(crate) struct RestOptions {
    /// Seconds to wait before the settled memory is read.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) settle: u64,
    #[command(flatten)]
    pub(crate) rounds: RoundOptions,
}

/// The options of the benchmark `loop`.
#[derive(Clone, Debug, Args)]
pub(crate) struct LoopOptions {
    #[command(flatten)]
    pub(crate) rounds: RoundOptions,
}

/// The options of the benchmark `newcomer`.
#[derive(Clone, Debug, Args)]
pub(crate) struct NewcomerOptions {
    #[command(flatten)]
    pub(crate) rounds: RoundOptions,
}

/// The options of the benchmark `cluster`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ClusterOptions {
    /// Number of timed creates.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) creates: u32,
    /// Number of Pods in the timed lists.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) objects: u32,
    /// Number of runs of each server. Results are medians.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: u32,
    #[command(flatten)]
    pub(crate) report: ReportOptions,
    /// Make one run at a small size, to try the benchmark out. Its results are not meaningful.
    #[arg(long)]
    quick: bool,
}

/// The output options of the benchmark `cluster`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ReportOptions {
    /// Fail if a result is outside its promised bound.
    #[arg(long)]
    pub(crate) hold: bool,
    /// Print one line of JSON per measurement instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

impl ClusterOptions {
    /// Returns the options with the effect of `--quick`.
    pub(crate) fn resolved(&self) -> Self {
        let mut options = self.clone();
        if self.quick {
            (options.creates, options.objects, options.runs) = (50, 200, 1);
        }
        options
    }
}

/// The options of the benchmark `cache`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CacheOptions {
    /// Number of Pods in the API server. Several sizes are measured one after the other.
    #[arg(long, value_delimiter = ',', default_value = "10000", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) objects: Vec<u32>,
    /// The API server: a real one or the embedded one.
    #[arg(long, value_enum, default_value_t = ServerKind::Real)]
    pub(crate) server: ServerKind,
    /// Number of runs of each subject. Results are medians.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: u32,
    /// The subjects to run, in order. Default: all; on the embedded server: kubewright.
    #[arg(long, value_delimiter = ',')]
    pub(crate) subjects: Option<Vec<Subject>>,
    /// Seconds to wait before the settled memory is read. Use less than 30 only to try it out.
    #[arg(long, default_value_t = 30.0, value_parser = seconds)]
    pub(crate) settle: f64,
    /// Fail if a result is outside its promised bound.
    #[arg(long)]
    pub(crate) hold: bool,
    /// Print one line of JSON per measurement instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

impl CacheOptions {
    /// Returns the subjects to run. Ratios between subjects are published for the real server only, so
    /// the embedded one runs kubewright alone by default.
    pub(crate) fn subjects(&self) -> Vec<Subject> {
        match (&self.subjects, self.server) {
            (Some(subjects), _) => subjects.clone(),
            (None, ServerKind::Real) => Subject::ALL.to_vec(),
            (None, ServerKind::Embedded) => vec![Subject::Kubewright],
        }
    }
}

/// The API server that a benchmark runs against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServerKind {
    /// kube-apiserver.
    Real,
    /// The API server of this project.
    Embedded,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("expected a number of seconds from 0 to 3600".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::{Benchmark, CacheOptions, Command};
    use crate::subject::Subject;

    fn cache(arguments: &[&str]) -> Result<CacheOptions, String> {
        let line = ["kubewright-bench", "cache"].iter().chain(arguments);
        match Command::try_parse_from(line) {
            Ok(Command {
                benchmark: Benchmark::Cache(options),
            }) => Ok(options),
            Ok(other) => Err(format!("not the cache: {other:?}")),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn by_default_all_subjects_run_three_times_on_10000_pods_and_settle_for_30_seconds() {
        let options = cache(&[]).unwrap();
        assert_eq!(
            (options.objects.as_slice(), options.runs),
            (&[10_000][..], 3)
        );
        assert_eq!(options.subjects(), Subject::ALL);
        assert!((options.settle - 30.0).abs() < f64::EPSILON);
    }

    #[test]
    fn quick_run_is_a_single_one_at_a_small_size() {
        let line = ["kubewright-bench", "queue", "--quick", "--runs=9"];
        let Benchmark::Queue(options) = Command::try_parse_from(line).unwrap().benchmark else {
            panic!("not the queue");
        };
        assert_eq!(options.rounds.runs(), 1);
        assert_eq!(options.rounds.size(400_000, 10), 10);
        let usual = Command::try_parse_from(["kubewright-bench", "cluster", "--quick"]);
        let Benchmark::Cluster(options) = usual.unwrap().benchmark else {
            panic!("not the cluster");
        };
        assert_eq!((options.resolved().creates, options.runs), (50, 3));
    }

    #[test]
    fn unknown_benchmark_is_rejected() {
        let error = Command::try_parse_from(["kubewright-bench", "speed"]).unwrap_err();
        assert!(error.to_string().contains("'speed'"), "{error}");
        assert_eq!(error.exit_code(), 2);
    }

    #[test]
    fn invalid_values_are_rejected_with_their_option() {
        for (argument, expected) in [
            ("--objects=0", "'0' for '--objects"),
            ("--runs=0", "'0' for '--runs"),
            ("--subjects=kubebuilder", "'kubebuilder' for '--subjects"),
            ("--settle=-1", "'-1' for '--settle"),
        ] {
            let error = cache(&[argument]).unwrap_err();
            assert!(error.contains(expected), "{argument}: {error}");
        }
    }

    #[test]
    fn only_kubewright_runs_on_the_embedded_server_by_default() {
        let options = cache(&["--server=embedded", "--objects=1000,10000"]).unwrap();
        assert_eq!(options.objects, [1000, 10_000]);
        assert_eq!(options.subjects(), [Subject::Kubewright]);
    }

    #[test]
    fn subjects_run_in_the_given_order() {
        let options = cache(&["--subjects=kubewright,controller-runtime"]).unwrap();
        assert_eq!(
            options.subjects(),
            [Subject::Kubewright, Subject::ControllerRuntime]
        );
    }
}
