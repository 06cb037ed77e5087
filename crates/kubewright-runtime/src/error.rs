//! The errors of the runtime, except for those of writes.

use std::time::Duration;

use kubewright_wire::record::RecordError;
use kubewright_wire::scan::ScanError;
use kubewright_wire::status::Status;

/// Why the runtime could not do what it tried.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No configuration of a cluster was found.
    #[error("find a cluster: {tried}; pass a kubeconfig, or run inside a cluster")]
    NoCluster {
        /// Where a configuration was searched.
        tried: String,
        /// Why the last place had none.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A kubeconfig cannot be used.
    #[error("read the kubeconfig {path}: correct the file or name another")]
    Kubeconfig {
        /// The file.
        path: String,
        /// The error in it.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No client can be built from the configuration.
    #[error("build a client for {server}: check the cluster's address, certificates and user")]
    Client {
        /// The API server's address.
        server: String,
        /// The error in the configuration.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The request is malformed.
    #[error("{what}: the request is malformed; check namespace and selectors")]
    InvalidRequest {
        /// What was tried, on what.
        what: String,
        /// The malformed part.
        #[source]
        source: http::Error,
    },
    /// No response arrived.
    #[error("{what}: no response from the API server; trying again")]
    NoResponse {
        /// What was tried, on what.
        what: String,
        /// The failure on the way.
        #[source]
        source: Box<kube::Error>,
    },
    /// A layer of the client blocked the request.
    #[error("{what}: the request was not sent; trying again")]
    Blocked {
        /// What was tried, on what.
        what: String,
        /// Why it was blocked.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The response, or a part of it, did not arrive in time.
    #[error("{what}: timed out after {after:?}; check the connection to the API server")]
    TimedOut {
        /// What was tried, on what.
        what: String,
        /// The timeout.
        after: Duration,
    },
    /// The API server returned an error.
    #[error("{what}: the API server returned an error")]
    ErrorResponse {
        /// What was tried, on what.
        what: String,
        /// The error.
        #[source]
        status: Box<Status>,
    },
    /// The connection ended in the middle of a response.
    #[error("{what}: the connection was lost; trying again")]
    ConnectionLost {
        /// What was tried, on what.
        what: String,
        /// The failure of the connection.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A watch ended at once and without an event.
    #[error("{what}: the watch ended at once; trying again")]
    WatchTooShort {
        /// What was tried, on what.
        what: String,
    },
    /// A streaming list did not complete.
    #[error(
        "{what}: no object and no end of the streaming list for {after:?}; listing in pages instead"
    )]
    StreamingListStalled {
        /// What was tried, on what.
        what: String,
        /// How long no object had arrived.
        after: Duration,
    },
    /// The response is not a discovery document.
    #[error("{what}: the response is not a discovery document of a Kubernetes API server")]
    Discovery {
        /// What was tried, on what.
        what: String,
        /// The malformed part.
        #[source]
        source: serde_json::Error,
    },
    /// The durations of a leader election do not fit together.
    #[error(
        "elect a leader with a lease of {lease:?}, a renew deadline of {renew_deadline:?} and a \
         retry period of {retry:?}: {why}"
    )]
    InvalidElectionTimes {
        /// The rule that they violate.
        why: &'static str,
        /// How long the Lease lasts.
        lease: Duration,
        /// How long the leader goes on without a renewal.
        renew_deadline: Duration,
        /// How often the Lease is requested.
        retry: Duration,
    },
    /// A request for the Lease of a leader election failed.
    #[error("{what}: trying again; check that the role grants get, create and update of leases")]
    LeaseRequest {
        /// What was tried, on what.
        what: String,
        /// The failure.
        #[source]
        source: Box<kube::Error>,
    },
    /// A write of a process that is not the leader.
    #[error("{what}: this process is not the leader ({holder} is), so the write was not sent")]
    NotLeading {
        /// What was tried.
        what: String,
        /// The leader.
        holder: String,
    },
    /// A request for which the API server has no dry run.
    #[error(
        "{what}: this client makes dry runs, which this request does not support; use another client for it"
    )]
    DryRunUnsupported {
        /// What was tried.
        what: String,
    },
    /// A request outside the namespace that a client is restricted to.
    #[error(
        "{what}: this client is restricted to the namespace {namespace}; use another client, or, \
         for a cluster-scoped kind, allow it with Namespaced::and"
    )]
    OutOfNamespace {
        /// What was tried.
        what: String,
        /// The namespace of the client.
        namespace: String,
    },
    /// A bug in this library.
    #[error("{what}: a bug, please report it: {message}; starting again")]
    Panicked {
        /// What was tried, on what.
        what: String,
        /// The message of the panic.
        message: String,
    },
    /// The response is not that of a Kubernetes API server.
    #[error("{what}: the response is not that of a Kubernetes API server")]
    InvalidResponse {
        /// What was tried, on what.
        what: String,
        /// The malformed part.
        #[source]
        source: ScanError,
    },
    /// An object in the response is malformed.
    #[error("{what}: an object in the response cannot be stored")]
    InvalidObject {
        /// What was tried, on what.
        what: String,
        /// The malformed part.
        #[source]
        source: RecordError,
    },
}

impl Error {
    /// The error that the API server returned, if it did.
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::ErrorResponse { status, .. } => Some(status),
            _ => None,
        }
    }
}
