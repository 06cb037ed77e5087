use kubewright_core::PolicyRule;
use kubewright_wire::status::Status;
use serde::Deserialize;
use serde_json::{Value, json};

use super::attributes::{Attributes, ResourceTarget, Target};
use super::cover::{describe, quoted, uncovered};
use super::rbac::Rbac;
use super::rbac_cache::RbacCache;
use crate::authentication::User;
use crate::store::Object;

/// A role or binding that somebody is about to write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant<'a> {
    pub(crate) user: &'a User,
    /// `roles`, `clusterroles`, `rolebindings` or `clusterrolebindings`.
    pub(crate) plural: &'a str,
    /// That of the request, empty for none.
    pub(crate) namespace: &'a str,
    /// The name in the request's path, empty for a create.
    pub(crate) name: &'a str,
    pub(crate) old: Option<&'a Object>,
    pub(crate) new: &'a Value,
}

impl Grant<'_> {
    /// Nobody hands out more than he has, unless he may `escalate` or `bind`
    /// (pkg/registry/rbac: `policybased`).
    pub(super) fn check(&self, cache: &RbacCache) -> Result<(), Status> {
        let is_role = match self.plural {
            "roles" | "clusterroles" => true,
            "rolebindings" | "clusterrolebindings" => false,
            _ => return Ok(()),
        };
        if self.user.is_master() || self.old.is_some_and(|old| only_lets_go(old, self.new)) {
            return Ok(());
        }
        let rbac = cache.current();
        match is_role {
            true => self.check_role(&rbac),
            false => self.check_binding(&rbac),
        }
    }

    fn check_role(&self, rbac: &Rbac) -> Result<(), Status> {
        let target = ResourceTarget {
            group: Rbac::GROUP,
            plural: self.plural,
            subresource: "",
            namespace: self.namespace,
            name: self.name,
        };
        if self.may(rbac, "escalate", target) {
            return Ok(());
        }
        self.holds(rbac, &rules(self.new))?;
        let aggregates = |role: &Value| {
            let selectors = role.pointer("/aggregationRule/clusterRoleSelectors");
            selectors
                .and_then(Value::as_array)
                .is_some_and(|all| !all.is_empty())
        };
        let is_aggregated =
            aggregates(self.new) || self.old.is_some_and(|old| aggregates(old.value()));
        if self.plural == "clusterroles" && is_aggregated {
            let everything = rules(&json!({"rules": [
                {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
                {"nonResourceURLs": ["*"], "verbs": ["*"]},
            ]}));
            let why = "must have cluster-admin privileges to use the aggregationRule";
            self.holds(rbac, &everything)
                .map_err(|_| self.forbidden(why))?;
        }
        Ok(())
    }

    fn check_binding(&self, rbac: &Rbac) -> Result<(), Status> {
        let reference = |field: &str| {
            let found = self.new.pointer(&format!("/roleRef/{field}"));
            found.and_then(Value::as_str).unwrap_or_default()
        };
        let group = match reference("apiGroup") {
            "" => Rbac::GROUP,
            group => group,
        };
        let (kind, name) = (reference("kind"), reference("name"));
        let plural = match kind {
            "ClusterRole" => Some("clusterroles"),
            "Role" => Some("roles"),
            _ => None,
        };
        let target = plural.map(|plural| ResourceTarget {
            group,
            plural,
            subresource: "",
            namespace: self.namespace,
            name,
        });
        if target.is_some_and(|target| self.may(rbac, "bind", target)) {
            return Ok(());
        }
        let Some(rules) = rbac.role_rules(kind, self.namespace, name) else {
            return Err(match plural {
                // As in Kubernetes, what is not found is called by what was to be written.
                Some(_) => Status::not_found((Rbac::GROUP, self.plural), name),
                None => Status::unknown(format!("unsupported role reference kind: {kind:?}")),
            });
        };
        self.holds(rbac, rules)
    }

    fn may(&self, rbac: &Rbac, verb: &str, target: ResourceTarget<'_>) -> bool {
        let attributes = Attributes {
            user: self.user,
            verb,
            target: Target::Resource(target),
        };
        rbac.decide(&attributes).is_allowed
    }

    /// Whether the user holds all of the rules himself.
    fn holds(&self, rbac: &Rbac, given: &[PolicyRule]) -> Result<(), Status> {
        let (held, faults) = rbac.rules_for(self.user, self.namespace);
        let Ok(missing) = uncovered(&held, given) else {
            return Err(self.forbidden(
                "the rules have too many combinations of groups, resources, verbs and names to be \
                 compared with what the user holds; write them in several roles",
            ));
        };
        if missing.is_empty() {
            return Ok(());
        }
        let mut why = format!(
            "user {:?} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
            self.user.name,
            quoted(&self.user.groups),
            describe(&missing)
        );
        if !faults.is_empty() {
            let faults = match faults.as_slice() {
                [one] => one.clone(),
                several => format!("[{}]", several.join(", ")),
            };
            why.push_str(&format!("; resolution errors: [{faults}]"));
        }
        Err(self.forbidden(&why))
    }

    fn forbidden(&self, why: &str) -> Status {
        let name = self.new.pointer("/metadata/name").and_then(Value::as_str);
        Status::forbidden((Rbac::GROUP, self.plural), name.unwrap_or_default(), why)
    }
}

fn rules(role: &Value) -> Vec<PolicyRule> {
    let rules = role
        .get("rules")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    rules
        .filter_map(|rule| PolicyRule::deserialize(rule).ok())
        .collect()
}

/// Whether a write only lets the object go: owners and finalizers differ, nothing else
/// (`IsOnlyMutatingGCFields`).
fn only_lets_go(old: &Object, new: &Value) -> bool {
    let rest = |value: &Value| {
        let mut value = value.clone();
        if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
            for field in [
                "ownerReferences",
                "finalizers",
                "managedFields",
                "resourceVersion",
            ] {
                metadata.remove(field);
            }
        }
        value
    };
    rest(old.value()) == rest(new)
}
