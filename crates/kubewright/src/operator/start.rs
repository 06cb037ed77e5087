//! Starts an operator: clients, caches, servers, controllers and tasks.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join;
use kube::Client;
use kubewright_core::{Clock, Description, PolicyRule};
use kubewright_runtime::NamespaceSet;
use kubewright_runtime::client::{RequestFilter as _, RequestMetrics, Transport};
use kubewright_runtime::election::{Candidate, Elector, Fence, Leadership};
use kubewright_runtime::events::{EventRecorder, Reporter};
use kubewright_runtime::informer::{InformerOptions, Informers};
use kubewright_runtime::reflector::ReflectorOptions;
use kubewright_webhook::{Incoming, WebhookMetrics};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use super::builder::Operator;
use super::client_stack::ClientStack;
use super::component::{Component, ComponentState};
use super::election::ElectionOptions;
use super::names::system_namespace;
use super::readiness::WEBHOOKS;
use super::run_options::RunOptions;
use super::running::Running;
use super::task::{Task, TaskContext};
use super::task_group::TaskGroup;
use super::transforms::Transforms;
use crate::Error;
use crate::controller::{AnyController, Environment};
use crate::endpoint::{Endpoint, MetricsAccess, MetricsPage, MetricsServing, Probes, ReviewClient};
use crate::permissions::Permissions;
use crate::webhook::{
    CertificateRotator, ManagedCertificates, OperatorWebhooks, WebhookRegistrations, WebhookServing,
};

/// Starts the components of the operator: servers first, controllers and tasks last.
pub(super) fn start(
    operator: Operator,
    transport: Transport,
    options: RunOptions,
) -> Result<Running, Error> {
    let description = operator.registered();
    let managed = options.webhooks.as_ref().and_then(WebhookServing::managed);
    let permissions = Permissions::in_namespaces(&description, operator.namespaces.clone())
        .and(rules_of(managed, &description));
    let requests = RequestMetrics::new(&options.host);
    let stack = ClientStack {
        permissions: permissions.clone(),
        requests: requests.clone(),
        user_layers: operator.client_layers.clone(),
    };
    let reviewer = transport.clone().client();
    let unlimited = transport.clone();
    let transport = stack.wrap(transport, Some(options.limits));
    let unfenced = transport.clone().client();
    let (elector, leadership) = elector(
        &operator,
        options.election.as_ref(),
        options.clock.clone(),
        |transport| {
            // Renewals have no rate limit: a Lease that is renewed late is lost.
            let transport = transport.unwrap_or_else(|| unlimited.clone());
            stack.wrap(transport, None).client()
        },
    )?;
    let manager = format!("kubewright/{}", operator.name);
    let own_namespace = options
        .namespace
        .unwrap_or_else(|| system_namespace(&operator.name));
    let informers = informers(
        unfenced.clone(),
        manager.clone(),
        operator.namespaces.clone(),
        operator.transforms,
    );
    let (events, sink) = EventRecorder::new(
        unfenced.clone(),
        options.clock.clone(),
        reporter(&operator.name),
    );
    let environment = Environment {
        informers,
        manager,
        client: transport.client_with(Fence::new(leadership.clone()).layer()),
        unfenced,
        leadership,
        clock: options.clock,
        namespaces: operator.namespaces,
        own_namespace: own_namespace.into(),
        events,
    };
    let mut running = Running::idle(&environment, permissions, options.grace);
    let server = options
        .webhooks
        .map(|serving| WebhookServer::new(serving, &environment, &description));
    let webhooks = running.serve_webhooks(operator.webhooks, server, &environment)?;
    running.work.spawn(sink.run(running.work.stop()));
    running.run_controllers(operator.controllers, &environment)?;
    let tasks = running.run_tasks(operator.tasks, &environment);
    if let Some(elector) = elector {
        running.elect(elector);
    }
    let mut probes = Probes {
        healthz: operator.healthz,
        readyz: operator.readyz,
    };
    running.check_readiness(&mut probes, tasks, &description);
    running.serve_probes(probes, options.probes);
    if let Some(serving) = options.metrics {
        let page = MetricsPage {
            controllers: running.controllers.clone(),
            informers: environment.informers,
            requests,
            webhooks,
            events: environment.events,
            lease: description.lease.filter(|_| options.election.is_some()),
            leadership: environment.leadership,
            extra: operator.metrics,
        };
        running.serve_metrics(serving, page, reviewer)?;
    }
    Ok(running)
}

/// The server of an operator's webhooks, before it starts.
struct WebhookServer {
    serving: WebhookServing,
    rotator: Option<CertificateRotator>,
}

impl WebhookServer {
    fn new(serving: WebhookServing, environment: &Environment, description: &Description) -> Self {
        let rotator = serving.managed().cloned().map(|managed| {
            let (client, clock) = (environment.unfenced.clone(), environment.clock.clone());
            CertificateRotator::new(client, clock, description, managed)
        });
        Self { serving, rotator }
    }
}

impl Running {
    /// Returns an operator of which nothing has started.
    fn idle(environment: &Environment, permissions: Permissions, grace: Duration) -> Self {
        Self {
            work: TaskGroup::new("controllers and tasks"),
            election: TaskGroup::new("the election"),
            webhooks: TaskGroup::new("webhooks"),
            servers: TaskGroup::new("probes and metrics"),
            informers: environment.informers.clone(),
            leadership: environment.leadership.clone(),
            permissions,
            components: Vec::new(),
            controllers: Vec::new(),
            probes: Arc::default(),
            grace,
        }
    }

