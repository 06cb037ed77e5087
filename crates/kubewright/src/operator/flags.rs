use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{ArgAction, Args};
use tokio::net::TcpListener;

use super::Operator;
use super::log::LogArguments;
use crate::Error;

/// What `run` takes: the flags that kubebuilder's managers have, and some of our own.
#[derive(Args, Debug)]
pub(super) struct RunArguments {
    /// The kubeconfig of the cluster [default: KUBECONFIG, the Pod's ServiceAccount, ~/.kube/config]
    #[arg(long)]
    pub(super) kubeconfig: Option<PathBuf>,
    #[command(flatten)]
    pub(super) log: LogArguments,
    /// Work only while this copy holds the operator's Lease
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true)]
    #[arg(
        default_value = "false",
        default_missing_value = "true",
        value_name = "BOOL"
    )]
    pub(super) leader_elect: bool,
    /// Where the Lease is [default: the namespace of the Pod or of the kubeconfig's context]
    #[arg(long)]
    pub(super) leader_election_namespace: Option<String>,
    /// Where /healthz and /readyz are answered; 0 for nowhere
    #[arg(long, default_value = DEFAULT_PROBES, value_name = "ADDRESS")]
    pub(super) health_probe_bind_address: BindAddress,
    #[command(flatten)]
    pub(super) metrics: MetricsArguments,
    #[command(flatten)]
    pub(super) webhooks: WebhookArguments,
    #[command(flatten)]
    pub(super) http2: Http2Flag,
    #[command(flatten)]
    pub(super) policies: PolicyFlag,
    /// How many requests a second to send at most [default: as many as there are]
    #[arg(long, value_name = "NUMBER")]
    pub(super) kube_api_qps: Option<f64>,
    /// How many of them at once
    #[arg(long, default_value = "10", value_name = "NUMBER")]
    pub(super) kube_api_burst: u32,
    /// How many seconds running work may take to end once the operator stops
    #[arg(long, default_value = "30", value_parser = seconds, value_name = "SECONDS")]
    pub(super) graceful_shutdown_timeout: Duration,
}

/// Where metrics are served, and to whom.
#[derive(Args, Debug)]
pub(super) struct MetricsArguments {
    /// Where /metrics is answered, such as :8443; 0 for nowhere
    #[arg(long, default_value = "0", value_name = "ADDRESS")]
    pub(super) metrics_bind_address: BindAddress,
    /// Serve metrics over HTTPS, to those whom the API server knows and lets read them
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true)]
    #[arg(
        default_value = "true",
        default_missing_value = "true",
        value_name = "BOOL"
    )]
    pub(super) metrics_secure: bool,
    /// The folder with the certificate of the metrics [default: one made for localhost]
    #[arg(long)]
    pub(super) metrics_cert_path: Option<PathBuf>,
    /// The certificate's file in it
    #[arg(long, default_value = "tls.crt", value_name = "FILE")]
    pub(super) metrics_cert_name: String,
    /// The key's file in it
    #[arg(long, default_value = "tls.key", value_name = "FILE")]
    pub(super) metrics_cert_key: String,
}

/// Whether and where webhooks are served.
#[derive(Args, Debug)]
pub(super) struct WebhookArguments {
    /// Where webhooks are served
    #[arg(long, default_value = "0.0.0.0:9443")]
    pub(super) webhook_address: SocketAddr,
    /// The folder with the certificate of the webhooks [default: k8s-webhook-server/serving-certs in the folder for temporary files]
    #[arg(long, alias = "webhook-cert-path")]
    pub(super) webhook_certs: Option<PathBuf>,
    /// The certificate's file in it
    #[arg(long, default_value = "tls.crt", value_name = "FILE")]
    pub(super) webhook_cert_name: String,
    /// The key's file in it
    #[arg(long, default_value = "tls.key", value_name = "FILE")]
    pub(super) webhook_cert_key: String,
    /// Make and renew the webhooks' certificate in a Secret, and have the API server trust it
    #[arg(long, conflicts_with = "webhook_certs")]
    pub(super) managed_certificates: bool,
    /// The namespace that the operator runs in [default: that of its Pod, elsewhere NAME-system]
    #[arg(long, env = "POD_NAMESPACE")]
    pub(super) namespace: Option<String>,
    /// Run without webhooks
    #[arg(long)]
    pub(super) no_webhooks: bool,
    /// Whether to run with webhooks
    #[arg(long, hide = true, env = "ENABLE_WEBHOOKS", value_name = "BOOL")]
    pub(super) enable_webhooks: Option<String>,
}

/// Whether servers of the operator speak HTTP/2.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Http2Flag {
    /// Answer webhooks over HTTP/2 too
    #[arg(long, hide = true, action = ArgAction::Set, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", value_name = "BOOL")]
    enable_http2: Option<bool>,
}

