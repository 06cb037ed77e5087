use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};

/// Whether a selector asks for nothing, and so would select everything.
pub(crate) fn is_empty(selector: &LabelSelector) -> bool {
    let labels = selector.match_labels.as_ref();
    let expressions = selector.match_expressions.as_ref();
    labels.is_none_or(BTreeMap::is_empty) && expressions.is_none_or(Vec::is_empty)
}

/// Whether labels are as a selector asks for; one that cannot be understood selects nothing.
///
/// It is asked for each Pod and each set, so it builds nothing.
pub(crate) fn matches(selector: &LabelSelector, labels: &BTreeMap<String, String>) -> bool {
    let mut wanted = selector.match_labels.iter().flatten();
    let mut expressions = selector.match_expressions.iter().flatten();
    wanted.all(|(key, value)| labels.get(key) == Some(value))
        && expressions.all(|one| holds(one, labels))
}

fn holds(one: &LabelSelectorRequirement, labels: &BTreeMap<String, String>) -> bool {
    let value = labels.get(&one.key);
    let is_among = || value.is_some_and(|value| one.values.iter().flatten().any(|v| v == value));
    match one.operator.as_str() {
        "In" => is_among(),
        "NotIn" => !is_among(),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        _ => false,
    }
}

/// Whether something may be selected by both: not when both want one label to have values of which
/// none is the same.
pub(crate) fn may_overlap(one: &LabelSelector, other: &LabelSelector) -> bool {
    let others = wanted(other);
    wanted(one).into_iter().all(|(key, values)| {
        others.get(key).is_none_or(|there| {
            values
                .as_ref()
                .zip(there.as_ref())
                .is_none_or(|(here, there)| here.iter().any(|value| there.contains(value)))
        })
    })
}

/// A selector for all that these select, and as little else as one selector can say: the labels
/// that all of them want, with all the values that any of them wants.
pub(crate) fn union(selectors: &[&LabelSelector]) -> LabelSelector {
    let all: Vec<_> = selectors.iter().map(|one| wanted(one)).collect();
    let Some((first, rest)) = all.split_first() else {
        return LabelSelector::default();
    };
    let mut expressions = Vec::new();
    for key in first.keys() {
        let mut values = Some(Vec::new());
        let mut is_common = true;
        for one in std::iter::once(first).chain(rest) {
            match one.get(key) {
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

/// The labels that must be there, with the values that they may have; any value where none are
/// given.
fn wanted<'a>(selector: &'a LabelSelector) -> BTreeMap<&'a str, Option<Vec<&'a str>>> {
    let mut wanted: BTreeMap<&'a str, Option<Vec<&'a str>>> = BTreeMap::new();
    let mut narrow = |key: &'a str, values: Option<Vec<&'a str>>| {
        let entry = wanted.entry(key).or_insert(None);
        *entry = match (entry.take(), values) {
            (None, values) => values,
            (former, None) => former,
            (Some(former), Some(values)) => {
                Some(former.into_iter().filter(|v| values.contains(v)).collect())
            }
        };
    };
    for (key, value) in selector.match_labels.iter().flatten() {
        narrow(key.as_str(), Some(vec![value.as_str()]));
    }
    for one in selector.match_expressions.iter().flatten() {
        let values = || one.values.iter().flatten().map(String::as_str).collect();
        match one.operator.as_str() {
            "In" => narrow(one.key.as_str(), Some(values())),
            "Exists" => narrow(one.key.as_str(), None),
            _ => {}
        }
    }
    wanted
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
    fn labels_are_as_asked_for() {
        let web = labels(json!({"app": "web"}));
        for (wanted, is_so) in [
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
            assert_eq!(matches(&selector(wanted.clone()), &web), is_so, "{wanted}");
        }
    }

    #[test]
    fn selectors_overlap_unless_one_label_would_need_two_values() {
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
            let (one, two) = (selector(web()), selector(other.clone()));
            assert_eq!(may_overlap(&one, &two), overlaps, "{other}");
            assert_eq!(may_overlap(&two, &one), overlaps, "{other}");
        }
    }

    #[test]
    fn a_union_selects_what_any_of_them_does() {
        let all = [
            json!({"matchLabels": {"app": "web", "tier": "a"}}),
            expression("app", "In", &["api", "web"]),
            json!({"matchLabels": {"app": "db"}}),
        ];
        let all: Vec<_> = all.into_iter().map(selector).collect();
        let joined = union(&all.iter().collect::<Vec<_>>());
        assert_eq!(
            json!(joined),
            expression("app", "In", &["api", "db", "web"])
        );
        let exists = selector(expression("app", "Exists", &[]));
        let joined = union(&[&all[0], &exists]);
        assert_eq!(joined.match_expressions.unwrap()[0].operator, "Exists");
        let other = selector(json!({"matchLabels": {"job": "x"}}));
        assert_eq!(union(&[&all[0], &other]), LabelSelector::default());
    }
}
