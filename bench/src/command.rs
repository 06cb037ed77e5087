use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::rounds::RoundOptions;
use crate::subject::Subject;

/// Measures kubewright beside its peers.
#[derive(Clone, Debug, Parser)]
#[command(name = "kubewright-bench", version)]
pub(crate) struct Command {
    /// What is measured.
    #[command(subcommand)]
    pub(crate) benchmark: Benchmark,
}

/// The benchmarks there are.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Benchmark {
    /// Fills a cache with Pods from a real API server and reads it.
    Cache(CacheOptions),
    /// Adds keys to a work queue, gets them and is done with them.
    Queue(QueueOptions),
    /// Starts the embedded API server as a process beside the real one, and loads both.
    Cluster(ClusterOptions),
    /// Answers an admission review that puts two sidecars into a Pod.
    Inject(InjectOptions),
    /// Serves a mutating webhook under a steady load.
    Webhook(WebhookOptions),
    /// Creates objects and sees how soon they are reconciled.
    Latency(LatencyOptions),
    /// Lets MyDaemonSet roll out and rest.
    Rest(RestOptions),
    /// Builds MyDaemonSet from nothing, again, and after a change.
    Loop(LoopOptions),
    /// Goes from `init` to the first green test.
    Newcomer(NewcomerOptions),
}

/// How the benchmark `queue` is run.
#[derive(Clone, Debug, Args)]
pub(crate) struct QueueOptions {
    /// How many distinct keys go through the queue.
    #[arg(long, default_value_t = 400_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) keys: u32,
    #[command(flatten)]
    pub(crate) rounds: RoundOptions,
}

/// How the benchmark `inject` is run.
#[derive(Clone, Debug, Args)]
pub(crate) struct InjectOptions {
    /// How often the review is answered in each pass.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) reviews: u32,
    #[command(flatten)]
    pub(crate) rounds: RoundOptions,
}

/// How the benchmark `webhook` is run.
#[derive(Clone, Debug, Args)]
pub(crate) struct WebhookOptions {
    /// How many reviews are sent in a second, whatever becomes of the answers.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rate: u32,
    /// For how long.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) seconds: u32,
    #[command(flatten)]
    pub(crate) rounds: RoundOptions,
}

/// How the benchmark `latency` is run.
#[derive(Clone, Debug, Args)]
pub(crate) struct LatencyOptions {
    /// How many objects are created, one each 25 ms.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) objects: u32,
    /// Which API server: the real one, or the embedded one.
    #[arg(long, value_enum, default_value_t = ServerKind::Real)]
    pub(crate) server: ServerKind,
    #[command(flatten)]
    pub(crate) rounds: RoundOptions,
}

/// How the benchmark `rest` is run.
#[derive(Clone, Debug, Args)]
pub(crate) struct RestOptions {
    /// Seconds to wait before settled memory is read.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) settle: u64,
    #[command(flatten)]
    pub(crate) rounds: RoundOptions,
}

/// How the benchmark `loop` is run.
#[derive(Clone, Debug, Args)]
pub(crate) struct LoopOptions {
    #[command(flatten)]
    pub(crate) rounds: RoundOptions,
}

/// How the benchmark `newcomer` is run.
#[derive(Clone, Debug, Args)]
pub(crate) struct NewcomerOptions {
    #[command(flatten)]
    pub(crate) rounds: RoundOptions,
}

/// How the benchmark `cluster` is run.
#[derive(Clone, Debug, Args)]
pub(crate) struct ClusterOptions {
    /// How many creates are timed.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) creates: u32,
    /// How many Pods there are when they are listed.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) objects: u32,
    /// How often each server runs; the medians count.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: u32,
    #[command(flatten)]
    pub(crate) report: ReportOptions,
    /// One run at a small size: shows that it works, and measures nothing.
    #[arg(long)]
    quick: bool,
}

/// What becomes of the figures of the benchmark `cluster`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ReportOptions {
    /// Fails when a promise of the benchmark is not held.
    #[arg(long)]
    pub(crate) hold: bool,
    /// One line of JSON a measurement instead of the table.
    #[arg(long)]
    pub(crate) json: bool,
}

impl ClusterOptions {
    /// The same at a small size, when that is asked for.
    pub(crate) fn resolved(&self) -> Self {
        let mut options = self.clone();
        if self.quick {
            (options.creates, options.objects, options.runs) = (50, 200, 1);
        }
        options
    }
}

/// How the benchmark `cache` is run.
#[derive(Clone, Debug, Args)]
pub(crate) struct CacheOptions {
    /// How many Pods the API server holds; several sizes are measured one after the other.
    #[arg(long, value_delimiter = ',', default_value = "10000", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) objects: Vec<u32>,
    /// Which API server: the real one, or the embedded one.
    #[arg(long, value_enum, default_value_t = ServerKind::Real)]
    pub(crate) server: ServerKind,
    /// How often each subject runs; the medians count.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: u32,
    /// Which subjects run, in which order; all of them, or ours on the embedded server.
    #[arg(long, value_delimiter = ',')]
    pub(crate) subjects: Option<Vec<Subject>>,
    /// Seconds to wait before settled memory is read; less than 30 is for trying out.
    #[arg(long, default_value_t = 30.0, value_parser = seconds)]
    pub(crate) settle: f64,
    /// Fails when a promise of the benchmark is not held.
    #[arg(long)]
    pub(crate) hold: bool,
    /// One line of JSON a measurement instead of the table.
    #[arg(long)]
    pub(crate) json: bool,
}

impl CacheOptions {
    /// The subjects that run. How fast the embedded server answers says nothing about the peers.
    pub(crate) fn subjects(&self) -> Vec<Subject> {
        match (&self.subjects, self.server) {
            (Some(subjects), _) => subjects.clone(),
            (None, ServerKind::Real) => Subject::ALL.to_vec(),
            (None, ServerKind::Embedded) => vec![Subject::Kubewright],
        }
    }
}

/// Which API server holds the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServerKind {
    /// Kubernetes' own.
    Real,
    /// This project's.
    Embedded,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("a number of seconds from 0 to 3600".to_owned()),
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
    fn a_quick_run_is_one_at_a_small_size() {
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
    fn an_unknown_benchmark_is_refused() {
        let error = Command::try_parse_from(["kubewright-bench", "speed"]).unwrap_err();
        assert!(error.to_string().contains("'speed'"), "{error}");
        assert_eq!(error.exit_code(), 2);
    }

    #[test]
    fn wrong_values_are_refused_and_named() {
        for (wrong, named) in [
            ("--objects=0", "'0' for '--objects"),
            ("--runs=0", "'0' for '--runs"),
            ("--subjects=kubebuilder", "'kubebuilder' for '--subjects"),
            ("--settle=-1", "'-1' for '--settle"),
        ] {
            let error = cache(&[wrong]).unwrap_err();
            assert!(error.contains(named), "{wrong}: {error}");
        }
    }

    #[test]
    fn on_the_embedded_server_ours_alone_runs_for_each_size() {
        let options = cache(&["--server=embedded", "--objects=1000,10000"]).unwrap();
        assert_eq!(options.objects, [1000, 10_000]);
        assert_eq!(options.subjects(), [Subject::Kubewright]);
    }

    #[test]
    fn subjects_run_in_the_order_given() {
        let options = cache(&["--subjects=kubewright,controller-runtime"]).unwrap();
        assert_eq!(
            options.subjects(),
            [Subject::Kubewright, Subject::ControllerRuntime]
        );
    }
}
