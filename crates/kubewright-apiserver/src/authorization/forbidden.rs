//! The 403 of a request that is not authorized.

use kubewright_wire::status::Status;

use super::attributes::{AccessAttributes, AccessTarget};

/// The 403 for a request, with the reason of the authorizer, if any. The message is that of
/// k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go.
pub(crate) fn forbidden(attributes: &AccessAttributes<'_>, reason: &str) -> Status {
    let mut why = sanitized(&sentence(attributes));
    if !reason.is_empty() {
        why.push_str(": ");
        why.push_str(reason);
    }
    match attributes.target {
        AccessTarget::Resource(resource) => {
            Status::forbidden((resource.group, resource.plural), resource.name, &why)
        }
        AccessTarget::Path(_) => Status::forbidden(("", ""), "", &why),
    }
}

fn sentence(attributes: &AccessAttributes<'_>) -> String {
    let AccessAttributes { user, verb, target } = attributes;
    let resource = match target {
        AccessTarget::Path(path) => {
            return format!("User {:?} cannot {verb} path {path:?}", user.name);
        }
        AccessTarget::Resource(resource) => resource,
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
    use crate::authorization::{AccessAttributes, AccessTarget, ResourceTarget};

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
            let attributes = AccessAttributes {
                user: &user,
                verb,
                target,
            };
            forbidden(&attributes, "").message
        };
        assert_eq!(
            message("list", AccessTarget::Resource(pods)),
            r#"pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "default""#
        );
        assert_eq!(
            message("get", AccessTarget::Resource(log)),
            r#"pods "x" is forbidden: User "bob" cannot get resource "pods/log" in API group "" in the namespace "default""#
        );
        assert_eq!(
            message("watch", AccessTarget::Resource(roles)),
            r#"clusterroles.rbac.authorization.k8s.io is forbidden: User "bob" cannot watch resource "clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope"#
        );
        assert_eq!(
            message("get", AccessTarget::Path("/metrics?<a>")),
            r#"forbidden: User "bob" cannot get path "/metrics?&lt;a&gt;""#
        );
    }
}
