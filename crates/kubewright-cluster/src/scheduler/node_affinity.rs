//! Required node affinity.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

/// The terms of a required node affinity. At least one must match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct NodeSelector {
    node_selector_terms: Vec<Term>,
}

/// A term, all requirements of which must match. An empty term matches nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Term {
    match_expressions: Vec<Requirement>,
    match_fields: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Requirement {
    key: String,
    operator: String,
    #[serde(default)]
    values: Vec<String>,
}

/// The only field that a requirement can name.
const NAME: &str = "metadata.name";

impl NodeSelector {
    /// Whether a node with this name and these labels matches.
    pub(super) fn matches(&self, name: &str, labels: &BTreeMap<String, String>) -> bool {
        self.node_selector_terms
            .iter()
            .any(|term| term.matches(name, labels))
    }

    /// The node names that the terms are restricted to; `None` when a term has no such restriction.
    ///
    /// The scheduler then filters out all other nodes first, and reports them differently
    /// (`PreFilter` of pkg/scheduler/framework/plugins/nodeaffinity).
    pub(super) fn names(&self) -> Option<BTreeSet<&str>> {
        let mut names = BTreeSet::new();
        for term in &self.node_selector_terms {
            names.extend(term.names()?);
        }
        (!self.node_selector_terms.is_empty()).then_some(names)
    }
}

impl Term {
    fn matches(&self, name: &str, labels: &BTreeMap<String, String>) -> bool {
        let is_empty = self.match_expressions.is_empty() && self.match_fields.is_empty();
        let field = |key: &str| (key == NAME).then_some(name);
        let label = |key: &str| labels.get(key).map(String::as_str);
        let mut fields = self.match_fields.iter();
        let mut expressions = self.match_expressions.iter();
        !is_empty
            && fields.all(|requirement| requirement.matches(field(&requirement.key)))
            && expressions.all(|requirement| requirement.matches(label(&requirement.key)))
    }

    fn names(&self) -> Option<BTreeSet<&str>> {
        let restrictions = self
            .match_fields
            .iter()
            .filter(|requirement| requirement.key == NAME && requirement.operator == "In")
            .map(|requirement| {
                let names = requirement.values.iter().map(String::as_str);
                names.collect::<BTreeSet<_>>()
            });
        restrictions.reduce(|names, more| names.intersection(&more).copied().collect())
    }
}

impl Requirement {
    fn matches(&self, value: Option<&str>) -> bool {
        let is_listed = value.is_some_and(|value| self.values.iter().any(|listed| listed == value));
        match self.operator.as_str() {
            "In" => is_listed,
            "NotIn" => !is_listed,
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            "Gt" => self.compare(value, |value, bound| value > bound),
            "Lt" => self.compare(value, |value, bound| value < bound),
            _ => false,
        }
    }

    fn compare(&self, value: Option<&str>, holds: impl Fn(i64, i64) -> bool) -> bool {
        let number = |text: &str| text.parse::<i64>().ok();
        match (value.and_then(number), self.values.as_slice()) {
            (Some(value), [bound]) => number(bound).is_some_and(|bound| holds(value, bound)),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::NodeSelector;

    fn matches(terms: Value) -> bool {
        let selector: NodeSelector =
            serde_json::from_value(json!({"nodeSelectorTerms": terms})).unwrap();
        let labels = BTreeMap::from([
            ("zone".to_owned(), "a".to_owned()),
            ("cores".to_owned(), "8".to_owned()),
        ]);
        selector.matches("n1", &labels)
    }

    fn expression(key: &str, operator: &str, values: &[&str]) -> Value {
        json!([{"matchExpressions": [{"key": key, "operator": operator, "values": values}]}])
    }

    #[test]
    fn operators_match_as_in_kubernetes() {
        for (wanted, key, operator, values) in [
            (true, "zone", "In", &["a", "b"][..]),
            (false, "zone", "In", &["b"]),
            (false, "rack", "In", &["a"]),
            (false, "zone", "NotIn", &["a"]),
            (true, "zone", "NotIn", &["b"]),
            (true, "rack", "NotIn", &["a"]),
            (true, "zone", "Exists", &[]),
            (false, "rack", "Exists", &[]),
            (false, "zone", "DoesNotExist", &[]),
            (true, "rack", "DoesNotExist", &[]),
            (true, "cores", "Gt", &["7"]),
            (false, "cores", "Gt", &["8"]),
            (true, "cores", "Lt", &["9"]),
            (false, "zone", "Lt", &["9"]),
            (false, "rack", "Gt", &["1"]),
            (false, "zone", "Odd", &["a"]),
        ] {
            let found = matches(expression(key, operator, values));
            assert_eq!(found, wanted, "{key} {operator} {values:?}");
        }
    }

    #[test]
    fn one_term_must_match_with_all_its_requirements() {
        let zone = |value: &str| json!({"key": "zone", "operator": "In", "values": [value]});
        let name =
            |value: &str| json!({"key": "metadata.name", "operator": "In", "values": [value]});
        let both = |zone_value, name_value| json!({"matchExpressions": [zone(zone_value)], "matchFields": [name(name_value)]});
        assert!(matches(json!([both("a", "n1")])));
        assert!(!matches(json!([both("a", "n2")])));
        assert!(!matches(json!([both("b", "n1")])));
        assert!(matches(json!([both("b", "n1"), both("a", "n1")])));
        assert!(!matches(json!([{}])));
        assert!(!matches(json!([])));
    }

    #[test]
    fn node_names_are_known_when_every_term_restricts_them() {
        let term = |values: &[&str]| json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": values}]});
        let zone = json!({"matchExpressions": [{"key": "zone", "operator": "Exists"}]});
        let names = |terms: Value| {
            let selector: NodeSelector =
                serde_json::from_value(json!({"nodeSelectorTerms": terms})).unwrap();
            let names = selector.names();
            names.map(|names| names.into_iter().map(str::to_owned).collect::<Vec<_>>())
        };
        assert_eq!(
            names(json!([term(&["n1"]), term(&["n2", "n3"])])),
            Some(vec!["n1".to_owned(), "n2".to_owned(), "n3".to_owned()])
        );
        assert_eq!(names(json!([term(&["n1"]), zone])), None);
        assert_eq!(names(json!([])), None);
    }
}
