use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join;
use kube::Client;
use kubewright_core::{Clock, Description};
use kubewright_runtime::NamespaceSet;
use kubewright_runtime::client::{RequestFilter as _, RequestMetrics, Transport};
use kubewright_runtime::election::{Candidate, Elector, Fence, Leadership};
use kubewright_runtime::events::{EventRecorder, Reporter};
use kubewright_runtime::informer::{InformerOptions, InformerStatus, Informers, Obstacle};
use kubewright_runtime::reflector::ReflectorOptions;
use kubewright_webhook::{Incoming, WebhookMetrics};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use super::cache::Transforms;
use super::client_stack::ClientStack;
use super::group::Group;
use super::part::{Part, Phase};
use super::running::{ElectionOptions, RunOptions, Running, not_registered};
use super::task::{Task, TaskContext};
use super::{LeaderElection, Operator};
use crate::Error;
use crate::controller::{Parts, Registered};
use crate::endpoint::{Access, Endpoint, MetricsAccess, MetricsPage, MetricsServing, Probes};
use crate::permission::Permissions;
use crate::webhook::{
    CertificateKeeper, ManagedCertificates, Questions, WebhookParts, WebhookServing,
};

/// Starts the operator's parts: what answers first, what works last.
pub(super) fn start(
    operator: Operator,
    transport: Transport,
    options: RunOptions,
) -> Result<Running, Error> {
    let description = operator.registered();
    let managed = options.webhooks.as_ref().and_then(WebhookServing::managed);
    let managed = managed.cloned();
    let mut permissions = Permissions::within(&description, operator.namespaces.clone());
    if let Some(managed) = &managed {
        permissions = permissions.and(managed.rules(&description));
    }
    let requests = RequestMetrics::new(&options.host);
    let stack = ClientStack {
        permissions: permissions.clone(),
        requests: requests.clone(),
        user_layers: operator.client_layers.clone(),
    };
    let reviewer = transport.clone().client();
    let transport = stack.wrap(transport, Some(options.limits));
    let unfenced = transport.clone().client();
    let (elector, leadership) = candidate(
        &operator,
        options.election.as_ref(),
        options.clock.clone(),
        |own| match own {
            // Renewals are not limited: a Lease that is renewed late is lost.
            Some(own) => stack.wrap(own, None).client(),
            None => unfenced.clone(),
        },
    )?;
    let manager = format!("kubewright/{}", operator.name);
    let own_namespace = options.namespace;
    let own_namespace = own_namespace.unwrap_or_else(|| system_namespace(&operator.name));
    let informers = informers(
        unfenced.clone(),
        manager.clone(),
        operator.namespaces.clone(),
        operator.transforms,
    );
    let reporter = Reporter {
        instance: format!("{}-{}", operator.name, host_name()),
        controller: operator.name.clone(),
    };
    let (events, sink) = EventRecorder::new(unfenced.clone(), options.clock.clone(), reporter);
    let parts = Parts {
        informers: informers.clone(),
        manager,
        client: transport.client_with(Fence::new(leadership.clone()).layer()),
        unfenced,
        leadership: leadership.clone(),
        clock: options.clock,
        namespaces: operator.namespaces,
        own_namespace: own_namespace.into(),
        events: events.clone(),
    };
    let mut running = Running::idle(&parts, permissions, options.grace);
    let mut probes = Probes {
        healthz: operator.healthz,
        readyz: operator.readyz,
    };
    let keeper = managed.map(|managed| keeper(managed, &parts, &description));
    let serving = options.webhooks.map(|serving| (serving, keeper));
    let webhooks = running.serve_webhooks(operator.questions, serving, &parts)?;
    running.work.spawn(sink.run(running.work.stop()));
    running.run_controllers(operator.controllers, &parts)?;
    let tasks = running.run_tasks(operator.tasks, &parts);
    if let Some(elector) = elector {
        running.elect(elector);
    }
    running.check_readiness(&mut probes, tasks, &description);
    running.probes = Arc::new(probes);
    running.serve_probes(options.probes);
    if let Some(serving) = options.metrics {
        let page = MetricsPage {
            controllers: running.controllers.clone(),
            informers,
            requests,
            webhooks,
            events,
            lease: description.lease.filter(|_| options.election.is_some()),
            leadership,
            extra: operator.metrics,
        };
        running.serve_metrics(serving, page, reviewer)?;
    }
    Ok(running)
}

