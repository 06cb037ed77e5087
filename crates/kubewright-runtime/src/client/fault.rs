use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// Why a client cannot be made, or a request cannot prove who asks. None holds a secret, nor the
/// cause where that could quote one.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("the address names no scheme or no host; write https://HOST:PORT")]
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
    #[error("{what} cannot stand in a header: it has characters that are not allowed there")]
    Header { what: &'static str },
    #[error("{what} cannot be read from {}", path.display())]
    File {
        what: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} is empty, and should have a token", path.display())]
    Empty { path: PathBuf },
    #[error("{what} is not base64")]
    Base64 { what: &'static str },
    #[error("{what} is not PEM")]
    Pem { what: &'static str },
    #[error("there is {present}, but not {missing}")]
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
    #[error("the file or text of the cluster's authorities has no certificate")]
    NoAuthorities,
    #[error("tls-server-name is neither a host name nor an address")]
    ServerName,
    #[error(
        "the auth-provider {name} is not supported: like kubectl since 1.26, use an exec plugin"
    )]
    Provider { name: String },
    #[error("the exec plugin names no command")]
    NoCommand,
    #[error("the exec plugin {command} always asks somebody, and there is no terminal")]
    NoTerminal { command: String },
    #[error("the exec plugin {command} cannot be started; {hint}")]
    Start {
        command: String,
        hint: String,
        #[source]
        source: io::Error,
    },
    #[error("the exec plugin {command} failed with {status}: {told}")]
    Failed {
        command: String,
        status: ExitStatus,
        told: String,
    },
    #[error("the exec plugin {command} has answered {what}")]
    Answer { command: String, what: &'static str },
    #[error("the exec plugin did not come to its end, because the process ends")]
    Interrupted,
}
