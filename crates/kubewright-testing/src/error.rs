use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a cluster for a test could not be had or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An environment variable holds what nobody knows.
    #[error("read {variable}={value:?}: not a known value; use one of: {known}")]
    Setting {
        /// The variable.
        variable: &'static str,
        /// What it holds.
        value: String,
        /// What it may hold.
        known: &'static str,
    },
    /// All control planes of the pool stayed in use.
    #[error(
        "take a control plane from the pool: all {count} were in use for {waited:?} and none was given back; close clusters before starting others, or start this one outside the pool with .own()"
    )]
    PoolBusy {
        /// How many there are.
        count: usize,
        /// How long nothing changed.
        waited: Duration,
    },
    /// Neither `KUBEWRIGHT_CACHE` nor a home folder is set.
    #[error("find the cache folder: neither KUBEWRIGHT_CACHE nor HOME is set; set one of them")]
    NoCacheFolder,
    /// What was asked for is not a Kubernetes version.
    #[error("find a control plane of version {version:?}: write it as 1.34.2")]
    UnknownVersion {
        /// The version asked for.
        version: String,
    },
    /// The cache folder cannot be written.
    #[error(
        "write the control plane to {}: make the folder writable or set KUBEWRIGHT_CACHE to another",
        folder.display()
    )]
    CacheNotWritable {
        /// What could not be written.
        folder: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// What operators were allowed could not be noted.
    #[error("add to {} what was allowed: name another file in KUBEWRIGHT_PERMISSIONS", file.display())]
    Usage {
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Go is not installed, and nothing ready was found.
    #[error(
        "build the control plane: no `go` found in PATH; install Go 1.26 or newer (https://go.dev/dl), or set KUBEBUILDER_ASSETS to a folder of ready programs"
    )]
    GoMissing,
    /// The Go that is installed is too old, and nothing ready was found.
    #[error(
        "build the control plane: the `go` in PATH is {version}, which is too old; install Go 1.26 or newer (https://go.dev/dl), or set KUBEBUILDER_ASSETS to a folder of ready programs"
    )]
    GoTooOld {
        /// The version of the one that was found.
        version: String,
    },
    /// `go build` failed.
    #[error("run `{command}`: it failed; its output ends with:\n{tail}")]
    GoBuild {
        /// The command line.
        command: String,
        /// The end of what it printed.
        tail: String,
    },
    /// A program was built but does not answer as it should.
    #[error(
        "ask {} for its version: wanted {wanted:?}, got {got:?}; remove the file and try again",
        program.display()
    )]
    WrongVersion {
        /// The program.
        program: PathBuf,
        /// What its answer should contain.
        wanted: String,
        /// What it answered.
        got: String,
    },
    /// `KUBEBUILDER_ASSETS` lacks a program.
    #[error(
        "find {program} in KUBEBUILDER_ASSETS={}: no such file; add it, or unset the variable so that it is built",
        folder.display()
    )]
    AssetMissing {
        /// The program.
        program: &'static str,
        /// The folder.
        folder: PathBuf,
    },
    /// A file of a cluster could not be written.
    #[error("write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Certificates could not be made.
    #[error("make the cluster's certificates")]
    Certificates(#[from] kubewright_http::pki::Error),
    /// A process could not be started.
    #[error("start `{command}`")]
    Spawn {
        /// The command line.
        command: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A process ended, or did not get ready in time.
    #[error("wait for {program} {state}; started as `{command}`; its log ends with:\n{tail}")]
    NotReady {
        /// The program.
        program: &'static str,
        /// What it was waited for, and what came instead.
        state: String,
        /// The command line.
        command: String,
        /// The end of its log.
        tail: String,
    },
    /// The API server refused a request of the kit's own.
    #[error("{tried}")]
    Request {
        /// What was tried.
        tried: String,
        /// The answer.
        #[source]
        source: Box<kube::Error>,
    },
    /// A client could not be made.
    #[error("make a client for {user}")]
    Client {
        /// For whom.
        user: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Something the kit waits for did not come.
    #[error("wait for {what}: not there after {waited:?}; last seen: {last}")]
    Waited {
        /// What was waited for.
        what: String,
        /// For how long.
        waited: Duration,
        /// The last state seen.
        last: String,
    },
    /// The operator under test could not be started.
    #[error("start operator {name}")]
    Operator {
        /// Its name.
        name: String,
        /// Why.
        #[source]
        source: Box<kubewright::Error>,
    },
    /// The operator under test was refused something.
    #[error(
        "run the operator under its own role: forbidden were: {requests}; register the kind it is about, or grant it with may(rule)"
    )]
    Refused {
        /// The refused requests.
        requests: String,
    },
    /// A fault was injected and never happened.
    #[error("inject faults: these never happened: {faults}; the test did not show what it says")]
    Unmet {
        /// The faults.
        faults: String,
    },
    /// A differential case is not one.
    #[error("read case {}: {why}", path.display())]
    Case {
        /// The file, or the case's name.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// No socket could be had on this machine.
    #[error("listen on loopback; see whether sockets are allowed here")]
    Listen(#[source] io::Error),
    /// The webhooks of a case cannot be served.
    #[error("serve the webhooks of a case")]
    Webhook(#[source] kubewright_webhook::Error),
    /// The cluster at hand cannot do what was asked.
    #[error("{asked}: {why}")]
    Unsupported {
        /// What was asked.
        asked: String,
        /// Why it cannot be had, and what to do.
        why: &'static str,
    },
}
