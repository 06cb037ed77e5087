//! Errors of the differential suite.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a case could not be read or played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An environment variable has an invalid value.
    #[error("read {variable}={value:?}: not {expected}")]
    Setting {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// What a valid value is.
        expected: &'static str,
    },
    /// A case is invalid.
    #[error("read case {}: {why}", path.display())]
    Case {
        /// The file, or the case's name.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A step was repeated until its timeout.
    #[error("wait for {expected}: not there after {elapsed:?}; the last response was: {last}")]
    Timeout {
        /// The expected response, the case and the request.
        expected: String,
        /// How long the step was repeated.
        elapsed: Duration,
        /// The last response.
        last: String,
    },
    /// A request was not sent, or its response could not be read.
    #[error("{request}")]
    Request {
        /// The case and the request.
        request: String,
        /// The cause.
        #[source]
        source: Box<kube::Error>,
    },
    /// The cluster failed.
    #[error(transparent)]
    Cluster(#[from] kubewright_testing::Error),
    /// The webhook stub cannot listen.
    #[error("listen on loopback; check whether sockets are allowed here")]
    Listen(#[source] io::Error),
    /// The certificates of the webhook stub could not be made.
    #[error("make the certificates of the webhook stub")]
    Certificates(#[from] kubewright_http::pki::Error),
    /// The webhook stub cannot serve TLS.
    #[error("serve the webhook stub")]
    Webhook(#[from] kubewright_webhook::Error),
}
