use std::time::Duration;

use kube::Client;
use kubewright_core::Clock;
use kubewright_runtime::controller::Handle;
use kubewright_runtime::events::{EventRecorder, Reporter};
use kubewright_runtime::informer::{InformerOptions, Informers};
use kubewright_runtime::reflector::ReflectorOptions;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::Operator;
use super::task::TaskContext;
use crate::registration::Parts;
use crate::webhook::{CertificateKeeper, WebhookParts, WebhookServing};
use crate::{Error, Permissions, Result};

/// What runs of one operator may differ in.
#[derive(Debug)]
pub struct RunOptions {
    /// Where the time of day comes from.
    pub clock: Clock,
    /// How long running work may take to end once the operator stops.
    pub grace: Duration,
    /// Where webhooks are served; none serves none.
    pub webhooks: Option<WebhookServing>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            clock: Clock::system(),
            grace: Duration::from_secs(30),
            webhooks: None,
        }
    }
}

/// An operator at work; dropped, everything ends at once.
#[derive(Debug)]
pub struct Running {
    stop: CancellationToken,
    /// Controllers and tasks; the informers end after them.
    work: JoinSet<()>,
    informers: Informers,
    permissions: Permissions,
    /// Controllers and webhooks that have not started yet.
    starting: Vec<oneshot::Receiver<()>>,
    controllers: Vec<Handle>,
    grace: Duration,
}

/// Which machine this is; in a Pod, the Pod's name.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "local".to_owned(),
        name => name.to_owned(),
    }
}

impl Running {
    pub(super) fn start(
        operator: Operator,
        client: Client,
        options: RunOptions,
    ) -> Result<Self, Error> {
        let description = operator.registered();
        let managed = options.webhooks.as_ref().and_then(WebhookServing::managed);
        let managed = managed.cloned();
        let mut permissions = Permissions::new(&description);
        if let Some(managed) = &managed {
            permissions = permissions.and(managed.rules(&description));
        }
        let has_webhooks = !operator.questions.is_empty();
        let client = permissions.guard(client);
        let manager = format!("kubewright/{}", operator.name);
        let informers = Informers::new(
            client.clone(),
            InformerOptions {
                reflector: ReflectorOptions {
                    field_manager: Some(manager.clone()),
                    ..ReflectorOptions::default()
                },
                ..InformerOptions::default()
            },
        );
        let reporter = Reporter {
            instance: format!("{}-{}", operator.name, host_name()),
            controller: operator.name.clone(),
        };
        let (events, sink) = EventRecorder::new(client.clone(), options.clock.clone(), reporter);
        let parts = Parts {
            informers: informers.clone(),
            manager,
            client: client.clone(),
            clock: options.clock,
            events,
        };
        let mut running = Self {
            stop: CancellationToken::new(),
            work: JoinSet::new(),
            informers,
            permissions,
            starting: Vec::new(),
            controllers: Vec::new(),
            grace: options.grace,
        };
        running.work.spawn(sink.run(running.stop.clone()));
        for controller in operator.controllers {
            let controller = controller.build(&parts)?;
            let (ready, starting) = oneshot::channel();
            running.starting.push(starting);
            running.controllers.push(controller.handle().clone());
            let stop = running.stop.clone();
            running
                .work
                .spawn(controller.run(ready, stop, options.grace));
        }
        let repetition = options.webhooks.as_ref().map(|serving| serving.repetition);
        let repetition = repetition.unwrap_or_default();
        let webhooks = WebhookParts::build(operator.questions, &parts.informers, repetition)?;
        match options.webhooks {
            Some(serving) => {
                let (ready, starting) = oneshot::channel();
                running.starting.push(starting);
                let stop = running.stop.clone();
                let (client, clock) = (client.clone(), parts.clock.clone());
                let keeper = managed
                    .map(|managed| CertificateKeeper::new(client, clock, &description, managed));
                running
                    .work
                    .spawn(webhooks.serve(serving, keeper, ready, stop));
            }
            None if has_webhooks => tracing::warn!("webhooks are not served"),
            None => {}
        }
        for task in operator.tasks {
            let cx = TaskContext::new(client.clone(), running.stop.clone());
            running.work.spawn(task.supervise(cx));
        }
        Ok(running)
    }

    /// Returns when every cache is filled, every controller works and webhooks are served.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped; call it again to wait on.
    pub async fn ready(&mut self) {
        while let Some(starting) = self.starting.last_mut() {
            // An error means that the controller ended before it was ready.
            if starting.await.is_err() {
                tracing::debug!("a controller or webhook server ended before it was ready");
            }
            self.starting.pop();
        }
    }

    /// The controllers, in the order of their registration: what they have done, and their queues.
    pub fn controllers(&self) -> &[Handle] {
        &self.controllers
    }

    /// What the operator is held to; it tells what was refused.
    pub fn permissions(&self) -> &Permissions {
        &self.permissions
    }

    /// Lets running work end, for at most the grace period, and ends the rest.
    ///
    /// # Cancel safety
    ///
    /// Dropped, everything ends at once.
    pub async fn stop(mut self) {
        self.stop.cancel();
        let all = async { while self.work.join_next().await.is_some() {} };
        if tokio::time::timeout(self.grace, all).await.is_err() {
            tracing::warn!(grace = ?self.grace, "work was still running at the end of the grace period");
        }
        self.work.shutdown().await;
        self.informers.shutdown().await;
    }
}
