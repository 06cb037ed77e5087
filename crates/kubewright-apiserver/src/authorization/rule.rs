//! Whether a rule of a role allows a request.

use kubewright_core::PolicyRule;

use super::attributes::{AccessAttributes, AccessTarget, ResourceTarget};

/// Whether a rule allows a request (`RuleAllows` of plugin/pkg/auth/authorizer/rbac).
///
/// A rule with resourceNames does not allow requests without a name, such as create and list.
pub(super) fn allows(rule: &PolicyRule, attributes: &AccessAttributes<'_>) -> bool {
    contains(&rule.verbs, attributes.verb)
        && match attributes.target {
            AccessTarget::Resource(resource) => allows_resource(rule, &resource),
            AccessTarget::Path(path) => {
                let mut paths = rule.non_resource_urls.iter();
                paths.any(|pattern| covers_path(pattern, path))
            }
        }
}

fn allows_resource(rule: &PolicyRule, attributes: &ResourceTarget<'_>) -> bool {
    contains(&rule.api_groups, attributes.group)
        && matches_resource(rule, attributes)
        && (rule.resource_names.is_empty()
            || rule
                .resource_names
                .iter()
                .any(|name| name == attributes.name))
}

fn matches_resource(rule: &PolicyRule, attributes: &ResourceTarget<'_>) -> bool {
    let combined = attributes.combined();
    rule.resources.iter().any(|resource| {
        let subresource_of_any = resource.strip_prefix("*/");
        resource == "*"
            || *resource == combined
            || !attributes.subresource.is_empty()
                && subresource_of_any == Some(attributes.subresource)
    })
}

fn contains(allowed: &[String], wanted: &str) -> bool {
    allowed.iter().any(|item| item == "*" || item == wanted)
}

/// Whether a nonResourceURL, which can end with `*`, covers a path.
pub(super) fn covers_path(pattern: &str, path: &str) -> bool {
    pattern == path || pattern.ends_with('*') && path.starts_with(pattern.trim_end_matches('*'))
}

#[cfg(test)]
mod tests {
    use kubewright_core::PolicyRule;
    use serde_json::json;

    use super::allows;
    use crate::authentication::User;
    use crate::authorization::{AccessAttributes, AccessTarget, ResourceTarget};

    fn rule(value: serde_json::Value) -> PolicyRule {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn resource_rules_match_verb_group_resource_and_name() {
        let user = User::default();
        let pods = ResourceTarget {
            plural: "pods",
            namespace: "web",
            ..ResourceTarget::default()
        };
        let named = ResourceTarget { name: "a", ..pods };
        let status = ResourceTarget {
            subresource: "status",
            ..named
        };
        let apps = ResourceTarget {
            group: "apps",
            ..pods
        };
        let read = json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]});
        let all = json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]});
        let any_status = json!({"apiGroups": [""], "resources": ["*/status"], "verbs": ["get"]});
        let by_name = json!({"apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"], "verbs": ["*"]});
        for (wanted, rule_value, verb, target) in [
            (true, &read, "get", named),
            (true, &read, "list", pods),
            (false, &read, "watch", pods),
            (false, &read, "get", status),
            (false, &read, "list", apps),
            (true, &all, "deletecollection", apps),
            (true, &all, "get", status),
            (true, &any_status, "get", status),
            (false, &any_status, "get", named),
            (true, &by_name, "get", named),
            (false, &by_name, "create", pods),
            (false, &by_name, "list", pods),
        ] {
            let attributes = AccessAttributes {
                user: &user,
                verb,
                target: AccessTarget::Resource(target),
            };
            let allowed = allows(&rule(rule_value.clone()), &attributes);
            assert_eq!(allowed, wanted, "{rule_value} {verb} {target:?}");
        }
    }

    #[test]
    fn path_rules_match_exactly_or_by_prefix_with_a_star() {
        let user = User::default();
        let rule = rule(json!({"nonResourceURLs": ["/api", "/apis/*"], "verbs": ["get"]}));
        for (wanted, verb, path) in [
            (true, "get", "/api"),
            (true, "get", "/apis/apps"),
            (false, "get", "/apis"),
            (false, "get", "/api/v1"),
            (false, "post", "/api"),
        ] {
            let target = AccessTarget::Path(path);
            let attributes = AccessAttributes {
                user: &user,
                verb,
                target,
            };
            assert_eq!(allows(&rule, &attributes), wanted, "{verb} {path}");
        }
    }
}