impl Http2Flag {
    /// Tells whoever asks for the opposite of what was built.
    pub(super) fn explain(self) {
        let is_built = cfg!(feature = "http2");
        if self.enable_http2.is_some_and(|wanted| wanted != is_built) {
            tracing::warn!(
                is_built,
                "--enable-http2 has no effect: the feature http2 of kubewright decides it when \
                 the operator is built"
            );
        }
    }
}

/// Whether the cluster serves policies.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct PolicyFlag {
    /// Let webhooks stand in for policies, in a cluster that serves none
    #[arg(long)]
    no_policies: bool,
}

impl PolicyFlag {
    /// The operator for such a cluster.
    pub(super) fn heed(self, operator: Operator) -> Result<Operator, Error> {
        match self.no_policies {
            true => operator.without_policies(),
            false => Ok(operator),
        }
    }
}

/// As kubebuilder's managers have it.
const DEFAULT_PROBES: &str = ":8081";

impl WebhookArguments {
    pub(super) fn are_on(&self) -> bool {
        !self.no_webhooks && self.enable_webhooks.as_deref() != Some("false")
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let text = text.strip_suffix('s').unwrap_or(text);
    let seconds = text.parse().map_err(|_| "not a number of seconds");
    Ok(Duration::from_secs(seconds?))
}

/// Where to listen, as Go spells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BindAddress {
    Nowhere,
    /// `:8081`, on every address of this machine.
    Everywhere(u16),
    /// `127.0.0.1:8081`.
    At(SocketAddr),
}

impl BindAddress {
    /// Whether it is the default of the probes' address.
    pub(super) fn is_default_of_probes(&self) -> bool {
        DEFAULT_PROBES.parse().as_ref() == Ok(self)
    }

    /// A listener there; none for nowhere.
    pub(super) async fn listen(&self) -> std::io::Result<Option<TcpListener>> {
        match self {
            Self::Nowhere => Ok(None),
            Self::At(address) => TcpListener::bind(address).await.map(Some),
            Self::Everywhere(port) => {
                // Takes IPv4 connections as well, where there is IPv6 at all.
                let listener = match TcpListener::bind((Ipv6Addr::UNSPECIFIED, *port)).await {
                    Ok(listener) => listener,
                    Err(_) => TcpListener::bind((Ipv4Addr::UNSPECIFIED, *port)).await?,
                };
                Ok(Some(listener))
            }
        }
    }
}

impl FromStr for BindAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "0" {
            return Ok(Self::Nowhere);
        }
        let wrong = |_| "expected HOST:PORT, :PORT or 0".to_owned();
        match text.strip_prefix(':') {
            Some(port) => Ok(Self::Everywhere(port.parse().map_err(|_| wrong(()))?)),
            None => Ok(Self::At(text.parse().map_err(|_| wrong(()))?)),
        }
    }
}

impl std::fmt::Display for BindAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nowhere => f.write_str("0"),
            Self::Everywhere(port) => write!(f, ":{port}"),
            Self::At(address) => address.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::log::LogFormat;
    use super::{BindAddress, RunArguments};

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        run: RunArguments,
    }

    fn parse(arguments: &[&str]) -> Result<RunArguments, clap::Error> {
        let all = ["operator"].iter().chain(arguments);
        Program::try_parse_from(all).map(|program| program.run)
    }

    #[test]
    fn what_a_kubebuilder_deployment_passes_is_understood() {
        let run = parse(&[
            "--metrics-bind-address=:8443",
            "--leader-elect",
            "--health-probe-bind-address=:8081",
            "--webhook-cert-path=/tmp/k8s-webhook-server/serving-certs",
            "--metrics-secure=false",
            "--zap-log-level=debug",
            "--zap-devel=false",
            "--zap-encoder=json",
            "--zap-stacktrace-level=error",
            "--zap-time-encoding=iso8601",
            "--enable-http2=false",
        ])
        .unwrap();
        assert!(run.leader_elect && !run.metrics.metrics_secure);
        assert_eq!(
            run.metrics.metrics_bind_address,
            BindAddress::Everywhere(8443)
        );
        assert!(run.webhooks.webhook_certs.is_some());
        assert_eq!(run.log.format(), LogFormat::Json);
    }

    #[test]
    fn without_flags_probes_are_answered_and_metrics_are_not() {
        let run = parse(&[]).unwrap();
        assert!(run.health_probe_bind_address.is_default_of_probes());
        assert_eq!(run.metrics.metrics_bind_address, BindAddress::Nowhere);
        assert!(run.metrics.metrics_secure && !run.leader_elect);
        assert_eq!(run.graceful_shutdown_timeout.as_secs(), 30);
    }

    #[test]
    fn addresses_are_spelled_as_go_spells_them() {
        let address: BindAddress = "127.0.0.1:80".parse().unwrap();
        assert_eq!(address.to_string(), "127.0.0.1:80");
        assert_eq!(":80".parse::<BindAddress>().unwrap().to_string(), ":80");
        for wrong in ["", "80", "localhost", ":http", "1.2.3.4"] {
            assert!(wrong.parse::<BindAddress>().is_err(), "{wrong}");
        }
    }
}
