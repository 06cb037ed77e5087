//! The validation rules in schemas.

use kubewright_cel::CompileError;
use kubewright_wire::status::{Cause, CauseKind};
use serde_json::Value;

use super::costs::{Costs, whole_cost};
use crate::custom::Rule;
use crate::custom::declared;
use crate::custom::{Brackets, resolve_path};
use crate::custom::{expression_type, is_embedded};
use crate::json::{items, text};

const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

/// The errors of the rules of one node, except for their expressions.
pub(super) fn check_form(schema: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let rules = schema["x-kubernetes-validations"].as_array();
    for (index, rule) in rules.into_iter().flatten().enumerate() {
        let at = |field: &str| format!("{path}.x-kubernetes-validations[{index}].{field}");
        causes.extend(check_texts(rule, &at));
        if rule["reason"].is_string() && !REASONS.contains(&text(&rule["reason"])) {
            causes.push(Cause::not_supported(
                &at("reason"),
                &rule["reason"],
                &REASONS,
            ));
        }
        let given = &rule["fieldPath"];
        let field_path = text(given);
        if !field_path.is_empty() {
            let at = at("fieldPath");
            if field_path.trim().is_empty() {
                causes.push(Cause::invalid(&at, given, "must be non-empty if specified"));
            }
            if has_newlines(field_path) {
                causes.push(Cause::invalid(&at, given, "must not contain line breaks"));
            }
            if resolve_path(field_path, schema, Brackets::Allowed).is_err() {
                causes.push(Cause::invalid(&at, given, "must be a valid path"));
            }
        }
    }
    causes
}

fn check_texts(rule: &Value, at: &impl Fn(&str) -> String) -> Vec<Cause> {
    let mut causes = Vec::new();
    let (expression, message) = (text(&rule["rule"]), text(&rule["message"]));
    if expression.trim().is_empty() {
        causes.push(Cause::required(&at("rule"), "rule is not specified"));
    } else if !message.is_empty() && message.trim().is_empty() {
        let detail = "must be non-empty if specified";
        causes.push(Cause::invalid(&at("message"), &rule["message"], detail));
    } else if has_newlines(message.trim()) {
        let detail = "must not contain line breaks";
        causes.push(Cause::invalid(&at("message"), &rule["message"], detail));
    } else if has_newlines(expression.trim()) && message.trim().is_empty() {
        let detail = "message must be specified if rule contains line breaks";
        causes.push(Cause::required(&at("message"), detail));
    }
    let message_expression = text(&rule["messageExpression"]);
    if !message_expression.is_empty() && message_expression.trim().is_empty() {
        let detail = "messageExpression must be non-empty if specified";
        causes.push(Cause::required(&at("messageExpression"), detail));
    }
    causes
}

