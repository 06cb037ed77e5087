//! The errors of connecting and of credentials.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// Why a configuration cannot be used, or why a request has no credentials.
///
/// No variant holds a secret, nor a cause that could quote one.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectError {
    #[error("the address has no scheme or no host; write https://HOST:PORT")]
    Address,
    #[error(
        "{variable} names a proxy, which is not supported; if the API server can be reached without \
         it, add its host to NO_PROXY"
    )]
    EnvironmentProxy { variable: &'static str },
    #[error(
        "proxy-url of the cluster in the kubeconfig names a proxy, which is not supported; name a \
         cluster without one"
    )]
    KubeconfigProxy,
    #[error("{what} has characters that are not allowed in a header")]
    Header { what: &'static str },
    #[error("{what} cannot be read from {}", path.display())]
    File {
        what: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} is empty; it must contain a token", path.display())]
    Empty { path: PathBuf },
    #[error("{what} is not base64")]
    Base64 { what: &'static str },
    #[error("{what} is not PEM")]
    Pem { what: &'static str },
    #[error("{present} is set, but {missing} is not; set both")]
    Half {
        present: &'static str,
        missing: &'static str,
    },
    #[error("{what} cannot be used for TLS")]
    Tls {
        what: &'static str,
        #[source]
        source: rustls::Error,
    },
    #[error("the cluster's certificate authority has no certificate; check certificate-authority")]
    NoAuthorities,
    #[error("tls-server-name is neither a host name nor an address")]
    ServerName,
    #[error(
        "the auth-provider {name} is not supported: like kubectl since 1.26, use an exec plugin"
    )]
    Provider { name: String },
    #[error("the exec plugin has no command; set one in the kubeconfig")]
    NoCommand,
    #[error("the exec plugin {command} is always interactive, and there is no terminal")]
    NoTerminal { command: String },
    #[error("the exec plugin {command} cannot be started; {hint}")]
    PluginStart {
        command: String,
        hint: String,
        #[source]
        source: io::Error,
    },
    #[error("the exec plugin {command} failed with {status}: {message}")]
    PluginFailed {
        command: String,
        status: ExitStatus,
        message: String,
    },
    #[error("the exec plugin {command} has printed {what}")]
    PluginOutput { command: String, what: &'static str },
    #[error("the exec plugin did not complete, because the process ends")]
    Interrupted,
}
