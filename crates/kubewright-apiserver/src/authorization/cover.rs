use std::collections::{BTreeMap, BTreeSet};

use kubewright_core::PolicyRule;

use super::rule::covers_path;

/// How many parts of rules are compared at most: a short rule may have millions.
const MOST_PARTS: usize = 100_000;
/// How many missing parts are listed at most.
const MOST_LISTED: usize = 1000;

/// The rules have more parts than are compared.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooManyParts;

/// The parts of the given rules that the held ones do not cover, each in its smallest form
/// (`Covers` of k8s.io/component-helpers/auth/rbac/validation).
pub(super) fn uncovered(
    held: &[PolicyRule],
    given: &[PolicyRule],
) -> Result<Vec<PolicyRule>, TooManyParts> {
    let holdings = Holdings::of(held);
    let mut missing = Vec::new();
    let mut compared: usize = 0;
    for rule in given {
        // Most rules are held as they are, and need not be taken apart.
        if holdings.cover(rule) {
            continue;
        }
        compared = compared.saturating_add(count_parts(rule));
        if compared > MOST_PARTS {
            return Err(TooManyParts);
        }
        let parts = parts(rule).into_iter();
        missing.extend(parts.filter(|part| !holdings.cover(part)));
        if missing.len() > MOST_LISTED {
            missing.truncate(MOST_LISTED);
            break;
        }
    }
    Ok(missing)
}

fn count_parts(rule: &PolicyRule) -> usize {
    let resources = [
        rule.api_groups.len(),
        rule.resources.len(),
        rule.resource_names.len().max(1),
    ];
    let resources = resources.into_iter().fold(1, usize::saturating_mul);
    let all = resources.saturating_add(rule.non_resource_urls.len());
    all.saturating_mul(rule.verbs.len())
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

/// What a user holds, to be looked up.
struct Holdings<'h> {
    rules: Vec<Held<'h>>,
    /// Which rules are about a resource.
    by_resource: BTreeMap<&'h str, Vec<usize>>,
    /// Which rules are about paths.
    of_paths: Vec<usize>,
}

/// One rule that a user holds.
struct Held<'h> {
    rule: &'h PolicyRule,
    verbs: BTreeSet<&'h str>,
    groups: BTreeSet<&'h str>,
    resources: BTreeSet<&'h str>,
    names: BTreeSet<&'h str>,
}

impl<'h> Holdings<'h> {
    fn of(held: &'h [PolicyRule]) -> Self {
        let mut by_resource: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut of_paths = Vec::new();
        for (place, rule) in held.iter().enumerate() {
            for resource in &rule.resources {
                by_resource.entry(resource).or_default().push(place);
            }
            if !rule.non_resource_urls.is_empty() {
                of_paths.push(place);
            }
        }
        let texts = |texts: &'h [String]| texts.iter().map(String::as_str).collect();
        let rules = held.iter().map(|rule| Held {
            verbs: texts(&rule.verbs),
            groups: texts(&rule.api_groups),
            resources: texts(&rule.resources),
            names: texts(&rule.resource_names),
            rule,
        });
        Self {
            rules: rules.collect(),
            by_resource,
            of_paths,
        }
    }

    /// Whether one of them covers a rule, or a part of one.
    fn cover(&self, given: &PolicyRule) -> bool {
        let Some(resource) = given.resources.first() else {
            let mut held = self.of_paths.iter();
            return held.any(|place| self.rules[*place].covers(given));
        };
        let any_part = any_with_part(resource);
        let keys = [Some(resource.as_str()), Some("*"), any_part.as_deref()];
        let places = keys.into_iter().flatten();
        let mut places = places.flat_map(|key| self.by_resource.get(key).into_iter().flatten());
        places.any(|place| self.rules[*place].covers(given))
    }
}

impl Held<'_> {
    fn covers(&self, given: &PolicyRule) -> bool {
        let has = |set: &BTreeSet<&str>, wanted: &str| set.contains("*") || set.contains(wanted);
        let has_resource = |wanted: &String| {
            let any_part = any_with_part(wanted);
            has(&self.resources, wanted)
                || any_part.is_some_and(|any| self.resources.contains(any.as_str()))
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
fn any_with_part(resource: &str) -> Option<String> {
    let (_, part) = resource.split_once('/')?;
    Some(format!("*/{part}"))
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

    use super::{MOST_LISTED, TooManyParts, describe, uncovered};

    fn rules(value: Value) -> Vec<PolicyRule> {
        serde_json::from_value(value).unwrap()
    }

    fn missing(held: Value, given: Value) -> String {
        describe(&uncovered(&rules(held), &rules(given)).unwrap())
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

    #[test]
    fn rules_of_many_parts_are_compared_as_far_as_that_is_possible() {
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
            Ok(MOST_LISTED)
        );
    }
}
