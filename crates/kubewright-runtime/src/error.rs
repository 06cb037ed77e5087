use std::time::Duration;

use kubewright_wire::record::RecordError;
use kubewright_wire::scan::ScanError;
use kubewright_wire::status::Status;

use crate::election::ElectionTimes;

/// Why the runtime could not do what it tried.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No settings to reach a cluster with.
    #[error("find a cluster: {tried}; pass a kubeconfig, or run inside a cluster")]
    NoCluster {
        /// Where settings were looked for.
        tried: String,
        /// Why that failed.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A kubeconfig was named and is not usable.
    #[error("read the kubeconfig {path}: correct the file or name another")]
    Kubeconfig {
        /// Which file.
        path: String,
        /// What is wrong with it.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The settings do not make a client.
    #[error("build a client for {server}: check the cluster's address, certificates and user")]
    Client {
        /// The API server's address.
        server: String,
        /// What is wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The request could not be made.
    #[error("{what}: this is not a valid request; check namespace and selectors")]
    Request {
        /// What was tried, on what.
        what: String,
        /// What is wrong with it.
        #[source]
        source: http::Error,
    },
    /// No answer came.
    #[error("{what}: no answer from the API server; trying again")]
    Unanswered {
        /// What was tried, on what.
        what: String,
        /// What failed on the way.
        #[source]
        source: Box<kube::Error>,
    },
    /// A layer of the client stopped the request.
    #[error("{what}: the request was not sent; trying again")]
    Withheld {
        /// What was tried, on what.
        what: String,
        /// Why it was stopped.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No byte came for too long.
    #[error("{what}: nothing heard for {after:?}; trying again")]
    Silent {
        /// What was tried, on what.
        what: String,
        /// How long was waited.
        after: Duration,
    },
    /// The API server said no.
    #[error("{what}: the API server refused")]
    Refused {
        /// What was tried, on what.
        what: String,
        /// Its answer.
        #[source]
        status: Box<Status>,
    },
    /// The answer broke off.
    #[error("{what}: the connection broke; trying again")]
    Broken {
        /// What was tried, on what.
        what: String,
        /// How.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A watch ended before it had begun.
    #[error("{what}: the watch ended at once; trying again")]
    TooShort {
        /// What was tried, on what.
        what: String,
    },
    /// A streaming list did not come to its end.
    #[error("{what}: the end of the state was not told; listing it in pages instead")]
    Endless {
        /// What was tried, on what.
        what: String,
        /// How long no object had come.
        after: Duration,
    },
    /// What a server says it serves cannot be read.
    #[error("{what}: the answer is not one of a Kubernetes API server")]
    Discovery {
        /// What was tried, on what.
        what: String,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// The times of an election do not fit together.
    #[error("elect a leader with {times:?}: {why}")]
    ElectionTimes {
        /// What is wrong.
        why: &'static str,
        /// The times.
        times: ElectionTimes,
    },
    /// A Lease could not be asked for.
    #[error("{what}: trying again; check that the role grants get, create and update of leases")]
    Election {
        /// What was tried, on what.
        what: String,
        /// What went wrong.
        #[source]
        source: Box<kube::Error>,
    },
    /// Only the leader writes.
    #[error("{what}: this process does not lead ({holder} does), so it must not write")]
    NotLeading {
        /// What was tried.
        what: String,
        /// Who leads.
        holder: String,
    },
    /// A client that only tries was asked for what cannot be tried.
    #[error("{what}: this client makes dry runs, and this cannot be tried; use another one for it")]
    Untriable {
        /// What was asked for.
        what: String,
    },
    /// A client for one namespace was asked for something outside it.
    #[error(
        "{what}: this client is for the namespace {namespace} alone; ask there, use another \
         client, or name the kind when it is made if that is in no namespace"
    )]
    OutOfNamespace {
        /// What was asked for.
        what: String,
        /// Where the client is kept.
        namespace: String,
    },
    /// A bug of ours.
    #[error("{what}: a bug, please report it: {message}; starting again")]
    Panicked {
        /// What was tried, on what.
        what: String,
        /// What the panic said.
        message: String,
    },
    /// The answer is not what it should be.
    #[error("{what}: the answer is not one of a Kubernetes API server")]
    Unreadable {
        /// What was tried, on what.
        what: String,
        /// What is wrong with it.
        #[source]
        source: ScanError,
    },
    /// An object of the answer is not one.
    #[error("{what}: an object in the answer cannot be stored")]
    Object {
        /// What was tried, on what.
        what: String,
        /// What is wrong with it.
        #[source]
        source: RecordError,
    },
}

impl Error {
    /// The API server's answer, when it gave one.
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Refused { status, .. } => Some(status),
            _ => None,
        }
    }
}
