use std::collections::{BTreeMap, BTreeSet};

use kubewright_core::PolicyRule;

use super::rule::covers_path;

/// The parts of the given rules that the held ones do not cover, each in its smallest form
/// (`Covers` of k8s.io/component-helpers/auth/rbac/validation).
pub(super) fn uncovered(held: &[PolicyRule], given: &[PolicyRule]) -> Vec<PolicyRule> {
    given
        .iter()
        .flat_map(parts)
        .filter(|part| !held.iter().any(|rule| covers(rule, part)))
        .collect()
}

/// A rule as many rules, each with one verb, one resource and at most one name, or one path.
fn parts(rule: &PolicyRule) -> Vec<PolicyRule> {
    let mut parts = Vec::new();
    let one = |text: &String| vec![text.clone()];
    for group in &rule.api_groups {
        for resource in &rule.resources {
            for verb in &rule.verbs {
                let part = PolicyRule {
                    api_groups: one(group),
                    resources: one(resource),
                    verbs: one(verb),
                    ..PolicyRule::default()
                };
                let named = rule.resource_names.iter().map(|name| PolicyRule {
                    resource_names: one(name),
                    ..part.clone()
                });
                parts.extend(named);
                if rule.resource_names.is_empty() {
                    parts.push(part);
                }
            }
        }
    }
    for path in &rule.non_resource_urls {
        for verb in &rule.verbs {
            parts.push(PolicyRule {
                non_resource_urls: one(path),
                verbs: one(verb),
                ..PolicyRule::default()
            });
        }
    }
    parts
}

fn covers(held: &PolicyRule, part: &PolicyRule) -> bool {
    let has = |set: &[String], wanted: &String| set.iter().any(|one| one == "*" || one == wanted);
    let resource = |wanted: &String| {
        let subresource = wanted.split_once('/').map(|(_, part)| format!("*/{part}"));
        has(&held.resources, wanted) || subresource.is_some_and(|any| held.resources.contains(&any))
    };
    let path = |wanted: &String| {
        let mut paths = held.non_resource_urls.iter();
        paths.any(|one| covers_path(one, wanted))
    };
    let is_named = held.resource_names.is_empty()
        || !part.resource_names.is_empty()
            && part
                .resource_names
                .iter()
                .all(|name| held.resource_names.contains(name));
    part.verbs.iter().all(|one| has(&held.verbs, one))
        && part.api_groups.iter().all(|one| has(&held.api_groups, one))
        && part.resources.iter().all(resource)
        && part.non_resource_urls.iter().all(path)
        && is_named
}

/// The rules as a message lists them: verbs of the same resource together, one rule a line, sorted
/// (`CompactRules`, `CompactString`).
pub(super) fn describe(rules: &[PolicyRule]) -> String {
    let mut together: BTreeMap<[&[String]; 3], PolicyRule> = BTreeMap::new();
    let mut lines = BTreeSet::new();
    for rule in rules {
        if rule.resources.is_empty() {
            lines.insert(line(rule));
            continue;
        }
        let key = [
            rule.api_groups.as_slice(),
            rule.resources.as_slice(),
            rule.resource_names.as_slice(),
        ];
        let entry = together.entry(key).or_insert_with(|| PolicyRule {
            verbs: Vec::new(),
            ..rule.clone()
        });
        entry.verbs.extend(rule.verbs.iter().cloned());
    }
    lines.extend(together.values().map(line));
    let lines: Vec<_> = lines.into_iter().collect();
    lines.join("\n")
}

fn line(rule: &PolicyRule) -> String {
    let parts: Vec<_> = [
        ("APIGroups", &rule.api_groups),
        ("Resources", &rule.resources),
        ("NonResourceURLs", &rule.non_resource_urls),
        ("ResourceNames", &rule.resource_names),
        ("Verbs", &rule.verbs),
    ]
    .into_iter()
    .filter(|(_, values)| !values.is_empty())
    .map(|(name, values)| format!("{name}:{}", quoted(values)))
    .collect();
    format!("{{{}}}", parts.join(", "))
}

/// A list of texts as Go prints it with `%q`.
pub(super) fn quoted(texts: &[String]) -> String {
    let texts: Vec<_> = texts.iter().map(|text| format!("{text:?}")).collect();
    format!("[{}]", texts.join(" "))
}

#[cfg(test)]
mod tests {
    use kubewright_core::PolicyRule;
    use serde_json::{Value, json};

    use super::{describe, uncovered};

    fn rules(value: Value) -> Vec<PolicyRule> {
        serde_json::from_value(value).unwrap()
    }

    fn missing(held: Value, given: Value) -> String {
        describe(&uncovered(&rules(held), &rules(given)))
    }

    #[test]
    fn what_is_held_may_be_given() {
        let pods = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]);
        let all = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]);
        let status = json!([{"apiGroups": [""], "resources": ["*/status"], "verbs": ["get"]}]);
        let pod_status =
            json!([{"apiGroups": [""], "resources": ["pods/status"], "verbs": ["get"]}]);
        let paths = json!([{"nonResourceURLs": ["/api/*"], "verbs": ["get"]}]);
        let path = json!([{"nonResourceURLs": ["/api/v1"], "verbs": ["get"]}]);
        for (held, given) in [
            (&pods, &pods),
            (&all, &pods),
            (&status, &pod_status),
            (&paths, &path),
        ] {
            assert_eq!(missing(held.clone(), given.clone()), "", "{held} {given}");
        }
    }

    #[test]
    fn what_is_not_held_is_named() {
        let get = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
        let given = json!([
            {"apiGroups": [""], "resources": ["pods", "secrets"], "verbs": ["get", "list"]},
            {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
        ]);
        assert_eq!(
            missing(get, given),
            "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\"]}\n\
             {APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"list\"]}\n\
             {NonResourceURLs:[\"/metrics\"], Verbs:[\"get\"]}"
        );
        let named = json!([{"apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"], "verbs": ["get"]}]);
        let any = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
        assert_eq!(missing(any.clone(), named.clone()), "");
        assert_ne!(missing(named, any), "");
    }
}
