use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::At;

/// What the rules of one part of a Pod know of the rest of it.
#[derive(Clone, Debug)]
pub(super) struct Around<'a> {
    /// Whether it is a Pod, and not a template of one.
    pub(super) is_pod: bool,
    pub(super) restart_policy: &'a str,
    pub(super) grace_period: Option<i64>,
    /// `linux`, `windows`, or none.
    pub(super) system: &'a str,
    pub(super) on_host_users: bool,
    /// The volumes in which nothing is wrong, by name.
    pub(super) volumes: BTreeMap<&'a str, &'a Value>,
    /// The names of the claims of resources.
    pub(super) claims: BTreeSet<&'a str>,
}

impl<'a> Around<'a> {
    pub(super) fn new(spec: At<'a>, is_pod: bool) -> Self {
        let text = |name: &str| spec.text_of(name);
        let claims = spec.value()["resourceClaims"].as_array();
        let claims = claims.into_iter().flatten();
        Self {
            is_pod,
            restart_policy: text("restartPolicy"),
            grace_period: spec.value()["terminationGracePeriodSeconds"].as_i64(),
            system: spec.value()["os"]["name"].as_str().unwrap_or_default(),
            on_host_users: spec.value()["hostUsers"] != Value::Bool(false),
            volumes: BTreeMap::new(),
            claims: claims.filter_map(|one| one["name"].as_str()).collect(),
        }
    }

    pub(super) fn volume(&self, name: &str) -> Option<&'a Value> {
        self.volumes.get(name).copied()
    }
}
