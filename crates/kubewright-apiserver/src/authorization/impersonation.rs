//! Impersonation: requests that a user sends as another user.

use http::{HeaderMap, HeaderValue};
use kubewright_kinds::core::{NODE, SERVICE_ACCOUNT};
use kubewright_kinds::groups::AUTHENTICATION;
use kubewright_wire::route::percent_decode;
use kubewright_wire::status::Status;

use super::attributes::{AccessAttributes, AccessTarget, ResourceTarget};
use super::forbidden::forbidden;
use super::rbac::Rbac;
use crate::authentication::{MASTERS, User};

const USER: &str = "impersonate-user";
const UID: &str = "impersonate-uid";
const GROUP: &str = "impersonate-group";
const EXTRA: &str = "impersonate-extra-";

/// The user that a request impersonates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Impersonation {
    wanted: User,
}

/// The ways in which a role can allow impersonation
/// (k8s.io/apiserver/pkg/endpoints/filters/impersonation/mode.go). The mode for the node that a
/// Pod's token is bound to is not implemented yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    ArbitraryNode,
    ServiceAccount,
    UserInfo,
    /// The verb `impersonate`, for every request.
    Legacy,
}

impl Impersonation {
    /// The impersonation that the headers request; none without such headers.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Result<Option<Self>, Status> {
        let all = |name: &str| -> Result<Vec<String>, Status> {
            let values = headers.get_all(name).iter();
            values.map(|value| read(name, value)).collect()
        };
        let text = |name: &str| {
            let value = headers.get(name).map(|value| read(name, value));
            value.unwrap_or_else(|| Ok(String::new()))
        };
        let mut wanted = User {
            name: text(USER)?,
            uid: text(UID)?,
            groups: all(GROUP)?,
            ..User::default()
        };
        for header in headers.keys() {
            if let Some(key) = header.as_str().strip_prefix(EXTRA) {
                let key = percent_decode(key).into_owned();
                wanted
                    .extra
                    .entry(key)
                    .or_default()
                    .extend(all(header.as_str())?);
            }
        }
        if !wanted.name.is_empty() {
            return Ok(Some(Self { wanted }));
        }
        if wanted == User::default() {
            return Ok(None);
        }
        Err(Status::bad_request(format!(
            "requested {} without impersonating a user name",
            go_syntax(&wanted)
        )))
    }

    /// The impersonated user, if RBAC allows the sender in `attributes` to impersonate that user.
    pub(super) fn check(
        self,
        attributes: &AccessAttributes<'_>,
        rbac: &Rbac,
    ) -> Result<User, Status> {
        let mut first_error = None;
        for mode in self.modes() {
            match self.check_mode(mode, attributes, rbac) {
                Ok(()) => return Ok(self.user(mode)),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        Err(first_error.unwrap_or_else(Status::unauthorized))
    }

    fn modes(&self) -> Vec<Mode> {
        let only_name = self.wanted.uid.is_empty()
            && self.wanted.groups.is_empty()
            && self.wanted.extra.is_empty();
        let is_account = self.wanted.as_service_account().is_some();
        let constrained = match (self.node(), is_account) {
            (Some(_), _) => only_name.then_some(Mode::ArbitraryNode),
            (None, true) => only_name.then_some(Mode::ServiceAccount),
            (None, false) => Some(Mode::UserInfo),
        };
        constrained.into_iter().chain([Mode::Legacy]).collect()
    }

    fn check_mode(
        &self,
        mode: Mode,
        attributes: &AccessAttributes<'_>,
        rbac: &Rbac,
    ) -> Result<(), Status> {
        let user = attributes.user;
        let decide = |verb: &str, target: AccessTarget<'_>| {
            let attributes = AccessAttributes { user, verb, target };
            let decision = rbac.decide(&attributes);
            if decision.is_allowed {
                Ok(())
            } else {
                Err(forbidden(&attributes, &decision.reason))
            }
        };
        let verb = match mode.name() {
            None => "impersonate".to_owned(),
            Some(name) => {
                decide(
                    &format!("impersonate-on:{name}:{}", attributes.verb),
                    attributes.target,
                )?;
                format!("impersonate:{name}")
            }
        };
        for target in self.targets(mode) {
            if mode != Mode::Legacy && target.name == MASTERS {
                let target = AccessTarget::Resource(target);
                let attributes = AccessAttributes {
                    user,
                    verb: &verb,
                    target,
                };
                let why = format!("impersonating the {MASTERS} group is not allowed");
                return Err(forbidden(&attributes, &why));
            }
            decide(&verb, AccessTarget::Resource(target))?;
        }
        Ok(())
    }

    /// What the sender must be allowed to impersonate: user, uid, groups and extra attributes.
    fn targets(&self, mode: Mode) -> Vec<ResourceTarget<'_>> {
        let group = match mode {
            Mode::Legacy => "",
            Mode::ArbitraryNode | Mode::ServiceAccount | Mode::UserInfo => AUTHENTICATION,
        };
        let target = |group, plural, name| ResourceTarget {
            group,
            plural,
            name,
            ..ResourceTarget::default()
        };
        let mut user = target(group, "users", self.wanted.name.as_str());
        if let (Mode::ArbitraryNode, Some(node)) = (mode, self.node()) {
            user = target(group, NODE.plural, node);
        } else if let Some((namespace, name)) = self.wanted.as_service_account() {
            user = ResourceTarget {
                namespace,
                ..target(group, SERVICE_ACCOUNT.plural, name)
            };
        }
        let mut targets = vec![user];
        if !self.wanted.uid.is_empty() {
            targets.push(target(AUTHENTICATION, "uids", &self.wanted.uid));
        }
        targets.extend(
            self.wanted
                .groups
                .iter()
                .map(|name| target(group, "groups", name)),
        );
        for (key, values) in &self.wanted.extra {
            targets.extend(values.iter().map(|value| ResourceTarget {
                subresource: key,
                ..target(AUTHENTICATION, "userextras", value)
            }));
        }
        targets
    }

    fn user(&self, mode: Mode) -> User {
        let mut user = self.wanted.clone();
        if mode == Mode::ArbitraryNode {
            user.groups = vec!["system:nodes".to_owned()];
        } else if user.groups.is_empty()
            && let Some((namespace, name)) = self.wanted.as_service_account()
        {
            user.groups = User::service_account(namespace, name).groups;
        }
        match user.name.as_str() {
            "system:anonymous" => user.join("system:unauthenticated"),
            _ => user.join("system:authenticated"),
        }
        user
    }

    fn node(&self) -> Option<&str> {
        let node = self.wanted.name.strip_prefix("system:node:");
        node.filter(|name| !name.is_empty())
    }
}

