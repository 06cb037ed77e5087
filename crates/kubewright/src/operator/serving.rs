use kube::Config;
use kubewright_core::Clock;
use kubewright_runtime::RateLimit;
use kubewright_runtime::client::{ClientLimits, Transport};
use kubewright_webhook::pki::{self, Authority, KeyPairPem};
use kubewright_webhook::{CertificateFiles, Certificates, Incoming};
use tokio::net::TcpListener;

use super::flags::{BindAddress, MetricsArguments, RunArguments, WebhookArguments};
use super::start::system_namespace;
use super::{ElectionOptions, Operator, RunOptions};
use crate::Error;
use crate::endpoint::{MetricsAccess, MetricsServing};
use crate::webhook::{CertificateSource, IdempotenceCheck, ManagedCertificates, WebhookServing};

/// What the command line says about a run; ports are taken here.
pub(super) async fn options(
    operator: &Operator,
    arguments: &RunArguments,
    config: &Config,
    agent: &str,
) -> Result<RunOptions, Error> {
    let namespace = own_namespace(operator, &arguments.webhooks, config);
    Ok(RunOptions {
        webhooks: webhooks(operator, &arguments.webhooks, &namespace).await?,
        election: candidacy(operator, arguments, config, agent)?,
        probes: probes(&arguments.health_probe_bind_address).await?,
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

/// Where the operator runs: as it is told, else where its Pod is, else where its manifests would
/// put it.
fn own_namespace(operator: &Operator, arguments: &WebhookArguments, config: &Config) -> String {
    let told = arguments.namespace.clone();
    told.or_else(|| pod_namespace(config, std::fs::read_to_string))
        .unwrap_or_else(|| system_namespace(&operator.name))
}

const TOKEN_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/token";
const NAMESPACE_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/// The namespace of the Pod that this process is, when its ServiceAccount is who it is in the
/// cluster. With a kubeconfig it is not, also inside a Pod, such as that of a CI runner: the
/// namespace of the context is where its user looks first, not where the operator runs.
fn pod_namespace(
    config: &Config,
    read: impl FnOnce(&'static str) -> std::io::Result<String>,
) -> Option<String> {
    if config.auth_info.token_file.as_deref() != Some(TOKEN_FILE) {
        return None;
    }
    let namespace = read(NAMESPACE_FILE).ok()?;
    let namespace = namespace.trim();
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

/// The election has connections of its own, so that a renewal waits behind no other request.
fn candidacy(
    operator: &Operator,
    arguments: &RunArguments,
    config: &Config,
    agent: &str,
) -> Result<Option<ElectionOptions>, Error> {
    if !arguments.leader_elect {
        return Ok(None);
    }
    if operator.election.is_none() {
        return Err(super::running::not_registered(&operator.name));
    }
    let transport = Transport::connect(config, &format!("{agent} leader-election"))?;
    let namespace = arguments.leader_election_namespace.clone();
    Ok(Some(ElectionOptions {
        namespace: namespace.unwrap_or_else(|| config.default_namespace.clone()),
        identity: None,
        transport: Some(transport),
    }))
}

async fn probes(address: &BindAddress) -> Result<Option<Incoming>, Error> {
    const FLAG: &str = "--health-probe-bind-address";
    match listen("probes", FLAG, address).await {
        Ok(listener) => Ok(listener.map(Incoming::Socket)),
        // Nobody has asked for it: two operators on one laptop must not be in each other's way.
        Err(error) if address.is_default_of_probes() && std::env::var_os(IN_CLUSTER).is_none() => {
            tracing::warn!(%error, "/healthz and /readyz are not answered");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Set in every Pod.
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
    let access = match (arguments.metrics_secure, files) {
        (false, _) => MetricsAccess::Anyone,
        (true, Some(files)) => MetricsAccess::Reviewed {
            certificates: Certificates::new(&files.read()?)?,
            files: Some(files),
        },
        (true, None) => {
            let pair = self_signed().map_err(kubewright_webhook::Error::from)?;
            MetricsAccess::Reviewed {
                certificates: Certificates::new(&pair)?,
                files: None,
            }
        }
    };
    Ok(Some(MetricsServing {
        incoming: Incoming::Socket(listener),
        access,
    }))
}

/// Where the operator's webhooks are served, if it has any and nobody switched them off.
async fn webhooks(
    operator: &Operator,
    arguments: &WebhookArguments,
    namespace: &str,
) -> Result<Option<WebhookServing>, Error> {
    if operator.questions.is_empty() || !arguments.are_on() {
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

/// The certificate of the webhooks, and where the next one comes from.
fn certificates(
    operator: &Operator,
    arguments: &WebhookArguments,
    namespace: &str,
) -> Result<(Certificates, CertificateSource), Error> {
    if arguments.managed_certificates {
        let managed = ManagedCertificates::of_service(&operator.name, namespace);
        return Ok((Certificates::none(), CertificateSource::Managed(managed)));
    }
    // Where controller-runtime looks for them.
    let folder = arguments.webhook_certs.clone().unwrap_or_else(|| {
        let temporary = std::env::temp_dir();
        temporary.join("k8s-webhook-server/serving-certs")
    });
    let files = CertificateFiles::in_folder(folder);
    let files = files.named(&arguments.webhook_cert_name, &arguments.webhook_cert_key);
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

/// A certificate for metrics where none is given. Clients cannot verify it, as with
/// controller-runtime's.
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
    fn the_namespace_of_a_context_is_not_that_of_the_pod() {
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