impl Running {
    /// With nothing at work yet.
    fn idle(parts: &Parts, permissions: Permissions, grace: Duration) -> Self {
        Self {
            work: Group::new("controllers and tasks"),
            election: Group::new("the election"),
            webhooks: Group::new("webhooks"),
            servers: Group::new("probes and metrics"),
            informers: parts.informers.clone(),
            leadership: parts.leadership.clone(),
            permissions,
            parts: Vec::new(),
            controllers: Vec::new(),
            probes: Arc::default(),
            grace,
        }
    }

    /// Webhooks are served before the caches are filled: to fill one may need a webhook. Answers
    /// what counts them; where none are served, nothing is counted.
    fn serve_webhooks(
        &mut self,
        questions: Questions,
        serving: Option<(WebhookServing, Option<CertificateKeeper>)>,
        parts: &Parts,
    ) -> Result<WebhookMetrics, Error> {
        let has_webhooks = !questions.is_empty();
        let idempotence = serving.as_ref().map(|(serving, _)| serving.idempotence);
        let idempotence = idempotence.unwrap_or_default();
        let webhooks = WebhookParts::build(questions, &parts.informers, idempotence)?;
        let Some((serving, keeper)) = serving else {
            if has_webhooks {
                tracing::warn!("webhooks are not served");
            }
            return Ok(WebhookMetrics::default());
        };
        let metrics = webhooks.metrics().clone();
        let part = self.part("webhooks");
        let (ready, started) = oneshot::channel();
        let served = webhooks.serve(serving, keeper, ready, self.webhooks.stop());
        self.webhooks.spawn(follow(part, started, served));
        Ok(metrics)
    }

    fn run_controllers(
        &mut self,
        controllers: Vec<Box<dyn Registered>>,
        parts: &Parts,
    ) -> Result<(), Error> {
        for controller in controllers {
            let controller = controller.build(parts)?;
            self.controllers.push(controller.handle().clone());
            let part = self.part(format!("controller-{}", controller.handle().name()));
            let (ready, started) = oneshot::channel();
            let run = controller.run(ready, self.work.stop(), self.grace);
            self.work.spawn(follow(part, started, run));
        }
        Ok(())
    }

    fn run_tasks(&mut self, tasks: Vec<Task>, parts: &Parts) -> Vec<Part> {
        let mut watched = Vec::new();
        for task in tasks {
            let part = Part::new(format!("task-{}", task.name()));
            watched.push(part.clone());
            let cx = TaskContext::new(parts, self.work.stop());
            self.work.spawn(task.supervise(cx, part));
        }
        watched
    }

    /// Stands for election once everything is at hand: a leader that cannot work would keep
    /// others from it.
    fn elect(&mut self, elector: Elector) {
        let (stop, parts) = (self.election.stop(), self.parts.clone());
        self.election.spawn(async move {
            let started = async {
                for part in &parts {
                    part.started().await;
                }
            };
            if stop.run_until_cancelled(started).await.is_some() {
                elector.run(stop).await;
            }
        });
    }

    /// Kinds that this process converts are left out: to list them needs the process itself.
    fn check_readiness(&self, probes: &mut Probes, tasks: Vec<Part>, description: &Description) {
        let informers = self.informers.clone();
        let converted = description.conversions.iter();
        let converted: Vec<String> = converted.map(|one| one.hub.qualified_name()).collect();
        let caches = move || not_synced(&informers.stats(), &converted);
        probes.readyz.add_known("caches", caches);
        let webhooks = self.parts.iter().filter(|part| part.name() == "webhooks");
        for part in webhooks.cloned().chain(tasks) {
            let name = part.name().to_owned();
            probes.readyz.add_known(name, move || part.problem());
        }
        let leadership = self.leadership.clone();
        if leadership.is_elected() {
            probes
                .readyz
                .add_known("leader-election", move || leadership.last_error());
        }
    }

    fn serve_probes(&mut self, incoming: Option<Incoming>) {
        let Some(incoming) = incoming else {
            return;
        };
        let endpoint = Endpoint {
            incoming,
            tls: None,
            handler: Arc::clone(&self.probes).handler(),
        };
        let stop = self.servers.stop();
        self.servers.spawn(endpoint.serve(stop));
    }

