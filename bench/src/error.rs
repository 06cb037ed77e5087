use std::path::PathBuf;
use std::time::Duration;

use kubewright_bench_subject::Metric;

use crate::reading::Bound;
use crate::subject::Subject;

/// Why there are no results.
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
    #[error("build {subject}: `{command}` failed; its output stands above")]
    Build { subject: Subject, command: String },
    #[error("build {subject}: `{command}` named no executable")]
    NoExecutable { subject: Subject, command: String },
    #[error("make the folder {}", folder.display())]
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
    #[error("ask the API server for its version")]
    ServerVersion(#[source] Box<kube::Error>),
    #[error("run {subject}: it ended with {status}; its standard error ends with:\n{tail}")]
    SubjectFailed {
        subject: Subject,
        status: std::process::ExitStatus,
        tail: String,
    },
    #[error("run {subject}: not done after {limit:?}; stopped")]
    SubjectSlow { subject: Subject, limit: Duration },
    #[error("read what {subject} measured: {line:?} is not a line of the protocol")]
    Line {
        subject: Subject,
        line: String,
        #[source]
        source: serde_json::Error,
    },
    #[error("read what {subject} measured: it printed no {metric}")]
    MetricMissing { subject: Subject, metric: Metric },
    #[error("read what {subject} measured: {metric} is {value}, not a count")]
    NotACount {
        subject: Subject,
        metric: Metric,
        value: serde_json::Number,
    },
    #[error(
        "compare the subjects: {left} has {metric} {left_value}, {right} has {right_value}; they did not read the same objects"
    )]
    Disagree {
        metric: Metric,
        left: Subject,
        left_value: u64,
        right: Subject,
        right_value: u64,
    },
    #[error("compare the subjects: {subject} read {objects} objects, {wanted} were loaded")]
    WrongCount {
        subject: Subject,
        objects: u64,
        wanted: u64,
    },
    #[error("hold {bound}: it is {found:.3}")]
    BrokenBound { bound: Bound, found: f64 },
    #[error("hold {bound}: nobody measured it; run all subjects")]
    NothingToHold { bound: Bound },
    #[error(
        "compare the subjects: {} has {metric} {}, {} has {}; they did not do the same work",
        left.0, left.1, right.0, right.1
    )]
    DifferentWork {
        metric: &'static str,
        left: (Subject, f64),
        right: (Subject, f64),
    },
    #[error("{tried}")]
    System {
        tried: String,
        #[source]
        source: std::io::Error,
    },
    #[error("make certificates for the webhooks")]
    Certificates(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("ask the webhook of {subject}: {why}")]
    Webhook { subject: Subject, why: String },
    #[error("run `{command}`: it ended with {status}; its standard error ends with:\n{tail}")]
    Step {
        command: String,
        status: std::process::ExitStatus,
        tail: String,
    },
    #[error("wait for {what}: not so after {limit:?}")]
    Late { what: String, limit: Duration },
    #[error("read the kubeconfig {}: {why}", path.display())]
    Kubeconfig { path: PathBuf, why: String },
    #[error("start `kubewright cluster`: not ready after {limit:?}")]
    NeverReady { limit: Duration },
    #[error("send a request for {path}")]
    Request {
        path: String,
        #[source]
        source: Box<kube::Error>,
    },
    #[error("wait for an event: a watch ended before it came")]
    WatchEnded,
    #[error("print the results")]
    Print(#[source] std::io::Error),
}
