//! What the rules of one part of a PodSpec need from the rest of it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::field_path::FieldPath;
use crate::json::{items, text};
use crate::pod_spec::owner::SpecOwner;

/// What the rules of one part of a PodSpec need from the rest of it.
#[derive(Clone, Debug)]
pub(crate) struct PodContext<'a> {
    pub(crate) owner: SpecOwner,
    pub(crate) restart_policy: &'a str,
    pub(crate) grace_period: Option<i64>,
    /// The operating system: `linux`, `windows` or empty.
    pub(crate) system: &'a str,
    /// Whether the Pod runs in the user namespace of the host.
    pub(crate) on_host_users: bool,
    /// The valid volumes by name.
    pub(crate) volumes: BTreeMap<&'a str, &'a Value>,
    /// The names in `resourceClaims`.
    pub(crate) claims: BTreeSet<&'a str>,
}

impl<'a> PodContext<'a> {
    pub(crate) fn new(spec: FieldPath<'a>, owner: SpecOwner) -> Self {
        let value = spec.value();
        Self {
            owner,
            restart_policy: text(&value["restartPolicy"]),
            grace_period: value["terminationGracePeriodSeconds"].as_i64(),
            system: text(&value["os"]["name"]),
            on_host_users: value["hostUsers"] != Value::Bool(false),
            volumes: BTreeMap::new(),
            claims: items(&value["resourceClaims"])
                .filter_map(|claim| claim["name"].as_str())
                .collect(),
        }
    }

    pub(crate) fn volume(&self, name: &str) -> Option<&'a Value> {
        self.volumes.get(name).copied()
    }
}
