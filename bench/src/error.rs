//! The errors of the benchmarks.

use std::path::PathBuf;
use std::time::Duration;

use kubewright_bench_subject::Metric;

use crate::bound::Bound;
use crate::subject::Subject;

/// A benchmark that failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(
        "build {subject}: no `go` found in PATH; install Go 1.26 or newer (https://go.dev/dl), or leave the subject out with --subjects"
    )]
    GoMissing { subject: Subject },
    #[error("run `{command}`")]
    Spawn {
        command: String,
        #[source]
        source: std::io::Error,
    },
    #[error("build {subject}: `{command}` failed; its output is above")]
    Build { subject: Subject, command: String },
    #[error("build {subject}: `{command}` printed no executable")]
    NoExecutable { subject: Subject, command: String },
    #[error("create the folder {}", folder.display())]
    Folder {
        folder: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("start a real control plane for the benchmark")]
    Cluster(#[from] kubewright_testing::Error),
    #[error("start an embedded API server for the benchmark")]
    Embedded {
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("load Pod {name}")]
    Load {
        name: String,
        #[source]
        source: Box<kube::Error>,
    },
    #[error("read the version of the API server")]
    ServerVersion(#[source] Box<kube::Error>),
    #[error("run {subject}: it failed with {status}; its standard error ends with:\n{tail}")]
    SubjectFailed {
        subject: Subject,
        status: std::process::ExitStatus,
        tail: String,
    },
    #[error("run {subject}: timeout after {timeout:?}")]
    SubjectTimeout { subject: Subject, timeout: Duration },
    #[error("parse the output of {subject}: {line:?} is not a line of the protocol")]
    Line {
        subject: Subject,
        line: String,
        #[source]
        source: serde_json::Error,
    },
    #[error("parse the output of {subject}: {metric} is missing")]
    MetricMissing { subject: Subject, metric: Metric },
    #[error("parse the output of {subject}: {metric} is {value}, not a count")]
    NotACount {
        subject: Subject,
        metric: Metric,
        value: serde_json::Number,
    },
    #[error(
        "compare the subjects: {left} has {metric} {left_value}, {right} has {right_value}; the subjects read different objects"
    )]
    Disagree {
        metric: Metric,
        left: Subject,
        left_value: u64,
        right: Subject,
        right_value: u64,
    },
    #[error("compare the subjects: {subject} read {objects} objects, but {expected} were created")]
    WrongCount {
        subject: Subject,
        objects: u64,
        expected: u64,
    },
    #[error("check {bound}: measured {found:.3}")]
    OutOfBound { bound: Bound, found: f64 },
    #[error("check {bound}: not measured; run all subjects")]
    NotMeasured { bound: Bound },
    #[error(
        "compare the subjects: {} has {metric} {}, {} has {}; the subjects did different work",
        left.0, left.1, right.0, right.1
    )]
    DifferentWork {
        metric: &'static str,
        left: (Subject, f64),
        right: (Subject, f64),
    },
    #[error("{operation}")]
    System {
        operation: String,
        #[source]
        source: std::io::Error,
    },
    #[error("create certificates for the webhooks")]
    Certificates(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("send a review to the webhook of {subject}: {reason}")]
    Webhook { subject: Subject, reason: String },
    #[error("run `{command}`: it failed with {status}; its standard error ends with:\n{tail}")]
    CommandFailed {
        command: String,
        status: std::process::ExitStatus,
        tail: String,
    },
    #[error("wait for {condition}: timeout after {timeout:?}")]
    WaitTimeout {
        condition: String,
        timeout: Duration,
    },
    #[error("read the kubeconfig {}: {reason}", path.display())]
    Kubeconfig { path: PathBuf, reason: String },
    #[error("start `kubewright cluster`: not ready after {timeout:?}")]
    NotReady { timeout: Duration },
    #[error("send a request to {path}")]
    Request {
        path: String,
        #[source]
        source: Box<kube::Error>,
    },
    #[error("wait for an event: the watch ended before the event")]
    WatchEnded,
    #[error("print the results")]
    Print(#[source] std::io::Error),
}
