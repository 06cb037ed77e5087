use kube::{Client, Config};
use kubewright_runtime::client::{Manners, connect};
use kubewright_runtime::queue::Bucket;
use kubewright_webhook::{CertificateFiles, Certificates, Incoming, LocalAuthority};
use tokio::net::TcpListener;

use super::flags::{BindAddress, MetricsArguments, RunArguments, WebhookArguments};
use super::{Candidacy, Operator, RunOptions};
use crate::endpoint::{MetricsAccess, MetricsServing};
use crate::{CertificateSource, Error, ManagedCertificates, Repetition, WebhookServing};

/// What the command line says about a run; ports are taken here.
pub(super) async fn options(
    operator: &Operator,
    arguments: &RunArguments,
    config: &Config,
    agent: &str,
) -> Result<RunOptions, Error> {
    Ok(RunOptions {
        webhooks: webhooks(operator, &arguments.webhooks).await?,
        candidacy: candidacy(operator, arguments, config, agent)?,
        probes: probes(&arguments.health_probe_bind_address).await?,
        metrics: metrics(&arguments.metrics).await?,
        host: config
            .cluster_url
            .authority()
            .map(ToString::to_string)
            .unwrap_or_default(),
        manners: manners(arguments),
        grace: arguments.graceful_shutdown_timeout,
        ..RunOptions::default()
    })
}

fn manners(arguments: &RunArguments) -> Manners {
    let per_second = arguments
        .kube_api_qps
        .filter(|per_second| *per_second > 0.0);
    Manners {
        limit: per_second.map(|per_second| Bucket {
            per_second,
            burst: arguments.kube_api_burst,
        }),
        ..RunOptions::default().manners
    }
}

/// The election has a client of its own, so that renewals wait behind nothing.
fn candidacy(
    operator: &Operator,
    arguments: &RunArguments,
    config: &Config,
    agent: &str,
) -> Result<Option<Candidacy>, Error> {
    if !arguments.leader_elect {
        return Ok(None);
    }
    if operator.election.is_none() {
        return Err(super::running::not_registered(&operator.name));
    }
    let client: Client = connect(config.clone(), &format!("{agent} leader-election"))?;
    let namespace = arguments.leader_election_namespace.clone();
    Ok(Some(Candidacy {
        namespace: namespace.unwrap_or_else(|| config.default_namespace.clone()),
        identity: None,
        client: Some(client),
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
            let pair = LocalAuthority::new("metrics")?.issue(&["localhost"])?;
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
) -> Result<Option<WebhookServing>, Error> {
    if operator.questions.is_empty() || !arguments.are_on() {
        return Ok(None);
    }
    let address = arguments.webhook_address;
    let listener = TcpListener::bind(address)
        .await
        .map_err(|source| Error::WebhookAddress { address, source })?;
    let (certificates, source) = certificates(operator, arguments)?;
    tracing::info!(%address, "serving webhooks");
    Ok(Some(WebhookServing {
        incoming: Incoming::Socket(listener),
        certificates,
        source,
        repetition: Repetition::Once,
    }))
}

/// The certificate of the webhooks, and where the next one comes from.
fn certificates(
    operator: &Operator,
    arguments: &WebhookArguments,
) -> Result<(Certificates, CertificateSource), Error> {
    if arguments.managed_certificates {
        let namespace = arguments.namespace.clone();
        let namespace = namespace.unwrap_or_else(|| format!("{}-system", operator.name));
        let managed = ManagedCertificates::of_service(&operator.name, &namespace);
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
