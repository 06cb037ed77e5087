//! The 403 of a request that is not authorized.

use kubewright_wire::status::Status;

use super::attributes::{Attributes, Target};

/// The 403 for a request, with the reason of the authorizer, if any. The message is that of
/// k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go.
pub(crate) fn forbidden(attributes: &Attributes<'_>, reason: &str) -> Status {
    let mut why = sanitized(&sentence(attributes));
    if !reason.is_empty() {
        why.push_str(": ");
        why.push_str(reason);
    }
    match attributes.target {
        Target::Resource(resource) => {
            Status::forbidden((resource.group, resource.plural), resource.name, &why)
        }
        Target::Path(_) => Status::forbidden(("", ""), "", &why),
    }
}

fn sentence(attributes: &Attributes<'_>) -> String {
    let Attributes { user, verb, target } = attributes;
    let resource = match target {
        Target::Path(path) => return format!("User {:?} cannot {verb} path {path:?}", user.name),
        Target::Resource(resource) => resource,
    };
    let scope = match resource.namespace {
        "" => "at the cluster scope".to_owned(),
        namespace => format!("in the namespace {namespace:?}"),
    };
    let (name, combined, group) = (&user.name, resource.combined(), resource.group);
    format!("User {name:?} cannot {verb} resource {combined:?} in API group {group:?} {scope}")
}

/// Escapes HTML: a browser can display the response.
fn sanitized(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::forbidden;
    use crate::authentication::User;
    use crate::authorization::{Attributes, ResourceTarget, Target};

    #[test]
    fn message_is_that_of_kubernetes() {
        let user = User::new("bob", [""; 0]);
        let pods = ResourceTarget {
            plural: "pods",
            namespace: "default",
            ..ResourceTarget::default()
        };
        let log = ResourceTarget {
            name: "x",
            subresource: "log",
            ..pods
        };
        let roles = ResourceTarget {
            group: "rbac.authorization.k8s.io",
            plural: "clusterroles",
            ..ResourceTarget::default()
        };
        let message = |verb, target| {
            let attributes = Attributes {
                user: &user,
                verb,
                target,
            };
            forbidden(&attributes, "").message
        };
        assert_eq!(
            message("list", Target::Resource(pods)),
            r#"pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "default""#
        );
        assert_eq!(
            message("get", Target::Resource(log)),
            r#"pods "x" is forbidden: User "bob" cannot get resource "pods/log" in API group "" in the namespace "default""#
        );
        assert_eq!(
            message("watch", Target::Resource(roles)),
            r#"clusterroles.rbac.authorization.k8s.io is forbidden: User "bob" cannot watch resource "clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope"#
        );
        assert_eq!(
            message("get", Target::Path("/metrics?<a>")),
            r#"forbidden: User "bob" cannot get path "/metrics?&lt;a&gt;""#
        );
    }
}
