//! How many Pods a budget expects, and how many of them must be healthy.

use std::collections::BTreeMap;
use std::sync::Arc;

use kubewright_apiserver::store::{Key, Object, Store};
use kubewright_kinds::{BuiltinKind, apps, core};
use serde_json::Value;

use crate::framework::{Rounding, controller_of, int_or_percent, number};

/// The Pods that a budget counts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expectation {
    pub(super) expected: i64,
    /// How many of them must be healthy.
    pub(super) desired: i64,
}

/// The expectation of a budget that selects these Pods, or why it cannot be calculated
/// (`getExpectedPodCount` of pkg/controller/disruption).
pub(super) fn expected_pods(
    store: &Store,
    budget: &Object,
    pods: &[Arc<Object>],
) -> Result<Expectation, String> {
    let spec = |field: &str| budget.value().pointer(&format!("/spec/{field}"));
    let share = |value: &Value, total| {
        int_or_percent(value, total, Rounding::Up)
            .ok_or_else(|| format!("invalid value for IntOrString: {value}"))
    };
    if let Some(max_unavailable) = spec("maxUnavailable") {
        let expected = total_replicas(store, pods)?;
        let max_unavailable = share(max_unavailable, expected)?;
        return Ok(Expectation {
            expected,
            desired: (expected - max_unavailable).max(0),
        });
    }
    match spec("minAvailable") {
        None => Ok(Expectation {
            expected: 0,
            desired: 0,
        }),
        Some(min_available) if min_available.is_string() => {
            let expected = total_replicas(store, pods)?;
            Ok(Expectation {
                expected,
                desired: share(min_available, expected)?,
            })
        }
        Some(min_available) => Ok(Expectation {
            expected: i64::try_from(pods.len()).unwrap_or(i64::MAX),
            desired: min_available.as_i64().unwrap_or_default(),
        }),
    }
}

/// The sum of `spec.replicas` of the controllers of these Pods. Pods without a controller do not
/// count (`getExpectedScale`).
fn total_replicas(store: &Store, pods: &[Arc<Object>]) -> Result<i64, String> {
    let mut replicas = BTreeMap::new();
    for pod in pods {
        let Some(owner) = controller_of(pod) else {
            continue;
        };
        let Some(scalable) = scalable_owner(store, pod, &owner.kind, &owner.name) else {
            return Err(format!("found no controllers for pod {:?}", pod.name()));
        };
        let count = number(scalable.value(), "/spec/replicas").unwrap_or(1);
        replicas.insert(scalable.uid().to_owned(), count);
    }
    Ok(replicas.values().sum())
}

/// The object that decides how many Pods there are: the controller, or the Deployment of a
/// ReplicaSet.
fn scalable_owner(store: &Store, pod: &Object, kind: &str, name: &str) -> Option<Arc<Object>> {
    let get = |kind: &BuiltinKind, name: &str| store.get(&Key::of(kind, pod.namespace(), name));
    if kind == apps::REPLICA_SET.kind {
        let set = get(&apps::REPLICA_SET, name)?;
        let deployment = controller_of(&set)
            .filter(|owner| owner.kind == apps::DEPLOYMENT.kind)
            .and_then(|owner| get(&apps::DEPLOYMENT, &owner.name));
        return Some(deployment.unwrap_or(set));
    }
    let others = [&apps::STATEFUL_SET, &core::REPLICATION_CONTROLLER];
    let controller = others.into_iter().find(|other| other.kind == kind)?;
    get(controller, name)
}