    /// Serves webhooks and returns their metrics, which stay empty if they are not served.
    ///
    /// The server starts before the caches are filled: a list may need a conversion webhook.
    fn serve_webhooks(
        &mut self,
        registrations: WebhookRegistrations,
        server: Option<WebhookServer>,
        environment: &Environment,
    ) -> Result<WebhookMetrics, Error> {
        let has_webhooks = !registrations.is_empty();
        let idempotence = server
            .as_ref()
            .map(|server| server.serving.idempotence)
            .unwrap_or_default();
        let webhooks = OperatorWebhooks::build(registrations, &environment.informers, idempotence)?;
        let Some(server) = server else {
            if has_webhooks {
                tracing::warn!("webhooks are not served");
            }
            return Ok(WebhookMetrics::default());
        };
        let metrics = webhooks.metrics().clone();
        let component = self.component(WEBHOOKS);
        let (ready, started) = oneshot::channel();
        let stop = self.webhooks.stop();
        let serve = webhooks.serve(server.serving, server.rotator, ready, stop);
        self.webhooks.spawn(track_state(component, started, serve));
        Ok(metrics)
    }

    fn run_controllers(
        &mut self,
        controllers: Vec<Box<dyn AnyController>>,
        environment: &Environment,
    ) -> Result<(), Error> {
        for controller in controllers {
            let controller = controller.build(environment)?;
            self.controllers.push(controller.handle().clone());
            let component = self.component(format!("controller-{}", controller.handle().name()));
            let (ready, started) = oneshot::channel();
            let run = controller.run(ready, self.work.stop(), self.grace);
            self.work.spawn(track_state(component, started, run));
        }
        Ok(())
    }

    fn run_tasks(&mut self, tasks: Vec<Task>, environment: &Environment) -> Vec<Component> {
        let mut components = Vec::new();
        for task in tasks {
            let component = Component::new(format!("task-{}", task.name()));
            components.push(component.clone());
            let cx = TaskContext::new(environment, self.work.stop());
            self.work.spawn(task.supervise(cx, component));
        }
        components
    }

    /// Takes part in the election once all components have started: a leader that cannot work would
    /// block the other copies.
    fn elect(&mut self, elector: Elector) {
        let (stop, components) = (self.election.stop(), self.components.clone());
        self.election.spawn(async move {
            let started = async {
                for component in &components {
                    component.started().await;
                }
            };
            if stop.run_until_cancelled(started).await.is_some() {
                elector.run(stop).await;
            }
        });
    }

    fn serve_probes(&mut self, probes: Probes, incoming: Option<Incoming>) {
        self.probes = Arc::new(probes);
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
        let (tls, reviews) = match serving.access {
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
                (Some(tls), Some(ReviewClient::new(client)))
            }
        };
        let endpoint = Endpoint {
            incoming: serving.incoming,
            tls,
            handler: Arc::new(page).handler(reviews),
        };
        let stop = self.servers.stop();
        self.servers.spawn(endpoint.serve(stop));
        Ok(())
    }

    fn component(&mut self, name: impl Into<Arc<str>>) -> Component {
        let component = Component::new(name);
        self.components.push(component.clone());
        component
    }
}

/// Runs a component and updates its state.
async fn track_state(
    component: Component,
    started: oneshot::Receiver<()>,
    run: impl Future<Output = ()>,
) {
    let running = async {
        if started.await.is_ok() {
            component.set_state(ComponentState::Running);
        }
    };
    join(running, run).await;
    component.set_state(ComponentState::Completed);
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

/// Returns the elector of this copy, if it takes part in an election, and its leadership.
fn elector(
    operator: &Operator,
    options: Option<&ElectionOptions>,
    clock: Clock,
    client: impl Fn(Option<Transport>) -> Client,
) -> Result<(Option<Elector>, Leadership), Error> {
    let Some(options) = options else {
        return Ok((None, Leadership::without_election()));
    };
    let election = operator
        .election
        .as_ref()
        .ok_or_else(|| Error::NoElection {
            operator: operator.name.clone(),
        })?;
    let lease = election.lease.clone();
    let identity = options.identity.clone();
    let candidate = Candidate {
        namespace: options.namespace.clone(),
        lease: lease.unwrap_or_else(|| operator.name.clone()),
        identity: identity.unwrap_or_else(|| Candidate::identity_on(&host_name())),
        times: election.times,
    };
    let client = client(options.transport.clone());
    let (elector, leadership) = Elector::new(client, clock, candidate)?;
    Ok((Some(elector), leadership))
}

/// Returns the rules that a managed certificate needs, if there is one.
fn rules_of(managed: Option<&ManagedCertificates>, description: &Description) -> Vec<PolicyRule> {
    managed.map_or_else(Vec::new, |managed| managed.rules(description))
}

fn reporter(operator: &str) -> Reporter {
    Reporter {
        instance: format!("{operator}-{}", host_name()),
        controller: operator.to_owned(),
    }
}

/// Returns the host name, which is the name of the Pod inside a Pod.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "local".to_owned(),
        name => name.to_owned(),
    }
}