    fn serve_metrics(
        &mut self,
        serving: MetricsServing,
        page: MetricsPage,
        client: Client,
    ) -> Result<(), Error> {
        let (tls, access) = match serving.access {
            MetricsAccess::Anyone => (None, None),
            MetricsAccess::Reviewed {
                certificates,
                files,
            } => {
                let tls = TlsAcceptor::from(certificates.tls(&["http/1.1"])?);
                if let Some(files) = files {
                    let stop = self.servers.stop();
                    self.servers
                        .spawn(async move { files.follow(certificates, stop).await });
                }
                (Some(tls), Some(Access::new(client)))
            }
        };
        let endpoint = Endpoint {
            incoming: serving.incoming,
            tls,
            handler: Arc::new(page).handler(access),
        };
        let stop = self.servers.stop();
        self.servers.spawn(endpoint.serve(stop));
        Ok(())
    }

    fn part(&mut self, name: impl Into<Arc<str>>) -> Part {
        let part = Part::new(name);
        self.parts.push(part.clone());
        part
    }
}

/// Where the manifests put an operator unless they are told otherwise.
pub(super) fn system_namespace(operator: &str) -> String {
    format!("{operator}-system")
}

/// Keeps note of how far a part is.
async fn follow(part: Part, started: oneshot::Receiver<()>, run: impl Future<Output = ()>) {
    let begun = async {
        if started.await.is_ok() {
            part.enter(Phase::Working);
        }
    };
    join(begun, run).await;
    part.enter(Phase::Ended);
}

/// The caches that are not filled yet, and why.
fn not_synced(informers: &[InformerStatus], except: &[String]) -> Option<String> {
    let missing = informers.iter().filter(|one| !one.is_synced);
    let missing = missing.filter(|one| !except.contains(&one.spec.resource.qualified_name()));
    let missing = missing.map(|one| {
        let name = one.spec.resource.qualified_name();
        match (one.obstacle, &one.stats.last_error) {
            (Some(Obstacle::NotServed), _) => {
                format!("{name} (not served: install its CustomResourceDefinition)")
            }
            (Some(Obstacle::Forbidden), _) => {
                format!("{name} (not permitted: grant list and watch)")
            }
            (_, Some(error)) => format!("{name} ({})", with_causes(error)),
            (_, None) => name,
        }
    });
    let missing: Vec<_> = missing.collect();
    (!missing.is_empty()).then(|| format!("not filled yet: {}", missing.join(", ")))
}

fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(error.source(), |error| error.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

fn keeper(
    managed: ManagedCertificates,
    parts: &Parts,
    description: &Description,
) -> CertificateKeeper {
    let (client, clock) = (parts.unfenced.clone(), parts.clock.clone());
    CertificateKeeper::new(client, clock, description, managed)
}

fn informers(
    client: Client,
    manager: String,
    namespaces: Option<NamespaceSet>,
    transforms: Transforms,
) -> Informers {
    let reflector = ReflectorOptions {
        field_manager: Some(manager),
        transforms: transforms.by_kind,
        transform: transforms.others,
        ..ReflectorOptions::default()
    };
    let options = InformerOptions {
        reflector,
        namespaces,
        ..InformerOptions::default()
    };
    Informers::new(client, options)
}

fn candidate(
    operator: &Operator,
    candidacy: Option<&ElectionOptions>,
    clock: Clock,
    client: impl Fn(Option<Transport>) -> Client,
) -> Result<(Option<Elector>, Leadership), Error> {
    let Some(candidacy) = candidacy else {
        return Ok((None, Leadership::without_election()));
    };
    let election: &LeaderElection = match &operator.election {
        Some(election) => election,
        None => return Err(not_registered(&operator.name)),
    };
    let lease = election.lease.clone();
    let identity = candidacy.identity.clone();
    let candidate = Candidate {
        namespace: candidacy.namespace.clone(),
        lease: lease.unwrap_or_else(|| operator.name.clone()),
        identity: identity.unwrap_or_else(|| Candidate::identity_on(&host_name())),
        times: election.times,
    };
    let client = client(candidacy.transport.clone());
    let (elector, leadership) = Elector::new(client, clock, candidate)?;
    Ok((Some(elector), leadership))
}

/// Which machine this is; in a Pod, the Pod's name.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "local".to_owned(),
        name => name.to_owned(),
    }
}
