//! The flags of `run`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args};

use super::bind_address::BindAddress;
use super::builder::Operator;
use super::log::LogArguments;
use crate::Error;

/// The arguments of `run`: the flags of kubebuilder's managers, and some more.
#[derive(Args, Debug)]
pub(super) struct RunArguments {
    /// The kubeconfig of the cluster [default: KUBECONFIG, the Pod's ServiceAccount,
    /// ~/.kube/config]
    #[arg(long)]
    pub(super) kubeconfig: Option<PathBuf>,
    #[command(flatten)]
    pub(super) log: LogArguments,
    /// Elect a leader, and reconcile only while this copy leads
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true)]
    #[arg(
        default_value = "false",
        default_missing_value = "true",
        value_name = "BOOL"
    )]
    pub(super) leader_elect: bool,
    /// The namespace of the Lease [default: that of the Pod or of the kubeconfig's context]
    #[arg(long)]
    pub(super) leader_election_namespace: Option<String>,
    /// The address of /healthz and /readyz; 0 to disable them
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
    /// The maximum number of requests per second to the API server [default: unlimited]
    #[arg(long, value_name = "NUMBER")]
    pub(super) kube_api_qps: Option<f64>,
    /// The maximum number of requests in a burst
    #[arg(long, default_value = "10", value_name = "NUMBER")]
    pub(super) kube_api_burst: u32,
    /// The grace period for running work when the operator stops, in seconds
    #[arg(long, default_value = "30", value_parser = seconds, value_name = "SECONDS")]
    pub(super) graceful_shutdown_timeout: Duration,
}

/// The flags of the metrics server.
#[derive(Args, Debug)]
pub(super) struct MetricsArguments {
    /// The address of /metrics, such as :8443; 0 to disable it
    #[arg(long, default_value = "0", value_name = "ADDRESS")]
    pub(super) metrics_bind_address: BindAddress,
    /// Serve metrics over HTTPS, to users whom the API server authenticates and authorizes
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true)]
    #[arg(
        default_value = "true",
        default_missing_value = "true",
        value_name = "BOOL"
    )]
    pub(super) metrics_secure: bool,
    /// The folder with the certificate of the metrics [default: a generated one for localhost]
    #[arg(long)]
    pub(super) metrics_cert_path: Option<PathBuf>,
    /// The file of the certificate in that folder
    #[arg(long, default_value = "tls.crt", value_name = "FILE")]
    pub(super) metrics_cert_name: String,
    /// The file of the key in that folder
    #[arg(long, default_value = "tls.key", value_name = "FILE")]
    pub(super) metrics_cert_key: String,
}

/// The flags of the webhook server.
#[derive(Args, Debug)]
pub(super) struct WebhookArguments {
    /// The address of the webhooks
    #[arg(long, default_value = "0.0.0.0:9443")]
    pub(super) webhook_address: SocketAddr,
    /// The folder with the certificate of the webhooks [default: k8s-webhook-server/serving-certs
    /// in the folder of temporary files]
    #[arg(long, alias = "webhook-cert-path")]
    pub(super) webhook_certs: Option<PathBuf>,
    /// The file of the certificate in that folder
    #[arg(long, default_value = "tls.crt", value_name = "FILE")]
    pub(super) webhook_cert_name: String,
    /// The file of the key in that folder
    #[arg(long, default_value = "tls.key", value_name = "FILE")]
    pub(super) webhook_cert_key: String,
    /// Create and renew the webhooks' certificate in a Secret, and write its CA bundle
    #[arg(long, conflicts_with = "webhook_certs")]
    pub(super) managed_certificates: bool,
    /// The operator's own namespace [default: that of its Pod, or NAME-system]
    #[arg(long, env = "POD_NAMESPACE")]
    pub(super) namespace: Option<String>,
    /// Run without webhooks
    #[arg(long)]
    pub(super) no_webhooks: bool,
    /// Whether to run with webhooks
    #[arg(long, hide = true, env = "ENABLE_WEBHOOKS", value_name = "BOOL")]
    pub(super) enable_webhooks: Option<String>,
}

/// Whether the operator's servers support HTTP/2.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Http2Flag {
    /// Serve webhooks over HTTP/2 too
    #[arg(long, hide = true, action = ArgAction::Set, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", value_name = "BOOL")]
    enable_http2: Option<bool>,
}

impl Http2Flag {
    /// Logs a warning if the flag contradicts the build.
    pub(super) fn warn_if_ignored(self) {
        let is_built = cfg!(feature = "http2");
        if self.enable_http2.is_some_and(|enabled| enabled != is_built) {
            tracing::warn!(
                is_built,
                "--enable-http2 has no effect: HTTP/2 is enabled by the feature http2 of kubewright \
                 when the operator is built"
            );
        }
    }
}

/// Whether the cluster serves policies.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct PolicyFlag {
    /// Replace policies by their fallback webhooks, for a cluster that serves no policies
    #[arg(long)]
    no_policies: bool,
}

impl PolicyFlag {
    /// Returns the operator with or without policies.
    pub(super) fn apply(self, operator: Operator) -> Result<Operator, Error> {
        if self.no_policies {
            operator.without_policies()
        } else {
            Ok(operator)
        }
    }
}

/// The default of kubebuilder's managers.
const DEFAULT_PROBES: &str = ":8081";

impl RunArguments {
    /// Whether the address of the probes is the default.
    pub(super) fn has_default_probes(&self) -> bool {
        DEFAULT_PROBES.parse().as_ref() == Ok(&self.health_probe_bind_address)
    }
}

impl WebhookArguments {
    pub(super) fn are_enabled(&self) -> bool {
        !self.no_webhooks && self.enable_webhooks.as_deref() != Some("false")
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let text = text.strip_suffix('s').unwrap_or(text);
    let seconds = text.parse().map_err(|_| "not a number of seconds");
    Ok(Duration::from_secs(seconds?))
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
    fn flags_of_a_kubebuilder_deployment_are_accepted() {
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
            BindAddress::AllAddresses(8443)
        );
        assert!(run.webhooks.webhook_certs.is_some());
        assert_eq!(run.log.format(), LogFormat::Json);
    }

    #[test]
    fn without_flags_probes_are_served_and_metrics_are_not() {
        let run = parse(&[]).unwrap();
        assert!(run.has_default_probes());
        assert_eq!(run.metrics.metrics_bind_address, BindAddress::Disabled);
        assert!(run.metrics.metrics_secure && !run.leader_elect);
        assert_eq!(run.graceful_shutdown_timeout.as_secs(), 30);
    }
}
