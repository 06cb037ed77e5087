//! The validation rules of a schema.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use kubewright_cel::{Budget, OUT_OF_BUDGET, Type};

use kubewright_wire::status::Cause;
use serde_json::{Map, Value};

use super::expression_type::{expression_type, is_embedded};
use super::rule::{Rule, RuleInput, Verdict};
use super::structural::ListKind;
use super::validate::{OldItems, child_path};

/// The rules of a schema, as a tree of its nodes.
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

/// The result of the rules.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) causes: Vec<Cause>,
    /// Violations by values that did not change.
    pub(super) warnings: Vec<String>,
}

/// One evaluation of all rules.
#[derive(Debug, Default)]
struct Run {
    budget: Budget,
    found: Found,
}

/// A value and the old one.
#[derive(Clone, Copy)]
struct Pair<'a> {
    value: &'a Value,
    /// The old value, if it can be matched with the new one.
    old: Option<&'a Value>,
    /// Whether the value, or else its nearest parent that has an old value, did not change.
    is_unchanged: bool,
}

impl Rules {
    /// The rules of a valid schema; `None` when it has none.
    pub(super) fn compile(schema: &Value, is_resource: bool) -> Option<Self> {
        let compile_child = |schema: &Value| Self::compile(schema, is_embedded(schema));
        let child = |name: &str| {
            let child = schema.get(name).filter(|child| child.is_object())?;
            compile_child(child).map(Box::new)
        };
        let properties: BTreeMap<String, Self> = schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(name, schema)| Some((name.clone(), compile_child(schema)?)))
            .collect();
        let (rest, item) = (child("additionalProperties"), child("items"));
        let declared = schema["x-kubernetes-validations"].as_array();
        let is_empty = declared.is_none_or(Vec::is_empty)
            && properties.is_empty()
            && rest.is_none()
            && item.is_none();
        // Only where there are rules: the type of a node is built from those of all its children.
        let of = (!is_empty).then(|| expression_type(schema, is_resource, "self"))??;
        Some(Self {
            // A definition with rules that do not compile is rejected.
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

    /// Evaluates the rules on an object.
    pub(super) fn check(&self, value: &Value, old: Option<&Value>) -> Found {
        let mut run = Run::default();
        let pair = Pair {
            value,
            old,
            is_unchanged: old == Some(value),
        };
        // An exhausted budget is among the errors already.
        let _is_exhausted = self.walk(pair, "", &mut run).is_break();
        run.found
    }

    /// Breaks when the budget is exhausted.
    fn walk(&self, pair: Pair<'_>, path: &str, run: &mut Run) -> ControlFlow<()> {
        if pair.value.is_null() {
            return ControlFlow::Continue(());
        }
        self.check_own(pair, path, run)?;
        match pair.value {
            Value::Object(members) => self.walk_members(members, pair, path, run),
            Value::Array(items) => self.walk_items(items, pair, path, run),
            _ => ControlFlow::Continue(()),
        }
    }

    fn check_own(&self, pair: Pair<'_>, path: &str, run: &mut Run) -> ControlFlow<()> {
        if self.own.is_empty() {
            return ControlFlow::Continue(());
        }
        if run.budget.is_exhausted() {
            let kind = Value::String(self.kind.clone());
            run.found
                .causes
                .push(Cause::invalid(path, &kind, OUT_OF_BUDGET));
            return ControlFlow::Break(());
        }
        let input = RuleInput {
            value: pair.value,
            old: pair.old.filter(|old| !old.is_null()),
            of: &self.of,
            path,
            kind: &self.kind,
        };
        for rule in &self.own {
            match rule.check(&input, &mut run.budget) {
                Verdict::Passed => {}
                Verdict::Violated(cause) if pair.is_unchanged && !rule.uses_old() => {
                    run.found.warnings.push(cause.with_field());
                }
                Verdict::Violated(cause) | Verdict::Failed(cause) => run.found.causes.push(cause),
                Verdict::Exhausted(cause) => {
                    run.found.causes.push(cause);
                    return ControlFlow::Break(());
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn walk_members(
        &self,
        members: &Map<String, Value>,
        pair: Pair<'_>,
        path: &str,
        run: &mut Run,
    ) -> ControlFlow<()> {
        for (name, value) in members {
            let (rules, path) = match (self.properties.get(name), &self.rest) {
                (Some(rules), _) => (rules, child_path(path, name)),
                (None, Some(rules)) => (&**rules, format!("{path}[{name}]")),
                (None, None) => continue,
            };
            let old = pair.old.and_then(|old| old.get(name));
            rules.walk(pair.child(value, old), &path, run)?;
        }
        ControlFlow::Continue(())
    }

    fn walk_items(
        &self,
        items: &[Value],
        pair: Pair<'_>,
        path: &str,
        run: &mut Run,
    ) -> ControlFlow<()> {
        let Some(rules) = &self.item else {
            return ControlFlow::Continue(());
        };
        let old = OldItems::new(pair.old, &self.list);
        for (index, value) in items.iter().enumerate() {
            let path = format!("{path}[{index}]");
            rules.walk(pair.child(value, old.matching(value)), &path, run)?;
        }
        ControlFlow::Continue(())
    }
}

impl<'a> Pair<'a> {
    fn child(self, value: &'a Value, old: Option<&'a Value>) -> Self {
        Self {
            value,
            old,
            is_unchanged: old.map_or(self.is_unchanged, |old| old == value),
        }
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

    fn evaluate(rules: &Rules, spec: &Value, old: Option<&Value>) -> (Vec<String>, Vec<String>) {
        let wrap = |spec: &Value| json!({"metadata": {"name": "a"}, "spec": spec});
        let old = old.map(wrap);
        let found = rules.check(&wrap(spec), old.as_ref());
        let causes = found.causes.iter().map(|cause| cause.with_field());
        (causes.collect(), found.warnings)
    }

    #[test]
    fn violation_has_the_message_path_and_reason_of_the_rule() {
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
            evaluate(&rules, &json!({"n": 0}), None).0,
            [
                "spec.n: Forbidden: n is 0",
                "spec: Invalid value: \"object\": no such key: s evaluating rule: self.s == 'x'",
                "spec.n: Invalid value: 0: failed rule: self > 1",
            ]
        );
        assert_eq!(
            evaluate(&rules, &json!({"n": 9, "s": "y"}), None).0,
            [
                "spec: Invalid value: too much",
                "spec: Required value: failed rule: self.s == 'x'",
            ]
        );
    }

    #[test]
    fn violation_by_an_unchanged_value_is_a_warning() {
        let spec = json!({"type": "object", "properties": {
            "n": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 1"}]},
            "m": {"type": "integer"},
        }});
        let rules = rules(spec);
        let old = json!({"n": 0, "m": 1});
        let (causes, warnings) = evaluate(&rules, &json!({"n": 0, "m": 2}), Some(&old));
        assert_eq!(causes, Vec::<String>::new());
        assert_eq!(
            warnings,
            ["spec.n: Invalid value: 0: failed rule: self > 1"]
        );
        assert_eq!(
            evaluate(&rules, &json!({"n": 1, "m": 1}), Some(&old))
                .0
                .len(),
            1
        );
    }

    #[test]
    fn transition_rules_require_an_old_value() {
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
        assert!(evaluate(&rules, &new, None).0.is_empty());
        assert_eq!(
            evaluate(&rules, &new, Some(&old)).0,
            [
                "spec.l[0]: Invalid value: item",
                "spec.n: Invalid value: 1: only up",
                "spec.o: Invalid value: 2: fixed",
            ]
        );
    }
}
