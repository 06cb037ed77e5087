//! ClusterRoles that aggregate the rules of others.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::label_selector::label_selector;

/// The distinct rules of the ClusterRoles that an aggregated role selects
/// (pkg/controller/clusterroleaggregation). `others` are sorted by name.
///
/// Returns `None` when the role is not aggregated, or when a selector is invalid.
pub fn aggregated_rules<'a, R>(role: &Value, others: R) -> Option<Vec<Value>>
where
    R: Iterator<Item = &'a Value> + Clone,
{
    let selectors = role.pointer("/aggregationRule/clusterRoleSelectors")?;
    let name = |role: &'a Value| role.pointer("/metadata/name").and_then(Value::as_str);
    let own = role.pointer("/metadata/name").and_then(Value::as_str);
    let mut rules: Vec<Value> = Vec::new();
    let mut seen = BTreeSet::new();
    for selector in selectors.as_array()? {
        let selector = label_selector(selector)?;
        let selected = others.clone().filter(|other| {
            let labels = other.pointer("/metadata/labels");
            name(other) != own && selector.matches(|key| labels?.get(key)?.as_str())
        });
        let found = selected.filter_map(|other| other.get("rules")?.as_array());
        for rule in found.flatten() {
            if seen.insert(rule.to_string()) {
                rules.push(rule.clone());
            }
        }
    }
    Some(rules)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::aggregated_rules;

    #[test]
    fn distinct_rules_of_selected_roles_are_aggregated() {
        let role = |name: &str, part: &str, verbs: &[&str]| {
            let rules: Vec<_> = verbs.iter().map(|verb| json!({"verbs": [verb]})).collect();
            json!({"metadata": {"name": name, "labels": {"part": part}}, "rules": rules})
        };
        let mut sum = role("sum", "yes", &["old"]);
        sum["aggregationRule"] =
            json!({"clusterRoleSelectors": [{"matchLabels": {"part": "yes"}}]});
        let roles = [
            role("a", "yes", &["get", "list"]),
            role("b", "no", &["delete"]),
            role("c", "yes", &["list", "watch"]),
            sum.clone(),
        ];
        let verbs: Vec<Value> = aggregated_rules(&sum, roles.iter())
            .unwrap()
            .iter()
            .map(|rule| rule["verbs"][0].clone())
            .collect();
        assert_eq!(verbs, ["get", "list", "watch"]);
        assert_eq!(aggregated_rules(&roles[0], roles.iter()), None);
    }
}
