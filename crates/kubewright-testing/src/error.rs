//! The error of this crate.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a test cluster could not be started or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An environment variable has an invalid value.
    #[error("read {variable}={value:?}: invalid value; use one of: {known}")]
    Setting {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// The valid values.
        known: &'static str,
    },
    /// All control planes of the pool stayed in use.
    #[error(
        "take a control plane from the pool: all {count} were in use for {elapsed:?} and none was returned; close clusters before starting others, or start this one outside the pool with .dedicated()"
    )]
    PoolBusy {
        /// The size of the pool.
        count: usize,
        /// How long no control plane was returned.
        elapsed: Duration,
    },
    /// Neither `KUBEWRIGHT_CACHE` nor a home folder is set.
    #[error("find the cache folder: neither KUBEWRIGHT_CACHE nor HOME is set; set one of them")]
    NoCacheFolder,
    /// The requested version is not a Kubernetes version.
    #[error("find a control plane of version {version:?}: write it as 1.34.2")]
    UnknownVersion {
        /// The requested version.
        version: String,
    },
    /// The cache folder cannot be written.
    #[error(
        "write the control plane to {}: make the folder writable or set KUBEWRIGHT_CACHE to another",
        folder.display()
    )]
    CacheNotWritable {
        /// The folder.
        folder: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The permissions that operators used could not be recorded.
    #[error("add the used permissions to {}: name another file in KUBEWRIGHT_PERMISSIONS", file.display())]
    PermissionsFile {
        /// The file.
        file: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Go is not installed, and there are no prebuilt programs.
    #[error(
        "build the control plane: no `go` found in PATH; install Go 1.26 or newer (https://go.dev/dl), or set KUBEBUILDER_ASSETS to a folder of ready programs"
    )]
    GoMissing,
    /// The installed Go is too old, and there are no prebuilt programs.
    #[error(
        "build the control plane: the `go` in PATH is {version}, which is too old; install Go 1.26 or newer (https://go.dev/dl), or set KUBEBUILDER_ASSETS to a folder of ready programs"
    )]
    GoTooOld {
        /// The installed version.
        version: String,
    },
    /// `go build` failed.
    #[error("run `{command}`: it failed; its output ends with:\n{tail}")]
    GoBuild {
        /// The command line.
        command: String,
        /// The end of its output.
        tail: String,
    },
    /// A program was built, but does not report the expected version.
    #[error(
        "get the version of {}: expected {expected:?}, found {found:?}; remove the file and try again",
        program.display()
    )]
    WrongVersion {
        /// The program.
        program: PathBuf,
        /// A part of the expected output.
        expected: String,
        /// The output.
        found: String,
    },
    /// A program is missing in `KUBEBUILDER_ASSETS`.
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
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Certificates could not be issued.
    #[error("issue the cluster's certificates")]
    Certificates(#[from] kubewright_http::pki::Error),
    /// A process could not be started.
    #[error("start `{command}`")]
    Spawn {
        /// The command line.
        command: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A process ended, or did not become ready in time.
    #[error("wait for {program} {state}; started as `{command}`; its log ends with:\n{tail}")]
    NotReady {
        /// The program.
        program: &'static str,
        /// The expected state, and the actual one.
        state: String,
        /// The command line.
        command: String,
        /// The end of its log.
        tail: String,
    },
    /// A request of this crate to the API server failed.
    #[error("{operation}")]
    Request {
        /// What the request was for.
        operation: String,
        /// The cause.
        #[source]
        source: Box<kube::Error>,
    },
    /// A client could not be created.
    #[error("create a client for {user}")]
    Client {
        /// The user of the client.
        user: String,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A condition did not become true in time.
    #[error("wait for {condition}: not there after {elapsed:?}; last seen: {last}")]
    Timeout {
        /// The condition.
        condition: String,
        /// How long it was waited for.
        elapsed: Duration,
        /// The last observed state.
        last: String,
    },
    /// The operator under test could not be started.
    #[error("start operator {name}")]
    Operator {
        /// Its name.
        name: String,
        /// The cause.
        #[source]
        source: Box<kubewright::Error>,
    },
    /// Requests of the operator under test were forbidden.
    #[error(
        "run the operator under its own role: forbidden were: {requests}; register the kind it is about, or grant it with grants(rule)"
    )]
    Forbidden {
        /// The forbidden requests.
        requests: String,
    },
    /// Injected faults never happened.
    #[error("inject faults: these never happened: {faults}; the test did not cover them")]
    FaultsNotTriggered {
        /// The faults.
        faults: String,
    },
    /// No socket could be opened on this machine.
    #[error("listen on loopback; check whether sockets are allowed here")]
    Listen(#[source] io::Error),
    /// The cluster does not support an operation.
    #[error("{operation}: {reason}")]
    Unsupported {
        /// The operation.
        operation: String,
        /// Why it is not supported, and what to do.
        reason: &'static str,
    },
}

impl Error {
    /// Turns an error of the client into one that names the operation.
    pub(crate) fn request(operation: impl Into<String>) -> impl FnOnce(kube::Error) -> Self {
        let operation = operation.into();
        |source| Self::Request {
            operation,
            source: Box::new(source),
        }
    }

    /// Turns the failure to create a client into an error that names its user.
    pub(crate) fn client<E>(user: impl Into<String>) -> impl FnOnce(E) -> Self
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let user = user.into();
        |source| Self::Client {
            user,
            source: source.into(),
        }
    }
}
