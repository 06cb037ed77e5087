//! The options of a run from the command line; opens the listeners.

use kube::Config;
use kubewright_core::Clock;
use kubewright_runtime::RateLimit;
use kubewright_runtime::client::{ClientLimits, Transport};
use kubewright_webhook::pki::{self, Authority, KeyPairPem};
use kubewright_webhook::{CertificateFiles, Certificates, Incoming};
use tokio::net::TcpListener;

use super::bind_address::BindAddress;
use super::builder::Operator;
use super::election::ElectionOptions;
use super::flags::{MetricsArguments, RunArguments, WebhookArguments};
use super::names::system_namespace;
use super::run_options::RunOptions;
use crate::Error;
use crate::endpoint::{MetricsAccess, MetricsServing};
use crate::webhook::{CertificateSource, IdempotenceCheck, ManagedCertificates, WebhookServing};

/// Returns the options of a run from the command line, and opens its listeners.
pub(super) async fn options(
    operator: &Operator,
    arguments: &RunArguments,
    config: &Config,
    agent: &str,
) -> Result<RunOptions, Error> {
    let namespace = own_namespace(operator, &arguments.webhooks, config);
    Ok(RunOptions {
        webhooks: webhooks(operator, &arguments.webhooks, &namespace).await?,
        election: election(operator, arguments, config, agent)?,
        probes: probes(arguments).await?,
        metrics: metrics(&arguments.metrics).await?,
        host: config
            .cluster_url
            .authority()
            .map(ToString::to_string)
            .unwrap_or_default(),
        limits: limits(arguments),
        grace: arguments.graceful_shutdown_timeout,
        namespace: Some(namespace),
        ..RunOptions::default()
    })
}

/// Returns the operator's own namespace: that of the flag, else that of its Pod, else that of its
/// manifests.
fn own_namespace(operator: &Operator, arguments: &WebhookArguments, config: &Config) -> String {
    let flag = arguments.namespace.clone();
    flag.or_else(|| pod_namespace(config, std::fs::read_to_string))
        .unwrap_or_else(|| system_namespace(&operator.name))
}

