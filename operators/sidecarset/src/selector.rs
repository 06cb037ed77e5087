//! Label selectors: whether one matches labels, whether two overlap, and the union of several.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};

/// Whether a selector has no requirement, and so would select everything.
pub(crate) fn is_empty(selector: &LabelSelector) -> bool {
    let labels = selector.match_labels.as_ref();
    let expressions = selector.match_expressions.as_ref();
    labels.is_none_or(BTreeMap::is_empty) && expressions.is_none_or(Vec::is_empty)
}

/// Whether a selector matches the labels. An invalid selector matches nothing.
///
/// Called for each pair of a Pod and a set, so it allocates nothing.
pub(crate) fn matches(selector: &LabelSelector, labels: &BTreeMap<String, String>) -> bool {
    let mut match_labels = selector.match_labels.iter().flatten();
    let mut expressions = selector.match_expressions.iter().flatten();
    match_labels.all(|(key, value)| labels.get(key) == Some(value))
        && expressions.all(|requirement| is_met(requirement, labels))
}

fn is_met(requirement: &LabelSelectorRequirement, labels: &BTreeMap<String, String>) -> bool {
    let value = labels.get(&requirement.key);
    let mut values = requirement.values.iter().flatten();
    let mut is_among = || value.is_some_and(|value| values.any(|listed| listed == value));
    match requirement.operator.as_str() {
        "In" => is_among(),
        "NotIn" => !is_among(),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        _ => false,
    }
}

/// Whether both selectors may match the same labels. They do not if both require the same label with
/// disjoint values.
pub(crate) fn may_overlap(left: &LabelSelector, right: &LabelSelector) -> bool {
    let right_labels = required_labels(right);
    required_labels(left).into_iter().all(|(key, left_values)| {
        let right_values = right_labels.get(key).and_then(Option::as_ref);
        left_values
            .zip(right_values)
            .is_none_or(|(left, right)| left.iter().any(|value| right.contains(value)))
    })
}

/// Returns a selector that matches whatever one of these matches, and as little else as possible:
/// it has the labels that all of them require, with the values that any of them allows.
pub(crate) fn union(selectors: &[&LabelSelector]) -> LabelSelector {
    let required: Vec<_> = selectors
        .iter()
        .map(|selector| required_labels(selector))
        .collect();
    let Some((first, rest)) = required.split_first() else {
        return LabelSelector::default();
    };
    let mut expressions = Vec::new();
    for key in first.keys() {
        let mut values = Some(Vec::new());
        let mut is_common = true;
        for labels in std::iter::once(first).chain(rest) {
            match labels.get(key) {
                None => is_common = false,
                Some(None) => values = None,
                Some(Some(more)) => {
                    if let Some(values) = &mut values {
                        values.extend(more.iter().map(|value| (*value).to_owned()));
                    }
                }
            }
        }
        if !is_common {
            continue;
        }
        if let Some(values) = &mut values {
            values.sort_unstable();
            values.dedup();
        }
        expressions.push(LabelSelectorRequirement {
            key: (*key).to_owned(),
            operator: if values.is_some() { "In" } else { "Exists" }.to_owned(),
            values,
        });
    }
    LabelSelector {
        match_expressions: (!expressions.is_empty()).then_some(expressions),
        match_labels: None,
    }
}

/// The labels that a selector requires, with the allowed values; none allows any value.
fn required_labels<'a>(selector: &'a LabelSelector) -> BTreeMap<&'a str, Option<Vec<&'a str>>> {
    let mut labels: BTreeMap<&'a str, Option<Vec<&'a str>>> = BTreeMap::new();
    let mut narrow = |key: &'a str, values: Option<Vec<&'a str>>| {
        let entry = labels.entry(key).or_insert(None);
        *entry = match (entry.take(), values) {
            (None, values) => values,
            (allowed, None) => allowed,
            (Some(mut allowed), Some(values)) => {
                allowed.retain(|value| values.contains(value));
                Some(allowed)
            }
        };
    };
    for (key, value) in selector.match_labels.iter().flatten() {
        narrow(key.as_str(), Some(vec![value.as_str()]));
    }
    for requirement in selector.match_expressions.iter().flatten() {
        let values = requirement.values.iter().flatten();
        match requirement.operator.as_str() {
            "In" => narrow(&requirement.key, Some(values.map(String::as_str).collect())),
            "Exists" => narrow(&requirement.key, None),
            _ => {}
        }
    }
    labels
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
    use serde_json::{Value, json};

    use super::{matches, may_overlap, union};

    fn selector(value: Value) -> LabelSelector {
        serde_json::from_value(value).unwrap()
    }

    fn labels(value: Value) -> BTreeMap<String, String> {
        serde_json::from_value(value).unwrap()
    }

    fn expression(key: &str, operator: &str, values: &[&str]) -> Value {
        json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]})
    }

    #[test]
    fn selector_matches_labels_that_meet_all_requirements() {
        let web = labels(json!({"app": "web"}));
        for (requirements, expected) in [
            (json!({}), true),
            (json!({"matchLabels": {"app": "web"}}), true),
            (json!({"matchLabels": {"app": "api"}}), false),
            (json!({"matchLabels": {"tier": "web"}}), false),
            (expression("app", "In", &["api", "web"]), true),
            (expression("app", "NotIn", &["api"]), true),
            (expression("tier", "NotIn", &["a"]), true),
            (expression("app", "NotIn", &["web"]), false),
            (expression("app", "Exists", &[]), true),
            (expression("tier", "Exists", &[]), false),
            (expression("tier", "DoesNotExist", &[]), true),
            (expression("app", "Near", &["web"]), false),
        ] {
            let selector = selector(requirements.clone());
            assert_eq!(matches(&selector, &web), expected, "{requirements}");
        }
    }

    #[test]
    fn selectors_overlap_unless_they_require_different_values_of_a_label() {
        let web = || json!({"matchLabels": {"app": "web"}});
        for (other, overlaps) in [
            (web(), true),
            (json!({"matchLabels": {"app": "api"}}), false),
            (json!({"matchLabels": {"tier": "db"}}), true),
            (expression("app", "In", &["web", "api"]), true),
            (expression("app", "In", &["api"]), false),
            (expression("app", "Exists", &[]), true),
            (json!({}), true),
        ] {
            let (left, right) = (selector(web()), selector(other.clone()));
            assert_eq!(may_overlap(&left, &right), overlaps, "{other}");
            assert_eq!(may_overlap(&right, &left), overlaps, "{other}");
        }
    }

    #[test]
    fn union_matches_whatever_one_of_the_selectors_matches() {
        let [web, api, db] = [
            json!({"matchLabels": {"app": "web", "tier": "a"}}),
            expression("app", "In", &["api", "web"]),
            json!({"matchLabels": {"app": "db"}}),
        ]
        .map(selector);
        let apps = union(&[&web, &api, &db]);
        assert_eq!(json!(apps), expression("app", "In", &["api", "db", "web"]));
        let exists = selector(expression("app", "Exists", &[]));
        let any_app = union(&[&web, &exists]);
        assert_eq!(any_app.match_expressions.unwrap()[0].operator, "Exists");
        let other = selector(json!({"matchLabels": {"job": "x"}}));
        assert_eq!(union(&[&web, &other]), LabelSelector::default());
    }
}
