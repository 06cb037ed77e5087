//! Denies roles and bindings that grant more than their author has.

use kubewright_core::PolicyRule;
use kubewright_kinds::BuiltinKind;
use kubewright_kinds::groups::RBAC;
use kubewright_kinds::json::{items, text};
use kubewright_kinds::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING};
use kubewright_wire::status::Status;
use serde::Deserialize;
use serde_json::{Value, json};

use super::attributes::{AccessAttributes, AccessTarget, ResourceTarget};
use super::cover::{describe, quoted, uncovered};
use super::rbac::Rbac;
use super::rbac_cache::RbacCache;
use crate::aggregate::aggregate;
use crate::authentication::User;
use crate::store::Object;

/// A write that can grant permissions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant<'a> {
    pub(crate) user: &'a User,
    /// Only roles and bindings grant anything.
    pub(crate) kind: &'a BuiltinKind,
    /// The namespace of the request; empty for none.
    pub(crate) namespace: &'a str,
    /// The name in the path of the request; empty for a create.
    pub(crate) name: &'a str,
    pub(crate) old: Option<&'a Object>,
    pub(crate) new: &'a Value,
}

impl Grant<'_> {
    /// Denies a role or binding that grants more than the user has, unless the user is allowed to
    /// `escalate` the role or to `bind` it (pkg/registry/rbac: `policybased`).
    pub(super) fn check(&self, cache: &RbacCache) -> Result<(), Status> {
        let is_role = *self.kind == ROLE || *self.kind == CLUSTER_ROLE;
        let is_binding = *self.kind == ROLE_BINDING || *self.kind == CLUSTER_ROLE_BINDING;
        if !is_role && !is_binding {
            return Ok(());
        }
        let grants_nothing = |old| only_changes_gc_fields(old, self.new);
        if self.user.is_master() || self.old.is_some_and(grants_nothing) {
            return Ok(());
        }
        let rbac = cache.current();
        if is_role {
            self.check_role(&rbac)
        } else {
            self.check_binding(&rbac)
        }
    }

    fn check_role(&self, rbac: &Rbac) -> Result<(), Status> {
        let target = ResourceTarget {
            group: RBAC,
            plural: self.kind.plural,
            subresource: "",
            namespace: self.namespace,
            name: self.name,
        };
        if self.is_allowed(rbac, "escalate", target) {
            return Ok(());
        }
        self.check_held(rbac, &rules(self.new))?;
        let aggregates = |role: &Value| {
            let mut selectors = items(&role["aggregationRule"]["clusterRoleSelectors"]);
            selectors.next().is_some()
        };
        let is_aggregated =
            aggregates(self.new) || self.old.is_some_and(|old| aggregates(old.value()));
        if *self.kind == CLUSTER_ROLE && is_aggregated {
            let everything = rules(&json!({"rules": [
                {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
                {"nonResourceURLs": ["*"], "verbs": ["*"]},
            ]}));
            let why = "must have cluster-admin privileges to use the aggregationRule";
            self.check_held(rbac, &everything)
                .map_err(|_| self.forbidden(why))?;
        }
        Ok(())
    }

    fn check_binding(&self, rbac: &Rbac) -> Result<(), Status> {
        let reference = &self.new["roleRef"];
        let group = match text(&reference["apiGroup"]) {
            "" => RBAC,
            group => group,
        };
        let (kind, name) = (text(&reference["kind"]), text(&reference["name"]));
        let roles: [&BuiltinKind; 2] = [&ROLE, &CLUSTER_ROLE];
        let role = roles.into_iter().find(|role| role.kind == kind);
        let target = role.map(|role| ResourceTarget {
            group,
            plural: role.plural,
            subresource: "",
            namespace: self.namespace,
            name,
        });
        if target.is_some_and(|target| self.is_allowed(rbac, "bind", target)) {
            return Ok(());
        }
        let Some(rules) = rbac.role_rules(kind, self.namespace, name) else {
            return Err(match role {
                // Kubernetes names the resource of the binding here, not that of the role.
                Some(_) => Status::not_found(self.kind.as_resource_tuple(), name),
                None => Status::unknown(format!("unsupported role reference kind: {kind:?}")),
            });
        };
        self.check_held(rbac, rules)
    }

    fn is_allowed(&self, rbac: &Rbac, verb: &str, target: ResourceTarget<'_>) -> bool {
        let attributes = AccessAttributes {
            user: self.user,
            verb,
            target: AccessTarget::Resource(target),
        };
        rbac.decide(&attributes).is_allowed
    }

    /// Fails with 403 unless the user has all of the rules.
    fn check_held(&self, rbac: &Rbac, given: &[PolicyRule]) -> Result<(), Status> {
        let (held, errors) = rbac.rules_for(self.user, self.namespace);
        let Ok(missing) = uncovered(&held, given) else {
            return Err(self.forbidden(
                "the rules have too many combinations of groups, resources, verbs and names to \
                 compare them with the rules that the user has; split them into several roles",
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
        if !errors.is_empty() {
            why.push_str(&format!("; resolution errors: [{}]", aggregate(&errors)));
        }
        Err(self.forbidden(&why))
    }

    fn forbidden(&self, why: &str) -> Status {
        let name = text(&self.new["metadata"]["name"]);
        Status::forbidden(self.kind.as_resource_tuple(), name, why)
    }
}

fn rules(role: &Value) -> Vec<PolicyRule> {
    items(&role["rules"])
        .filter_map(|rule| PolicyRule::deserialize(rule).ok())
        .collect()
}

/// Whether a write changes owners and finalizers only, as the garbage collector does
/// (`IsOnlyMutatingGCFields`).
fn only_changes_gc_fields(old: &Object, new: &Value) -> bool {
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
