use kubewright_wire::status::{Cause, CauseKind, Status};
use serde_json::Value;

use super::costs::{Costs, whole_cost};
use super::definition::text;
use crate::cel::Refusal;
use crate::crd::declared::declared;
use crate::crd::expression_type::{expression_type, is_embedded};
use crate::crd::field_path::field_path;
use crate::crd::rule::Rule;

const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

/// The form of the rules of one node.
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
        let place = text(given);
        if !place.is_empty() {
            let at = at("fieldPath");
            if place.trim().is_empty() {
                causes.push(Cause::invalid(&at, given, "must be non-empty if specified"));
            }
            if has_newlines(place) {
                causes.push(Cause::invalid(&at, given, "must not contain line breaks"));
            }
            if field_path(place, schema, true).is_err() {
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
    let made = text(&rule["messageExpression"]);
    if !made.is_empty() && made.trim().is_empty() {
        let detail = "messageExpression must be non-empty if specified";
        causes.push(Cause::required(&at("messageExpression"), detail));
    }
    causes
}

fn has_newlines(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

/// What a node of a schema is to its rules.
#[derive(Clone, Debug)]
pub(super) struct Around {
    /// Whether the node is a whole object.
    pub(super) is_resource: bool,
    /// The list or map that cannot be told item from item after a change.
    pub(super) uncorrelated: Option<String>,
    /// How often the node can be there in one object; none when nothing bounds that.
    pub(super) cardinality: Option<u64>,
}

/// The rules of one node as expressions, and what they may cost.
pub(super) fn check_rules(
    schema: &Value,
    path: &str,
    around: &Around,
    costs: &mut Costs,
) -> Vec<Cause> {
    let rules = schema["x-kubernetes-validations"].as_array();
    let mut causes = Vec::new();
    let Some(rules) = rules.filter(|rules| !rules.is_empty()) else {
        return causes;
    };
    let Some(of) = expression_type(schema, around.is_resource, "self") else {
        return causes;
    };
    for (index, source) in rules.iter().enumerate() {
        let at = |field: &str| format!("{path}.x-kubernetes-validations[{index}].{field}");
        match Rule::compile(source, &of, schema) {
            Err(wrong) => {
                if let Refusal::Wrong(why) = &wrong.why {
                    causes.push(Cause {
                        kind: Some(CauseKind::FieldValueInvalid),
                        message: format!("Invalid value: {}: {why}", shown(source)),
                        field: at(wrong.part),
                    });
                }
            }
            Ok(rule) => {
                let paths = [at("rule"), at("messageExpression")];
                causes.extend(check_costs(&rule, schema, &paths, (around, &mut *costs)));
                causes.extend(check_old(&rule, source, around, &at));
            }
        }
    }
    causes
}

/// What a rule and its message may cost.
fn check_costs(
    rule: &Rule,
    schema: &Value,
    [rule_path, message_path]: &[String; 2],
    (around, costs): (&Around, &mut Costs),
) -> Vec<Cause> {
    let Some(sizes) = declared(schema, around.is_resource) else {
        return Vec::new();
    };
    let mut causes = Vec::new();
    let cost = whole_cost(rule.cost(&sizes), around.cardinality, sizes.least_bytes);
    causes.extend(costs.observe("estimated rule cost", rule_path, cost));
    if let Some(cost) = rule.message_cost(&sizes) {
        let what = "estimated messageExpression cost";
        causes.extend(costs.observe(what, message_path, cost));
    }
    causes
}

/// Where a rule looks at what was there before.
fn check_old(
    rule: &Rule,
    source: &Value,
    around: &Around,
    at: &impl Fn(&str) -> String,
) -> Option<Cause> {
    if rule.uses_old() {
        let place = around.uncorrelated.as_ref()?;
        let detail = format!(
            "oldSelf cannot be used on the uncorrelatable portion of the schema within {place}"
        );
        return Some(Cause::invalid(&at("rule"), &source["rule"], &detail));
    }
    let optional = source.get("optionalOldSelf").filter(|set| !set.is_null())?;
    let detail = "may not be set if oldSelf is not used in rule";
    Some(Cause::invalid(&at("optionalOldSelf"), optional, detail))
}

/// A rule as Go prints it: its fields in their order, letters of HTML escaped.
fn shown(rule: &Value) -> String {
    let print = |value: &Value| {
        let json = value.to_string().replace('&', "\\u0026");
        json.replace('<', "\\u003c").replace('>', "\\u003e")
    };
    let own = |name: &str| print(&Value::String(text(&rule[name]).to_owned()));
    format!(
        "{{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{},\"FieldPath\":{},\
         \"OptionalOldSelf\":{}}}",
        own("rule"),
        own("message"),
        own("messageExpression"),
        print(&rule["reason"]),
        own("fieldPath"),
        print(&rule["optionalOldSelf"])
    )
}

/// 501: a rule uses what is not here.
pub(in crate::crd) fn lacking(definition: &Value) -> Result<(), Status> {
    let versions = definition["spec"]["versions"].as_array();
    for version in versions.into_iter().flatten() {
        find_lacking(&version["schema"]["openAPIV3Schema"], "", true)?;
    }
    Ok(())
}

fn find_lacking(schema: &Value, path: &str, is_resource: bool) -> Result<(), Status> {
    let rules = schema["x-kubernetes-validations"].as_array();
    let of = rules.and_then(|_| expression_type(schema, is_resource, "self"));
    for rule in rules.into_iter().flatten() {
        let compiled = of.as_ref().map(|of| Rule::compile(rule, of, schema));
        if let Some(Err(wrong)) = compiled
            && let lacking @ Refusal::Lacking(_) = &wrong.why
        {
            let place = path.strip_prefix('.').unwrap_or("the root");
            let rule = text(&rule[wrong.part]);
            let message = format!("{lacking}: {place} has the rule {rule:?}");
            return Err(Status::not_implemented(message));
        }
    }
    for (name, below) in schema["properties"].as_object().into_iter().flatten() {
        find_lacking(below, &format!("{path}.{name}"), is_embedded(below))?;
    }
    for name in ["items", "additionalProperties"] {
        if let Some(below) = schema.get(name).filter(|below| below.is_object()) {
            find_lacking(below, &format!("{path}.{name}"), is_embedded(below))?;
        }
    }
    Ok(())
}
