use std::collections::BTreeMap;

use kubewright_core::LabelSelector;
use serde_json::Value;

use super::neighbour::{Labels, labels};
use super::pod_term::{has, selector_of};
use crate::view::{items, number, text};

/// One entry of `spec.topologySpreadConstraints` that must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Spread {
    /// How many more Pods a domain may have than the one with the fewest.
    max_skew: i64,
    /// With fewer domains, the one with the fewest counts as empty.
    min_domains: usize,
    /// Nodes with the same value of this label are one domain.
    pub(super) topology_key: String,
    selector: Option<LabelSelector>,
    /// Which nodes count.
    pub(super) affinity: Policy,
    pub(super) taints: Policy,
}

/// Whether nodes that a Pod may not go to count for how it is spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Policy {
    /// They do not.
    Honor,
    /// They do.
    #[default]
    Ignore,
}

impl Spread {
    /// The constraints of a Pod that must hold (`whenUnsatisfiable: DoNotSchedule`).
    pub(super) fn of_pod(pod: &Value) -> Vec<Self> {
        let labels = labels(pod);
        items(pod, "/spec/topologySpreadConstraints")
            .iter()
            .filter(|one| text(one, "/whenUnsatisfiable") == "DoNotSchedule")
            .map(|one| Self::read(one, &labels))
            .collect()
    }

    fn read(written: &Value, labels: &Labels) -> Self {
        let min_domains = number(written, "/minDomains").unwrap_or(1);
        Self {
            max_skew: number(written, "/maxSkew").unwrap_or(1),
            min_domains: usize::try_from(min_domains).unwrap_or(1),
            topology_key: text(written, "/topologyKey").to_owned(),
            selector: selector_of(written, labels),
            affinity: match text(written, "/nodeAffinityPolicy") {
                "Ignore" => Policy::Ignore,
                _ => Policy::Honor,
            },
            taints: match text(written, "/nodeTaintsPolicy") {
                "Honor" => Policy::Honor,
                _ => Policy::Ignore,
            },
        }
    }

    /// Whether a Pod with these labels is one of those that are spread.
    pub(super) fn selects(&self, labels: &Labels) -> bool {
        has(self.selector.as_ref(), labels)
    }

    /// Whether a Pod with these labels may go to a domain, when there are so many Pods in each
    /// (`Filter` of pkg/scheduler/framework/plugins/podtopologyspread).
    pub(super) fn allows(
        &self,
        own: &Labels,
        domain: &str,
        counts: &BTreeMap<String, i64>,
    ) -> bool {
        let fewest = match counts.len() < self.min_domains {
            true => 0,
            false => counts.values().copied().min().unwrap_or_default(),
        };
        let there = counts.get(domain).copied().unwrap_or_default();
        let one_more = i64::from(self.selects(own));
        there + one_more - fewest <= self.max_skew
    }
}