fn has_newlines(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

/// What the rules of a node depend on besides the node.
#[derive(Clone, Debug)]
pub(super) struct NodeContext {
    /// Whether the node is a whole object.
    pub(super) is_resource: bool,
    /// The path of the list whose items cannot be matched with those of the old object.
    pub(super) uncorrelated: Option<String>,
    /// The maximum number of such nodes in one object; `None` when it is unbounded.
    pub(super) cardinality: Option<u64>,
}

/// The errors of the expressions of one node, and of their costs.
pub(super) fn check_rules(
    schema: &Value,
    path: &str,
    context: &NodeContext,
    costs: &mut Costs,
) -> Vec<Cause> {
    let rules = schema["x-kubernetes-validations"].as_array();
    let mut causes = Vec::new();
    let Some(rules) = rules.filter(|rules| !rules.is_empty()) else {
        return causes;
    };
    let Some(of) = expression_type(schema, context.is_resource, "self") else {
        return causes;
    };
    for (index, source) in rules.iter().enumerate() {
        let at = |field: &str| format!("{path}.x-kubernetes-validations[{index}].{field}");
        match Rule::compile(source, &of, schema) {
            Err(wrong) => {
                if let CompileError::Invalid(why) = &wrong.why {
                    causes.push(Cause {
                        kind: Some(CauseKind::FieldValueInvalid),
                        message: format!("Invalid value: {}: {why}", go_rule(source)),
                        field: at(wrong.part),
                    });
                }
            }
            Ok(rule) => {
                let paths = [at("rule"), at("messageExpression")];
                causes.extend(check_costs(&rule, schema, &paths, context, costs));
                causes.extend(check_old(&rule, source, context, &at));
            }
        }
    }
    causes
}

/// The errors of the costs of a rule and its message.
fn check_costs(
    rule: &Rule,
    schema: &Value,
    [rule_path, message_path]: &[String; 2],
    context: &NodeContext,
    costs: &mut Costs,
) -> Vec<Cause> {
    let Some(sizes) = declared(schema, context.is_resource) else {
        return Vec::new();
    };
    let mut causes = Vec::new();
    let cost = whole_cost(rule.cost(&sizes), context.cardinality, sizes.least_bytes);
    causes.extend(costs.observe("estimated rule cost", rule_path, cost));
    if let Some(cost) = rule.message_cost(&sizes) {
        let what = "estimated messageExpression cost";
        causes.extend(costs.observe(what, message_path, cost));
    }
    causes
}

/// The error of a rule that uses `oldSelf` where it cannot be used.
fn check_old(
    rule: &Rule,
    source: &Value,
    context: &NodeContext,
    at: &impl Fn(&str) -> String,
) -> Option<Cause> {
    if rule.uses_old() {
        let path = context.uncorrelated.as_ref()?;
        let detail = format!(
            "oldSelf cannot be used on the uncorrelatable portion of the schema within {path}"
        );
        return Some(Cause::invalid(&at("rule"), &source["rule"], &detail));
    }
    let optional = source.get("optionalOldSelf").filter(|set| !set.is_null())?;
    let detail = "may not be set if oldSelf is not used in rule";
    Some(Cause::invalid(&at("optionalOldSelf"), optional, detail))
}

/// A rule as Go prints it: with the order of its fields, and HTML characters escaped.
fn go_rule(rule: &Value) -> String {
    let print = |value: &Value| {
        let json = value.to_string().replace('&', "\\u0026");
        json.replace('<', "\\u003c").replace('>', "\\u003e")
    };
    let member = |name: &str| print(&Value::String(text(&rule[name]).to_owned()));
    format!(
        "{{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{},\"FieldPath\":{},\
         \"OptionalOldSelf\":{}}}",
        member("rule"),
        member("message"),
        member("messageExpression"),
        print(&rule["reason"]),
        member("fieldPath"),
        print(&rule["optionalOldSelf"])
    )
}

/// The first rule that uses a feature of CEL which is not implemented.
pub(in super::super) fn unsupported(definition: &Value) -> Option<String> {
    items(&definition["spec"]["versions"])
        .find_map(|version| unsupported_rule(&version["schema"]["openAPIV3Schema"], "", true))
}

fn unsupported_rule(schema: &Value, path: &str, is_resource: bool) -> Option<String> {
    let rules = schema["x-kubernetes-validations"].as_array();
    let of = rules.and_then(|_| expression_type(schema, is_resource, "self"));
    for rule in rules.into_iter().flatten() {
        let compiled = of.as_ref().map(|of| Rule::compile(rule, of, schema));
        if let Some(Err(wrong)) = compiled
            && let unsupported @ CompileError::Unsupported(_) = &wrong.why
        {
            let node = path.strip_prefix('.').unwrap_or("the root");
            let source = text(&rule[wrong.part]);
            return Some(format!("{unsupported}: {node} has the rule {source:?}"));
        }
    }
    let properties = schema["properties"].as_object().into_iter().flatten();
    let mut named = properties.map(|(name, child)| (name.as_str(), child));
    let in_child = |(name, child): (&str, &Value)| {
        unsupported_rule(child, &format!("{path}.{name}"), is_embedded(child))
    };
    let mut others = ["items", "additionalProperties"]
        .into_iter()
        .filter_map(|name| {
            let child = schema.get(name).filter(|child| child.is_object())?;
            Some((name, child))
        });
    named
        .find_map(in_child)
        .or_else(|| others.find_map(in_child))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::unsupported;

    #[test]
    fn rule_that_uses_an_unsupported_function_is_named() {
        let schema = json!({"type": "object", "properties": {"spec": {
            "type": "object", "properties": {"t": {"type": "string", "format": "date-time"}},
            "x-kubernetes-validations": [{"rule": "self.t.getHours('Asia/Tokyo') > 1"}],
        }}});
        let definition = json!({"spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]}});
        assert_eq!(
            unsupported(&definition).unwrap(),
            "getHours() with a time zone in CEL is not implemented yet: spec has the rule \
             \"self.t.getHours('Asia/Tokyo') > 1\""
        );
    }
}
