//! The estimated cost of validation rules.

use kubewright_wire::status::Cause;
use serde_json::Value;

use crate::custom::{MAX_REQUEST_SIZE, limit};

/// The most that one rule may cost.
const RULE_LIMIT: u64 = 10_000_000;
/// The most that all rules of a schema may cost together.
const SCHEMA_LIMIT: u64 = 100_000_000;
/// The number of the most expensive rules that are reported.
const NAMED: usize = 4;

const ADVICE: &str = "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength \
                      where arrays, maps, and strings are declared)";

/// Whether a single rule has a cost limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleLimit {
    Enforced,
    /// The schema did not change, and was accepted before.
    Lifted,
}

/// The cost of the rules of a schema (`TotalCost` of k8s.io/apiextensions-apiserver).
#[derive(Debug)]
pub(super) struct Costs {
    limit: RuleLimit,
    total: u64,
    /// The most expensive rules, in descending order.
    largest: Vec<(String, u64)>,
}

impl Costs {
    pub(super) fn new(limit: RuleLimit) -> Self {
        Self {
            limit,
            total: 0,
            largest: Vec::new(),
        }
    }

    /// Adds the cost of an expression, and returns the error if it exceeds the limit of one.
    pub(super) fn observe(&mut self, what: &str, path: &str, cost: u64) -> Option<Cause> {
        self.total = self.total.saturating_add(cost);
        if cost >= SCHEMA_LIMIT / 100 {
            self.largest.push((path.to_owned(), cost));
            self.largest
                .sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
            self.largest.truncate(NAMED);
        }
        let exceeds_limit = self.limit == RuleLimit::Enforced && cost > RULE_LIMIT;
        exceeds_limit.then(|| Cause::forbidden(path, &exceeds(what, cost, RULE_LIMIT)))
    }

    /// The errors if all rules together exceed the limit of a schema.
    pub(super) fn causes(&self, path: &str) -> Vec<Cause> {
        if self.total <= SCHEMA_LIMIT {
            return Vec::new();
        }
        let part = "contributed to estimated rule cost total exceeding cost limit for entire \
                    OpenAPIv3 schema";
        let whole = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 \
                     schema";
        let largest = self.largest.iter();
        let mut causes: Vec<Cause> = largest
            .map(|(path, _)| Cause::forbidden(path, part))
            .collect();
        let detail = exceeds(whole, self.total, SCHEMA_LIMIT);
        causes.push(Cause::forbidden(path, &detail));
        causes
    }
}

/// The maximum number of the parts of a value in one object, from that of the value; `None` when
/// it is unbounded (`extractMaxElements`).
pub(super) fn cardinality_below(parent: Option<u64>, schema: &Value) -> Option<u64> {
    let factor = match schema["type"].as_str() {
        Some("array") => limit(schema, "maxItems")?,
        Some("object") if is_map(schema) => limit(schema, "maxProperties")?,
        _ => 1,
    };
    Some(parent?.saturating_mul(factor))
}

fn is_map(schema: &Value) -> bool {
    schema
        .get("additionalProperties")
        .is_some_and(|rest| !rest.is_null())
}

/// The cost of a rule in one object: its cost for one value, times the number of such values. An
/// unbounded number is that of the smallest values that fit into a request.
pub(super) fn whole_cost(cost: u64, cardinality: Option<u64>, least_bytes: u64) -> u64 {
    let times = cardinality.unwrap_or(MAX_REQUEST_SIZE / (least_bytes + 1));
    cost.saturating_mul(times)
}

/// `getCostErrorMessage`.
#[expect(
    clippy::cast_precision_loss,
    reason = "only the first digits of the factor are shown"
)]
fn exceeds(what: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let shown = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!("{what} exceeds budget by factor of {shown} {ADVICE}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Costs, RuleLimit, cardinality_below, exceeds, whole_cost};

    #[test]
    fn factors_are_rounded_as_kubernetes_does() {
        let factor = |cost: u64| {
            let text = exceeds("cost", cost, 10_000_000);
            let (_, rest) = text.split_once("factor of ").unwrap();
            rest.split_once(" (try").unwrap().0.to_owned()
        };
        assert_eq!(factor(10_500_000), "1.050000x");
        assert_eq!(factor(25_165_826), "2.5x");
        assert_eq!(factor(u64::MAX), "more than 100x");
    }

    #[test]
    fn most_expensive_rules_of_a_schema_are_reported() {
        let mut costs = Costs::new(RuleLimit::Lifted);
        for (path, cost) in [("a", 1), ("b", 60_000_000), ("c", 90_000_000)] {
            assert!(costs.observe("rule", path, cost).is_none());
        }
        let fields: Vec<String> = costs
            .causes("root")
            .into_iter()
            .map(|cause| cause.field)
            .collect();
        assert_eq!(fields, ["c", "b", "root"]);
        let mut costs = Costs::new(RuleLimit::Enforced);
        assert!(costs.observe("rule", "a", 10_000_000).is_none());
        assert!(costs.observe("rule", "a", 10_000_001).is_some());
        assert!(costs.causes("root").is_empty());
    }

    #[test]
    fn cost_of_a_rule_is_multiplied_by_the_number_of_values() {
        let list = json!({"type": "array", "maxItems": 5});
        let map = json!({"type": "object", "additionalProperties": {}, "maxProperties": 3});
        let object = json!({"type": "object"});
        let in_list = cardinality_below(Some(1), &list);
        let in_object = cardinality_below(in_list, &object);
        assert_eq!(cardinality_below(in_object, &map), Some(15));
        let open = cardinality_below(Some(1), &json!({"type": "array"}));
        assert_eq!(cardinality_below(open, &list), None);
        assert_eq!(whole_cost(2, Some(15), 2), 30);
        assert_eq!(whole_cost(2, None, 2), 2_097_152);
    }
}
