//! The checks of `/readyz` that an operator has by itself.

use kubewright_core::Description;
use kubewright_runtime::informer::{InformerStatus, Obstacle};

use super::component::Component;
use super::running::Running;
use crate::endpoint::Probes;

/// The name of the webhooks' component and check.
pub(super) const WEBHOOKS: &str = "webhooks";

impl Running {
    /// Adds the checks of caches, webhooks, tasks and the election.
    ///
    /// Kinds that this process converts are excluded: the API server needs the process to list
    /// them.
    pub(super) fn check_readiness(
        &self,
        probes: &mut Probes,
        tasks: Vec<Component>,
        description: &Description,
    ) {
        let informers = self.informers.clone();
        let converted: Vec<String> = description
            .conversions
            .iter()
            .map(|conversion| conversion.hub.qualified_name())
            .collect();
        let caches = move || not_synced(&informers.stats(), &converted);
        probes.readyz.add_sync("caches", caches);
        let webhooks = self
            .components
            .iter()
            .filter(|component| component.name() == WEBHOOKS);
        for component in webhooks.cloned().chain(tasks) {
            let name = component.name().to_owned();
            probes.readyz.add_sync(name, move || component.problem());
        }
        let leadership = self.leadership.clone();
        if leadership.is_elected() {
            probes
                .readyz
                .add_sync("leader-election", move || leadership.last_error());
        }
    }
}

/// Returns the caches that are not filled yet, with the reason.
fn not_synced(informers: &[InformerStatus], except: &[String]) -> Option<String> {
    let missing = informers.iter().filter(|informer| {
        !informer.is_synced && !except.contains(&informer.spec.resource.qualified_name())
    });
    let described = missing.map(|informer| {
        let name = informer.spec.resource.qualified_name();
        match (informer.obstacle, &informer.stats.last_error) {
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
    let described: Vec<_> = described.collect();
    (!described.is_empty()).then(|| format!("not filled yet: {}", described.join(", ")))
}

fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(error.source(), |error| error.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
