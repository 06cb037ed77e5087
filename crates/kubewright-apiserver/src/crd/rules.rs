use std::collections::BTreeMap;

use kubewright_wire::status::Cause;
use serde_json::{Map, Value};

use super::expression_type::{expression_type, is_embedded};
use super::rule::{Rule, RuleInput, SPENT, Verdict};
use super::structural::ListKind;
use super::validate::Counterparts;
use crate::cel::{Budget, Type};

/// The rules of a schema, node by node.
#[derive(Debug)]
pub(super) struct Rules {
    own: Vec<Rule>,
    of: Type,
    kind: String,
    list: ListKind,
    properties: BTreeMap<String, Self>,
    rest: Option<Box<Self>>,
    item: Option<Box<Self>>,
}

/// What the rules found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) causes: Vec<Cause>,
    /// Faults of what did not change, which are only told.
    pub(super) warnings: Vec<String>,
}

/// A value and what it was before.
#[derive(Clone, Copy)]
struct Pair<'a> {
    value: &'a Value,
    /// What was there before, where that can be told.
    old: Option<&'a Value>,
    /// Whether it, or the nearest part around it that can be compared, is what it was.
    is_unchanged: bool,
}

impl Rules {
    /// The rules of a schema that was accepted; none when there are none.
    pub(super) fn compile(schema: &Value, is_resource: bool) -> Option<Self> {
        let below = |schema: &Value| Self::compile(schema, is_embedded(schema));
        let child = |name: &str| {
            let child = schema.get(name).filter(|child| child.is_object())?;
            below(child).map(Box::new)
        };
        let properties = schema["properties"].as_object().into_iter().flatten();
        let properties: BTreeMap<String, Self> = properties
            .filter_map(|(name, schema)| Some((name.clone(), below(schema)?)))
            .collect();
        let (rest, item) = (child("additionalProperties"), child("items"));
        let declared = schema["x-kubernetes-validations"].as_array();
        let is_empty = declared.is_none_or(Vec::is_empty)
            && properties.is_empty()
            && rest.is_none()
            && item.is_none();
        // Only where there are rules: a type takes as long as all that is below it.
        let of = (!is_empty).then(|| expression_type(schema, is_resource, "self"))??;
        Some(Self {
            // What does not compile was refused when the definition was written.
            own: declared
                .into_iter()
                .flatten()
                .filter_map(|rule| Rule::compile(rule, &of, schema).ok())
                .collect(),
            of,
            kind: schema["type"].as_str().unwrap_or_default().to_owned(),
            list: ListKind::compile(schema),
            properties,
            rest,
            item,
        })
    }

    /// What an object breaks.
    pub(super) fn check(&self, value: &Value, old: Option<&Value>) -> Found {
        let mut found = Found::default();
        let pair = Pair {
            value,
            old,
            is_unchanged: old == Some(value),
        };
        // All went wrong that could when this says no.
        let _went_to_the_end = self.walk(pair, "", &mut Budget::default(), &mut found);
        found
    }

    /// Whether more may be spent.
    fn walk(&self, pair: Pair<'_>, path: &str, budget: &mut Budget, found: &mut Found) -> bool {
        if pair.value.is_null() {
            return true;
        }
        if !self.check_own(pair, path, budget, found) {
            return false;
        }
        match pair.value {
            Value::Object(members) => self.walk_members(members, pair, path, (budget, found)),
            Value::Array(items) => self.walk_items(items, pair, path, (budget, found)),
            _ => true,
        }
    }

    fn check_own(
        &self,
        pair: Pair<'_>,
        path: &str,
        budget: &mut Budget,
        found: &mut Found,
    ) -> bool {
        if self.own.is_empty() {
            return true;
        }
        if budget.is_spent() {
            let kind = Value::String(self.kind.clone());
            found.causes.push(Cause::invalid(path, &kind, SPENT));
            return false;
        }
        let input = RuleInput {
            value: pair.value,
            old: pair.old.filter(|old| !old.is_null()),
            of: &self.of,
            path,
            kind: &self.kind,
        };
        for rule in &self.own {
            match rule.check(&input, budget) {
                Verdict::Holds => {}
                Verdict::Broken(cause) if pair.is_unchanged && !rule.uses_old() => {
                    found.warnings.push(cause.with_field());
                }
                Verdict::Broken(cause) | Verdict::Failed(cause) => found.causes.push(cause),
                Verdict::Spent(cause) => {
                    found.causes.push(cause);
                    return false;
                }
            }
        }
        true
    }

    fn walk_members(
        &self,
        members: &Map<String, Value>,
        pair: Pair<'_>,
        path: &str,
        (budget, found): (&mut Budget, &mut Found),
    ) -> bool {
        for (name, value) in members {
            let (rules, path) = match self.properties.get(name) {
                Some(rules) => (rules, below(path, name)),
                None => match &self.rest {
                    Some(rules) => (&**rules, format!("{path}[{name}]")),
                    None => continue,
                },
            };
            let old = pair.old.and_then(|old| old.get(name));
            if !rules.walk(pair.below(value, old), &path, budget, found) {
                return false;
            }
        }
        true
    }

