//! Which parts of rules are covered by the rules that a user has.

use std::collections::{BTreeMap, BTreeSet};

use kubewright_core::PolicyRule;

use super::rule::covers_path;

/// How many parts of rules are compared at most: a short rule can have millions.
const MAX_PARTS: usize = 100_000;
/// How many missing parts are listed at most.
const MAX_LISTED: usize = 1000;

/// The rules have more than [`MAX_PARTS`] parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooManyParts;

/// The parts of the given rules that the held ones do not cover, each in its smallest form
/// (`Covers` of k8s.io/component-helpers/auth/rbac/validation).
pub(super) fn uncovered(
    held: &[PolicyRule],
    given: &[PolicyRule],
) -> Result<Vec<PolicyRule>, TooManyParts> {
    let held = HeldRules::new(held);
    let mut missing = Vec::new();
    let mut compared: usize = 0;
    for rule in given {
        // Most rules are covered as a whole, and need not be split.
        if held.cover(rule) {
            continue;
        }
        compared = compared.saturating_add(count_parts(rule));
        if compared > MAX_PARTS {
            return Err(TooManyParts);
        }
        let parts = parts(rule).into_iter();
        missing.extend(parts.filter(|part| !held.cover(part)));
        if missing.len() > MAX_LISTED {
            missing.truncate(MAX_LISTED);
            break;
        }
    }
    Ok(missing)
}

fn count_parts(rule: &PolicyRule) -> usize {
    let resources = rule
        .api_groups
        .len()
        .saturating_mul(rule.resources.len())
        .saturating_mul(rule.resource_names.len().max(1));
    let targets = resources.saturating_add(rule.non_resource_urls.len());
    targets.saturating_mul(rule.verbs.len())
}

/// Splits a rule into rules with one verb, one resource and at most one name, or one path.
fn parts(rule: &PolicyRule) -> Vec<PolicyRule> {
    let mut parts = Vec::new();
    let only = |text: &String| vec![text.clone()];
    for group in &rule.api_groups {
        for resource in &rule.resources {
            for verb in &rule.verbs {
                let part = PolicyRule {
                    api_groups: only(group),
                    resources: only(resource),
                    verbs: only(verb),
                    ..PolicyRule::default()
                };
                let named = rule.resource_names.iter().map(|name| PolicyRule {
                    resource_names: only(name),
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
                non_resource_urls: only(path),
                verbs: only(verb),
                ..PolicyRule::default()
            });
        }
    }
    parts
}

/// The rules that a user has, indexed by resource.
struct HeldRules<'h> {
    rules: Vec<HeldRule<'h>>,
    /// The indices of the rules for a resource.
    by_resource: BTreeMap<&'h str, Vec<usize>>,
    /// The indices of the rules for paths.
    with_paths: Vec<usize>,
}

/// A rule that a user has.
struct HeldRule<'h> {
    rule: &'h PolicyRule,
    verbs: BTreeSet<&'h str>,
    groups: BTreeSet<&'h str>,
    resources: BTreeSet<&'h str>,
    names: BTreeSet<&'h str>,
}

impl<'h> HeldRules<'h> {
    fn new(held: &'h [PolicyRule]) -> Self {
        let mut by_resource: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut with_paths = Vec::new();
        for (index, rule) in held.iter().enumerate() {
            for resource in &rule.resources {
                by_resource.entry(resource).or_default().push(index);
            }
            if !rule.non_resource_urls.is_empty() {
                with_paths.push(index);
            }
        }
        let texts = |texts: &'h [String]| texts.iter().map(String::as_str).collect();
        let rules = held.iter().map(|rule| HeldRule {
            verbs: texts(&rule.verbs),
            groups: texts(&rule.api_groups),
            resources: texts(&rule.resources),
            names: texts(&rule.resource_names),
            rule,
        });
        Self {
            rules: rules.collect(),
            by_resource,
            with_paths,
        }
    }

