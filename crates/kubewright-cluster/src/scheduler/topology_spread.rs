//! Required topology spread constraints.

use std::collections::BTreeMap;

use kubewright_core::LabelSelector;
use serde_json::Value;

use super::labels::{Labels, labels, matches};
use super::pod_term::selector_of;
use crate::framework::{items, number, text};

/// An entry of `spec.topologySpreadConstraints` with `whenUnsatisfiable: DoNotSchedule`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SpreadConstraint {
    /// How many more Pods a domain may have than the domain with the fewest.
    max_skew: i64,
    /// With fewer domains than this, the fewest Pods count as zero.
    min_domains: usize,
    /// Nodes with the same value of this label are one domain.
    pub(super) topology_key: String,
    selector: Option<LabelSelector>,
    pub(super) node_affinity_policy: InclusionPolicy,
    pub(super) node_taints_policy: InclusionPolicy,
}

/// Whether nodes that the Pod's affinity or tolerations exclude count as domains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum InclusionPolicy {
    /// They do not count.
    Honor,
    /// They count.
    #[default]
    Ignore,
}

impl SpreadConstraint {
    /// The required constraints of a Pod.
    pub(super) fn required_of(pod: &Value) -> Vec<Self> {
        let labels = labels(pod);
        items(pod, "/spec/topologySpreadConstraints")
            .iter()
            .filter(|constraint| text(constraint, "/whenUnsatisfiable") == "DoNotSchedule")
            .map(|constraint| Self::read(constraint, &labels))
            .collect()
    }

    fn read(constraint: &Value, pod_labels: &Labels) -> Self {
        let min_domains = number(constraint, "/minDomains").unwrap_or(1);
        Self {
            max_skew: number(constraint, "/maxSkew").unwrap_or(1),
            min_domains: usize::try_from(min_domains).unwrap_or(1),
            topology_key: text(constraint, "/topologyKey").to_owned(),
            selector: selector_of(constraint, pod_labels),
            node_affinity_policy: match text(constraint, "/nodeAffinityPolicy") {
                "Ignore" => InclusionPolicy::Ignore,
                _ => InclusionPolicy::Honor,
            },
            node_taints_policy: match text(constraint, "/nodeTaintsPolicy") {
                "Honor" => InclusionPolicy::Honor,
                _ => InclusionPolicy::Ignore,
            },
        }
    }

    /// Whether a Pod with these labels counts.
    pub(super) fn selects(&self, labels: &Labels) -> bool {
        matches(self.selector.as_ref(), labels)
    }

    /// Whether a Pod with these labels may be placed in a domain, given the number of Pods in each
    /// (`Filter` of pkg/scheduler/framework/plugins/podtopologyspread).
    pub(super) fn allows(
        &self,
        pod_labels: &Labels,
        domain: &str,
        counts: &BTreeMap<String, i64>,
    ) -> bool {
        let fewest = if counts.len() < self.min_domains {
            0
        } else {
            counts.values().copied().min().unwrap_or_default()
        };
        let present = counts.get(domain).copied().unwrap_or_default();
        let added = i64::from(self.selects(pod_labels));
        present + added - fewest <= self.max_skew
    }
}
