//! Users.

use std::collections::BTreeMap;

use kubewright_core::NameRule;
use serde_json::{Value, json};

const AUTHENTICATED: &str = "system:authenticated";
/// The group whose members are allowed everything.
pub(crate) const MASTERS: &str = "system:masters";
const SERVICE_ACCOUNTS: &str = "system:serviceaccounts";
const SERVICE_ACCOUNT_PREFIX: &str = "system:serviceaccount:";

/// The user that sends a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name that role bindings use.
    pub name: String,
    /// Distinguishes users that had the same name at different times; often empty.
    pub uid: String,
    /// The groups that role bindings use.
    pub groups: Vec<String>,
    /// Further attributes that the authenticator found.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// A user of the given groups, and of `system:authenticated`.
    pub fn new<G: Into<String>>(
        name: impl Into<String>,
        groups: impl IntoIterator<Item = G>,
    ) -> Self {
        let mut user = Self {
            name: name.into(),
            groups: groups.into_iter().map(Into::into).collect(),
            ..Self::default()
        };
        user.join(AUTHENTICATED);
        user
    }

    /// The user `admin` of `system:masters`, which is allowed everything.
    pub fn admin() -> Self {
        Self::new("admin", [MASTERS])
    }

    /// The user of a ServiceAccount.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        Self::new(
            format!("{SERVICE_ACCOUNT_PREFIX}{namespace}:{name}"),
            [
                SERVICE_ACCOUNTS.to_owned(),
                format!("{SERVICE_ACCOUNTS}:{namespace}"),
            ],
        )
    }

    /// A component of the cluster, such as `system:kube-scheduler`, which is allowed everything.
    pub fn system(name: impl Into<String>) -> Self {
        Self::new(name, [MASTERS])
    }

    /// Whether the user is in `system:masters`, whose members are allowed everything.
    pub fn is_master(&self) -> bool {
        self.is_in(MASTERS)
    }

    /// Whether the user is in the given group.
    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|known| known == group)
    }

    /// The namespace and name of the ServiceAccount, when the user is one.
    pub fn as_service_account(&self) -> Option<(&str, &str)> {
        service_account_of(&self.name)
    }

    /// Adds a group unless it is there.
    pub(crate) fn join(&mut self, group: &str) {
        if !self.is_in(group) {
            self.groups.push(group.to_owned());
        }
    }
}

/// Namespace and name in `system:serviceaccount:NAMESPACE:NAME` (`SplitUsername` of
/// k8s.io/apiserver/pkg/authentication/serviceaccount).
pub(crate) fn service_account_of(user_name: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user_name
        .strip_prefix(SERVICE_ACCOUNT_PREFIX)?
        .split_once(':')?;
    let fits = |rule: NameRule, text: &str| rule.problems(text).is_empty();
    let are_names = fits(NameRule::Label, namespace) && fits(NameRule::Subdomain, name);
    are_names.then_some((namespace, name))
}

/// A user as reviews show it.
pub(crate) fn user_info(user: &User) -> Value {
    let mut info = json!({"username": user.name});
    if !user.uid.is_empty() {
        info["uid"] = user.uid.clone().into();
    }
    if !user.groups.is_empty() {
        info["groups"] = user.groups.clone().into();
    }
    if !user.extra.is_empty() {
        info["extra"] = json!(user.extra);
    }
    info
}

#[cfg(test)]
mod tests {
    use super::User;

    #[test]
    fn service_account_is_in_three_groups() {
        let user = User::service_account("web", "robot");
        assert_eq!(user.name, "system:serviceaccount:web:robot");
        assert_eq!(
            user.groups,
            [
                "system:serviceaccounts",
                "system:serviceaccounts:web",
                "system:authenticated"
            ]
        );
        assert_eq!(user.as_service_account(), Some(("web", "robot")));
    }

    #[test]
    fn other_names_are_not_parsed_as_service_accounts() {
        for name in [
            "bob",
            "system:serviceaccount:web",
            "system:serviceaccount::robot",
            "system:serviceaccount:web:",
            "system:serviceaccount:web:robot:more",
            "system:serviceaccount:Web:robot",
        ] {
            assert_eq!(User::new(name, [""; 0]).as_service_account(), None);
        }
    }
}