impl Mode {
    /// The name in the verbs of constrained impersonation.
    fn name(self) -> Option<&'static str> {
        match self {
            Self::ArbitraryNode => Some("arbitrary-node"),
            Self::ServiceAccount => Some("serviceaccount"),
            Self::UserInfo => Some("user-info"),
            Self::Legacy => None,
        }
    }
}

/// Reads a header. A header that is not UTF-8 is an error: without it the request would impersonate
/// another user.
fn read(name: &str, value: &HeaderValue) -> Result<String, Status> {
    let text = std::str::from_utf8(value.as_bytes());
    text.map(str::to_owned)
        .map_err(|_| Status::bad_request(format!("the header {name} is not UTF-8")))
}

/// The user in Go's `%#v`, as Kubernetes has it in the error message.
fn go_syntax(user: &User) -> String {
    let list = |values: &[String]| {
        let quoted: Vec<_> = values.iter().map(|value| format!("{value:?}")).collect();
        format!("[]string{{{}}}", quoted.join(", "))
    };
    let groups = if user.groups.is_empty() {
        "[]string(nil)".to_owned()
    } else {
        list(&user.groups)
    };
    let entries: Vec<_> = user
        .extra
        .iter()
        .map(|(key, values)| format!("{key:?}:{}", list(values)))
        .collect();
    let extra = if entries.is_empty() {
        "map[string][]string(nil)".to_owned()
    } else {
        format!("map[string][]string{{{}}}", entries.join(", "))
    };
    let (name, uid) = (&user.name, &user.uid);
    format!("&user.DefaultInfo{{Name:{name:?}, UID:{uid:?}, Groups:{groups}, Extra:{extra}}}")
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderName, HeaderValue};
    use kubewright_kinds::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING};
    use serde_json::{Value, json};

    use super::Impersonation;
    use crate::authentication::User;
    use crate::authorization::{AccessAttributes, AccessTarget, Rbac, ResourceTarget};

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        headers
    }

    /// Roles and bindings that give `bob` these rules.
    fn rbac(rules: Value) -> Rbac {
        let mut rbac = Rbac::default();
        rbac.add(
            &CLUSTER_ROLE,
            &json!({"metadata": {"name": "r"}, "rules": rules}),
        );
        rbac.add(
            &CLUSTER_ROLE_BINDING,
            &json!({
                "metadata": {"name": "b"},
                "roleRef": {"kind": "ClusterRole", "name": "r"},
                "subjects": [{"kind": "User", "name": "bob"}],
            }),
        );
        rbac
    }

    fn impersonate(rbac: &Rbac, pairs: &[(&'static str, &'static str)]) -> Result<User, String> {
        let bob = User::new("bob", [""; 0]);
        let attributes = AccessAttributes {
            user: &bob,
            verb: "list",
            target: AccessTarget::Resource(ResourceTarget {
                plural: "pods",
                ..ResourceTarget::default()
            }),
        };
        let wanted =
            Impersonation::from_headers(&headers(pairs)).map_err(|status| status.message)?;
        wanted
            .unwrap()
            .check(&attributes, rbac)
            .map_err(|status| status.message)
    }

    #[test]
    fn role_with_the_verb_allows_impersonation() {
        let rbac = rbac(json!([
            {"apiGroups": [""], "resources": ["users", "groups", "serviceaccounts"], "verbs": ["impersonate"]},
            {"apiGroups": ["authentication.k8s.io"], "resources": ["userextras/scopes"], "verbs": ["impersonate"]},
        ]));
        let jane = impersonate(
            &rbac,
            &[
                ("impersonate-user", "jane"),
                ("impersonate-group", "devs"),
                ("impersonate-group", "ops"),
                ("impersonate-extra-scopes", "view"),
            ],
        )
        .unwrap();
        assert_eq!(jane.name, "jane");
        assert_eq!(jane.groups, ["devs", "ops", "system:authenticated"]);
        assert_eq!(jane.extra["scopes"], ["view"]);
        let robot = impersonate(
            &rbac,
            &[("impersonate-user", "system:serviceaccount:web:robot")],
        );
        assert_eq!(robot, Ok(User::service_account("web", "robot")));
    }

    #[test]
    fn impersonation_without_the_verb_is_forbidden() {
        let forbidden = impersonate(&Rbac::default(), &[("impersonate-user", "jane")]);
        assert_eq!(
            forbidden,
            Err(r#"pods is forbidden: User "bob" cannot impersonate-on:user-info:list resource "pods" in API group "" at the cluster scope"#.to_owned())
        );
        let only_users = rbac(json!([
            {"apiGroups": [""], "resources": ["users"], "verbs": ["impersonate"]},
        ]));
        let masters = [
            ("impersonate-user", "jane"),
            ("impersonate-group", "system:masters"),
        ];
        assert!(impersonate(&only_users, &masters).is_err());
    }

    #[test]
    fn constrained_impersonation_is_bound_to_the_request() {
        let rule = |verb: &str| {
            rbac(json!([
                {"apiGroups": [""], "resources": ["pods"], "verbs": [verb]},
                {"apiGroups": ["authentication.k8s.io"], "resources": ["users"], "verbs": ["impersonate:user-info"]},
            ]))
        };
        let jane = [("impersonate-user", "jane")];
        assert!(impersonate(&rule("impersonate-on:user-info:list"), &jane).is_ok());
        assert!(impersonate(&rule("impersonate-on:user-info:get"), &jane).is_err());
    }

    #[test]
    fn headers_are_read_as_utf8_and_fail_with_400_otherwise() {
        let wanted = |name: &'static str, value: &[u8]| {
            let mut headers = headers(&[("impersonate-user", "jane")]);
            headers.insert(name, HeaderValue::from_bytes(value).unwrap());
            Impersonation::from_headers(&headers)
                .map(|found| found.unwrap().wanted)
                .map_err(|status| (status.code, status.message))
        };
        let user = wanted("impersonate-user", "j\u{e4}ne".as_bytes()).unwrap();
        assert_eq!(user.name, "j\u{e4}ne");
        let user = wanted("impersonate-group", "d\u{e9}vs".as_bytes()).unwrap();
        assert_eq!(user.groups, ["d\u{e9}vs"]);
        for name in [
            "impersonate-user",
            "impersonate-uid",
            "impersonate-group",
            "impersonate-extra-scopes",
        ] {
            let error = (400, format!("the header {name} is not UTF-8"));
            assert_eq!(wanted(name, b"j\xe4ne"), Err(error));
        }
    }

    #[test]
    fn groups_without_a_user_are_a_bad_request() {
        assert_eq!(
            impersonate(&Rbac::default(), &[("impersonate-group", "devs")]),
            Err(r#"requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"devs"}, Extra:map[string][]string(nil)} without impersonating a user name"#.to_owned())
        );
        assert_eq!(Impersonation::from_headers(&HeaderMap::new()), Ok(None));
    }
}