    fn walk_items(
        &self,
        items: &[Value],
        pair: Pair<'_>,
        path: &str,
        (budget, found): (&mut Budget, &mut Found),
    ) -> bool {
        let Some(rules) = &self.item else {
            return true;
        };
        let old = Counterparts::new(pair.old, &self.list);
        for (index, value) in items.iter().enumerate() {
            let path = format!("{path}[{index}]");
            if !rules.walk(pair.below(value, old.of(value)), &path, budget, found) {
                return false;
            }
        }
        true
    }
}

impl<'a> Pair<'a> {
    fn below(self, value: &'a Value, old: Option<&'a Value>) -> Self {
        Self {
            value,
            old,
            is_unchanged: old.map_or(self.is_unchanged, |old| old == value),
        }
    }
}

fn below(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Rules;

    fn rules(spec: Value) -> Rules {
        let schema = json!({"type": "object", "properties": {"spec": spec}});
        Rules::compile(&schema, true).unwrap()
    }

    fn told(rules: &Rules, spec: &Value, old: Option<&Value>) -> (Vec<String>, Vec<String>) {
        let wrap = |spec: &Value| json!({"metadata": {"name": "a"}, "spec": spec});
        let old = old.map(wrap);
        let found = rules.check(&wrap(spec), old.as_ref());
        let causes = found.causes.iter().map(|cause| cause.with_field());
        (causes.collect(), found.warnings)
    }

    #[test]
    fn a_broken_rule_is_told_in_the_words_it_chose() {
        let spec = json!({"type": "object", "properties": {
            "n": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 1"}]},
            "s": {"type": "string"},
        }, "x-kubernetes-validations": [
            {"rule": "self.n < 9", "message": "too much"},
            {"rule": "self.n != 0", "messageExpression": "'n is ' + string(self.n)",
             "reason": "FieldValueForbidden", "fieldPath": ".n"},
            {"rule": "self.s == 'x'", "reason": "FieldValueRequired"},
        ]});
        let rules = rules(spec);
        assert_eq!(
            told(&rules, &json!({"n": 0}), None).0,
            [
                "spec.n: Forbidden: n is 0",
                "spec: Invalid value: \"object\": no such key: s evaluating rule: self.s == 'x'",
                "spec.n: Invalid value: 0: failed rule: self > 1",
            ]
        );
        assert_eq!(
            told(&rules, &json!({"n": 9, "s": "y"}), None).0,
            [
                "spec: Invalid value: too much",
                "spec: Required value: failed rule: self.s == 'x'",
            ]
        );
    }

    #[test]
    fn what_did_not_change_is_only_warned_about() {
        let spec = json!({"type": "object", "properties": {
            "n": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 1"}]},
            "m": {"type": "integer"},
        }});
        let rules = rules(spec);
        let old = json!({"n": 0, "m": 1});
        let (causes, warnings) = told(&rules, &json!({"n": 0, "m": 2}), Some(&old));
        assert_eq!(causes, Vec::<String>::new());
        assert_eq!(
            warnings,
            ["spec.n: Invalid value: 0: failed rule: self > 1"]
        );
        assert_eq!(
            told(&rules, &json!({"n": 1, "m": 1}), Some(&old)).0.len(),
            1
        );
    }

    #[test]
    fn rules_about_changes_need_something_to_compare_with() {
        let spec = json!({"type": "object", "properties": {
            "n": {"type": "integer", "x-kubernetes-validations": [
                {"rule": "self >= oldSelf", "message": "only up"},
            ]},
            "o": {"type": "integer", "x-kubernetes-validations": [
                {"rule": "!oldSelf.hasValue() || oldSelf.value() == self",
                 "optionalOldSelf": true, "message": "fixed"},
            ]},
            "l": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object", "properties": {
                    "k": {"type": "string"}, "v": {"type": "integer"},
                }, "x-kubernetes-validations": [{"rule": "self.v == oldSelf.v", "message": "item"}]}},
        }});
        let rules = rules(spec);
        let old = json!({"n": 2, "o": 1, "l": [{"k": "a", "v": 1}, {"k": "b", "v": 2}]});
        let new = json!({"n": 1, "o": 2, "l": [{"k": "b", "v": 3}, {"k": "c", "v": 9}]});
        assert!(told(&rules, &new, None).0.is_empty());
        assert_eq!(
            told(&rules, &new, Some(&old)).0,
            [
                "spec.l[0]: Invalid value: item",
                "spec.n: Invalid value: 1: only up",
                "spec.o: Invalid value: 2: fixed",
            ]
        );
    }
}
