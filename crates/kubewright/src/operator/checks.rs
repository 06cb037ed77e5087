//! Checks of an operator before it runs.

use std::collections::BTreeSet;

use super::builder::Operator;
use super::names::{LONGEST_LABEL, LONGEST_MANAGER, LONGEST_NAME, check_name};
use crate::Error;
use crate::policy::Policy;
use crate::webhook::Conversions;

impl Operator {
    /// Returns an error if the operator cannot run.
    pub(super) fn check(&self) -> Result<(), Error> {
        check_name("the operator", &self.name, LONGEST_NAME)?;
        self.check_controllers()?;
        Conversions::join(&self.webhooks.conversions)?;
        self.check_policies()?;
        self.check_webhooks()?;
        if let Some(election) = &self.election {
            let lease = election.lease.as_deref().unwrap_or(&self.name);
            check_name("the lease", lease, LONGEST_LABEL)?;
            election.times.check()?;
        }
        Ok(())
    }

    fn check_controllers(&self) -> Result<(), Error> {
        let in_manager = LONGEST_MANAGER - "kubewright//".len() - self.name.len();
        let longest = in_manager.min(LONGEST_LABEL);
        let mut names = BTreeSet::new();
        for controller in &self.controllers {
            let name = controller.describe().name;
            check_name("a controller", &name, longest)?;
            controller.check()?;
            if !names.insert(name.clone()) {
                return Err(Error::DuplicateController { name });
            }
        }
        Ok(())
    }

    fn check_policies(&self) -> Result<(), Error> {
        let mut names = BTreeSet::new();
        for policy in &self.policies {
            check_name("a policy", policy.name(), LONGEST_LABEL)?;
            policy.check()?;
            if !names.insert(policy.name()) {
                return Err(Error::DuplicatePolicy {
                    name: policy.name().to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Checks webhooks, including the fallbacks of policies.
    fn check_webhooks(&self) -> Result<(), Error> {
        let mut paths = BTreeSet::new();
        let fallbacks = self.policies.iter().filter_map(Policy::webhook);
        for webhook in self.webhooks.webhooks.iter().chain(fallbacks) {
            webhook.check()?;
            let path = webhook.describe(&self.name).path;
            if !paths.insert(path.clone()) {
                return Err(Error::DuplicateWebhook { path });
            }
        }
        Ok(())
    }
}