const TOKEN_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/token";
const NAMESPACE_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/// Returns the namespace of the Pod of this process, if the configuration is that of its
/// ServiceAccount. With a kubeconfig it is not, even inside a Pod such as that of a CI runner: the
/// namespace of the context is a default for its user, not the operator's own.
fn pod_namespace(
    config: &Config,
    read: impl FnOnce(&'static str) -> std::io::Result<String>,
) -> Option<String> {
    if config.auth_info.token_file.as_deref() != Some(TOKEN_FILE) {
        return None;
    }
    let text = read(NAMESPACE_FILE).ok()?;
    let namespace = text.trim();
    (!namespace.is_empty()).then(|| namespace.to_owned())
}

fn limits(arguments: &RunArguments) -> ClientLimits {
    let per_second = arguments
        .kube_api_qps
        .filter(|per_second| *per_second > 0.0);
    ClientLimits {
        rate_limit: per_second.map(|per_second| RateLimit {
            per_second,
            burst: arguments.kube_api_burst,
        }),
        ..RunOptions::default().limits
    }
}

/// Returns options with separate connections, so that a renewal does not wait behind other
/// requests.
fn election(
    operator: &Operator,
    arguments: &RunArguments,
    config: &Config,
    agent: &str,
) -> Result<Option<ElectionOptions>, Error> {
    if !arguments.leader_elect {
        return Ok(None);
    }
    if operator.election.is_none() {
        return Err(Error::NoElection {
            operator: operator.name.clone(),
        });
    }
    let transport = Transport::connect(config, &format!("{agent} leader-election"))?;
    let namespace = arguments.leader_election_namespace.clone();
    Ok(Some(ElectionOptions {
        namespace: namespace.unwrap_or_else(|| config.default_namespace.clone()),
        identity: None,
        transport: Some(transport),
    }))
}

async fn probes(arguments: &RunArguments) -> Result<Option<Incoming>, Error> {
    const FLAG: &str = "--health-probe-bind-address";
    let address = &arguments.health_probe_bind_address;
    match listen("probes", FLAG, address).await {
        Ok(listener) => Ok(listener.map(Incoming::Socket)),
        // The default address must not prevent two operators from running on one laptop.
        Err(error) if arguments.has_default_probes() && std::env::var_os(IN_CLUSTER).is_none() => {
            tracing::warn!(%error, "/healthz and /readyz are not served");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// An environment variable of every Pod.
const IN_CLUSTER: &str = "KUBERNETES_SERVICE_HOST";

async fn metrics(arguments: &MetricsArguments) -> Result<Option<MetricsServing>, Error> {
    const FLAG: &str = "--metrics-bind-address";
    let Some(listener) = listen("metrics", FLAG, &arguments.metrics_bind_address).await? else {
        return Ok(None);
    };
    let files = arguments.metrics_cert_path.as_ref().map(|folder| {
        CertificateFiles::in_folder(folder)
            .named(&arguments.metrics_cert_name, &arguments.metrics_cert_key)
    });
    let access = if arguments.metrics_secure {
        let pair = match &files {
            Some(files) => files.read()?,
            None => self_signed().map_err(kubewright_webhook::Error::from)?,
        };
        MetricsAccess::Reviewed {
            certificates: Certificates::new(&pair)?,
            files,
        }
    } else {
        MetricsAccess::Anyone
    };
    Ok(Some(MetricsServing {
        incoming: Incoming::Socket(listener),
        access,
    }))
}

/// Returns the server of the operator's webhooks, if it has any and they are enabled.
async fn webhooks(
    operator: &Operator,
    arguments: &WebhookArguments,
    namespace: &str,
) -> Result<Option<WebhookServing>, Error> {
    if operator.webhooks.is_empty() || !arguments.are_enabled() {
        return Ok(None);
    }
    let address = arguments.webhook_address;
    let listener = TcpListener::bind(address)
        .await
        .map_err(|source| Error::WebhookAddress { address, source })?;
    let (certificates, source) = certificates(operator, arguments, namespace)?;
    tracing::info!(%address, "serving webhooks");
    Ok(Some(WebhookServing {
        incoming: Incoming::Socket(listener),
        certificates,
        source,
        idempotence: IdempotenceCheck::Off,
    }))
}

/// Returns the certificate of the webhooks, and the source of later ones.
fn certificates(
    operator: &Operator,
    arguments: &WebhookArguments,
    namespace: &str,
) -> Result<(Certificates, CertificateSource), Error> {
    if arguments.managed_certificates {
        let managed = ManagedCertificates::of_service(&operator.name, namespace);
        return Ok((Certificates::none(), CertificateSource::Managed(managed)));
    }
    // The default folder of controller-runtime.
    let folder = arguments.webhook_certs.clone().unwrap_or_else(|| {
        let temporary = std::env::temp_dir();
        temporary.join("k8s-webhook-server/serving-certs")
    });
    let files = CertificateFiles::in_folder(folder)
        .named(&arguments.webhook_cert_name, &arguments.webhook_cert_key);
    let certificates = Certificates::new(&files.read()?)?;
    Ok((certificates, CertificateSource::Files(files)))
}

async fn listen(
    what: &'static str,
    flag: &'static str,
    address: &BindAddress,
) -> Result<Option<TcpListener>, Error> {
    let listener = address.listen().await.map_err(|source| Error::Address {
        what,
        address: address.to_string(),
        flag,
        source,
    })?;
    if listener.is_some() {
        tracing::info!(%address, "serving {what}");
    }
    Ok(listener)
}

/// Returns a generated certificate for metrics. Clients cannot verify it, as with
/// controller-runtime.
fn self_signed() -> Result<KeyPairPem, pki::Error> {
    const DAYS: u16 = 365;
    let authority = Authority::valid_from("metrics", Clock::system().now(), DAYS)?;
    authority.issue_server(&["localhost"])
}

#[cfg(test)]
mod tests {
    use kube::Config;

    use super::{NAMESPACE_FILE, TOKEN_FILE, pod_namespace};

    #[test]
    fn namespace_of_a_context_is_not_that_of_the_pod() {
        let mut config = Config::new("https://10.0.0.1".parse().unwrap());
        config.default_namespace = "context".to_owned();
        let read = |path: &'static str| {
            assert_eq!(path, NAMESPACE_FILE);
            Ok("runner\n".to_owned())
        };
        assert_eq!(pod_namespace(&config, read), None);
        config.auth_info.token_file = Some(TOKEN_FILE.to_owned());
        assert_eq!(pod_namespace(&config, read).as_deref(), Some("runner"));
        let missing = |_: &'static str| Err(std::io::ErrorKind::NotFound.into());
        assert_eq!(pod_namespace(&config, missing), None);
    }
}
