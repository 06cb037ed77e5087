//! The description of an operator: its registrations as a plain value.

use kubewright_core::Description;
use kubewright_manifest::keep_only_storage_version;
use kubewright_runtime::NamespaceSet;

use super::builder::Operator;
use crate::webhook::Conversions;

impl Operator {
    /// Returns the registrations as a plain value, from which manifests and permissions follow.
    pub fn description(&self) -> Description {
        let mut description = self.registered();
        // Several controllers can reconcile one kind.
        let reconciled = self
            .controllers
            .iter()
            .filter_map(|controller| controller.definition());
        for definition in reconciled.chain(self.definitions.iter().cloned()) {
            if !description.custom_resources.contains(&definition) {
                description.custom_resources.push(definition);
            }
        }
        let conversions = self.conversions();
        conversions.complete(&mut description.custom_resources);
        for definition in &mut description.custom_resources {
            let name = definition["metadata"]["name"].as_str().unwrap_or_default();
            if self
                .unconverted
                .iter()
                .any(|unconverted| unconverted == name)
            {
                keep_only_storage_version(definition);
            }
        }
        description
    }

    /// Returns the conversions by kind. Invalid ones are an error when the operator starts.
    pub(super) fn conversions(&self) -> Conversions {
        Conversions::join(&self.webhooks.conversions).unwrap_or_default()
    }

    /// Returns the description without the definitions of kinds, which cost more than the rest and
    /// which a running operator does not need.
    pub(super) fn registered(&self) -> Description {
        let mut description = Description {
            name: self.name.clone(),
            controllers: self
                .controllers
                .iter()
                .map(|controller| controller.describe())
                .collect(),
            custom_resources: Vec::new(),
            webhooks: self
                .webhooks
                .webhooks
                .iter()
                .map(|webhook| webhook.describe(&self.name))
                .collect(),
            policies: self
                .policies
                .iter()
                .map(|policy| policy.describe(&self.name))
                .collect(),
            uses_policy_fallbacks: self.uses_fallbacks,
            conversions: self.conversions().describe(),
            authorizes: self.webhooks.authorizer.is_some(),
            extra_rules: Vec::new(),
            namespaces: self
                .namespaces
                .as_ref()
                .map(NamespaceSet::names)
                .unwrap_or_default(),
            lease: self.election.as_ref().map(|election| {
                let lease = election.lease.clone();
                lease.unwrap_or_else(|| self.name.clone())
            }),
        };
        let rules = self
            .controllers
            .iter()
            .flat_map(|controller| controller.extra_rules());
        // Several controllers can have the same rule.
        for rule in rules.chain(&self.rules) {
            if !description.extra_rules.contains(rule) {
                description.extra_rules.push(rule.clone());
            }
        }
        description
    }
}
