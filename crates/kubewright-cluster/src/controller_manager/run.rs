//! Runs the enabled controllers, and restarts those that panic.

use std::collections::HashMap;
use std::time::Duration;

use kubewright_apiserver::Server;
use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;

use super::entry::{ControllerEntry, StartContext};
use super::name::ControllerName;
use super::options::Controllers;
use super::table::CONTROLLERS;
use crate::kubelet::SharedKubeletSettings;

/// The delay before a controller that has panicked is restarted.
const RESTART_DELAY: Duration = Duration::from_secs(1);

/// Runs the enabled controllers until they are cancelled.
pub(crate) async fn run(
    server: &Server,
    kubelet_settings: &SharedKubeletSettings,
    controllers: &Controllers,
    cancel: CancellationToken,
) {
    let context = StartContext {
        server: server.clone(),
        kubelet_settings: kubelet_settings.clone(),
        root_certificate_pem: controllers.root_certificate_pem().to_owned(),
        records_events: controllers.records_events(),
    };
    let mut tasks = JoinSet::new();
    let mut running: HashMap<Id, &ControllerEntry> = HashMap::new();
    for entry in &CONTROLLERS {
        if controllers.is_enabled(ControllerName::of(entry)) {
            let task = tasks.spawn(entry.start(&context, cancel.clone()));
            running.insert(task.id(), entry);
        }
    }
    while let Some(ended) = tasks.join_next_with_id().await {
        let Err(error) = ended else {
            continue;
        };
        let Some(entry) = running.remove(&error.id()) else {
            continue;
        };
        tracing::error!(controller = entry.name, %error, "a controller panicked: restarting it");
        tokio::select! {
            () = cancel.cancelled() => {}
            () = tokio::time::sleep(RESTART_DELAY) => {
                let task = tasks.spawn(entry.start(&context, cancel.clone()));
                running.insert(task.id(), entry);
            }
        }
    }
}