    /// Whether a single rule covers the given rule.
    fn cover(&self, given: &PolicyRule) -> bool {
        let covers = |index: &usize| self.rules[*index].covers(given);
        let Some(resource) = given.resources.first() else {
            return self.with_paths.iter().any(covers);
        };
        let wildcard = subresource_wildcard(resource);
        let keys = [Some(resource.as_str()), Some("*"), wildcard.as_deref()];
        keys.into_iter()
            .flatten()
            .flat_map(|key| self.by_resource.get(key).into_iter().flatten())
            .any(covers)
    }
}

impl HeldRule<'_> {
    fn covers(&self, given: &PolicyRule) -> bool {
        let has = |set: &BTreeSet<&str>, wanted: &str| set.contains("*") || set.contains(wanted);
        let has_resource = |wanted: &String| {
            let wildcard = subresource_wildcard(wanted);
            has(&self.resources, wanted)
                || wildcard.is_some_and(|wildcard| self.resources.contains(wildcard.as_str()))
        };
        let has_path = |wanted: &String| {
            let mut paths = self.rule.non_resource_urls.iter();
            paths.any(|path| covers_path(path, wanted))
        };
        let has_name = |name: &String| self.names.contains(name.as_str());
        let is_named = self.names.is_empty()
            || !given.resource_names.is_empty() && given.resource_names.iter().all(has_name);
        given.verbs.iter().all(|verb| has(&self.verbs, verb))
            && given
                .api_groups
                .iter()
                .all(|group| has(&self.groups, group))
            && given.resources.iter().all(has_resource)
            && given.non_resource_urls.iter().all(has_path)
            && is_named
    }
}

/// `*/status` for `pods/status`.
fn subresource_wildcard(resource: &str) -> Option<String> {
    let (_, subresource) = resource.split_once('/')?;
    Some(format!("*/{subresource}"))
}

/// The rules in an error message: verbs of the same resource together, one rule per line, sorted
/// (`CompactRules`, `CompactString`).
pub(super) fn describe(rules: &[PolicyRule]) -> String {
    let mut by_target: BTreeMap<[&[String]; 3], PolicyRule> = BTreeMap::new();
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
        let entry = by_target.entry(key).or_insert_with(|| PolicyRule {
            verbs: Vec::new(),
            ..rule.clone()
        });
        entry.verbs.extend(rule.verbs.iter().cloned());
    }
    lines.extend(by_target.values().map(line));
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

/// A list of strings as Go prints it with `%q`.
pub(super) fn quoted(texts: &[String]) -> String {
    let texts: Vec<_> = texts.iter().map(|text| format!("{text:?}")).collect();
    format!("[{}]", texts.join(" "))
}

#[cfg(test)]
mod tests {
    use kubewright_core::PolicyRule;
    use serde_json::{Value, json};

    use super::{MAX_LISTED, TooManyParts, describe, uncovered};

    fn rules(value: Value) -> Vec<PolicyRule> {
        serde_json::from_value(value).unwrap()
    }

    fn missing(held: Value, given: Value) -> String {
        describe(&uncovered(&rules(held), &rules(given)).unwrap())
    }

    #[test]
    fn held_rules_cover_equal_and_narrower_rules() {
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
    fn uncovered_parts_are_listed() {
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

    #[test]
    fn rules_with_too_many_parts_are_an_error_unless_covered_as_a_whole() {
        let texts = |prefix: &str, count: usize| -> Vec<String> {
            (0..count).map(|n| format!("{prefix}{n}")).collect()
        };
        let huge = rules(json!([{
            "apiGroups": texts("g", 2000), "resources": texts("r", 2000), "verbs": texts("v", 2000),
        }]));
        let all = rules(json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]));
        assert_eq!(uncovered(&all, &huge), Ok(Vec::new()));
        assert_eq!(uncovered(&[], &huge), Err(TooManyParts));
        let many: Vec<Value> = texts("r", 20_000)
            .iter()
            .map(|resource| json!({"apiGroups": [""], "resources": [resource], "verbs": ["get"]}))
            .collect();
        let many = rules(Value::Array(many));
        assert_eq!(uncovered(&many, &many), Ok(Vec::new()));
        assert_eq!(
            uncovered(&[], &many).map(|missing| missing.len()),
            Ok(MAX_LISTED)
        );
    }
}
