use kubewright_core::WebhookKind;
use serde_json::{Value, json};

use super::matching::mutating_operations;
use super::shared::{compiled, conditions_and_variables, purpose};
use super::{At, Findings};
use crate::admission::policy::Expressions;

/// `ValidateMutatingAdmissionPolicy`.
pub(in crate::kinds::validation) fn mutating_policy(
    object: &Value,
    _: Option<&Value>,
    findings: &mut Findings,
) {
    let spec = At::top(object, "spec");
    purpose(spec, findings);
    mutating_operations(spec.field("matchConstraints"), findings);
    let mut expressions = Expressions::new(WebhookKind::Mutating, spec.value());
    conditions_and_variables(spec, &mut expressions, findings);
    let mutations = spec.field("mutations");
    if mutations.is_empty() {
        findings.required(mutations, "mutations must contain at least one item");
    }
    for mutation in mutations.items() {
        check_mutation(mutation, &expressions, findings);
    }
    findings.one_of(spec.field("reinvocationPolicy"), &["IfNeeded", "Never"]);
}

/// `validateMutation`.
fn check_mutation(mutation: At<'_>, expressions: &Expressions, findings: &mut Findings) {
    let kind = mutation.field("patchType");
    let (own, other) = match kind.text() {
        "JSONPatch" => ("jsonPatch", "applyConfiguration"),
        "ApplyConfiguration" => ("applyConfiguration", "jsonPatch"),
        _ => {
            findings.one_of(kind, &["ApplyConfiguration", "JSONPatch"]);
            return;
        }
    };
    let patch = mutation.field(own);
    match patch.is_set() {
        true => check_patch(patch, kind.text(), expressions, findings),
        false => {
            let detail = format!("must be specified when patchType is {}", kind.text());
            findings.required(patch, &detail);
        }
    }
    let surplus = mutation.field(other);
    if surplus.is_set() {
        let detail = format!("must not be specified when patchType is {}", kind.text());
        findings.invalid_value(surplus, &json!(format!("{{{other}}}")), &detail);
    }
}

fn check_patch(patch: At<'_>, kind: &str, expressions: &Expressions, findings: &mut Findings) {
    let expression = patch.field("expression");
    let text = expression.text().trim();
    let result = match (text, kind) {
        ("", _) => {
            findings.required(expression, "");
            return;
        }
        (text, "JSONPatch") => expressions.json_patch(text),
        (text, _) => expressions.apply_configuration(text),
    };
    compiled(expression, text, result, findings);
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Findings, mutating_policy};

    fn told(change: impl Fn(&mut Value)) -> String {
        let mut policy = json!({"metadata": {"name": "p"}, "spec": {
            "failurePolicy": "Fail", "reinvocationPolicy": "Never",
            "matchConstraints": {
                "matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {},
                "resourceRules": [{"operations": ["CREATE"], "apiGroups": [""],
                    "apiVersions": ["v1"], "resources": ["pods"]}],
            },
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'remove', path: '/x'}]"}}],
        }});
        change(&mut policy["spec"]);
        let mut findings = Findings::default();
        mutating_policy(&policy, None, &mut findings);
        let causes = findings.into_causes();
        let texts: Vec<String> = causes.iter().map(|cause| cause.with_field()).collect();
        texts.join("; ")
    }

    fn patch(expression: &str) -> String {
        told(|spec| spec["mutations"][0]["jsonPatch"]["expression"] = json!(expression))
    }

    #[test]
    fn patches_are_lists_of_operations() {
        assert_eq!(patch("[JSONPatch{op: 'remove', path: '/spec/x'}]"), "");
        assert_eq!(
            patch("object.x ? [] : [JSONPatch{op: 'add', path: '/x', value: Object.spec{a: 1}}]"),
            ""
        );
        assert_eq!(
            patch("[1].map(x, JSONPatch{op: 'test', path: '/x', value: x})"),
            ""
        );
        assert_eq!(
            patch("JSONPatch{op: 'remove', path: '/x'}"),
            "spec.mutations[0].jsonPatch.expression: Invalid value: \"JSONPatch{op: 'remove', \
             path: '/x'}\": must evaluate to list(JSONPatch) but got JSONPatch"
        );
        let wrong = patch("[JSONPatch{op: 1, path: '/x'}]");
        let place = "ERROR: <input>:1:14: expected type of field 'op' is 'string' but provided \
                     type is 'int'";
        assert!(wrong.contains(place), "{wrong}");
        let unknown = patch("[Other{}]");
        let place = "ERROR: <input>:1:7: undeclared reference to 'Other' (in container '')";
        assert!(unknown.contains(place), "{unknown}");
        assert_eq!(
            patch("[JSONPatch{op: 'add', path: '/' + jsonpatch.escapeKey('a/b')}]"),
            ""
        );
    }

    #[test]
    fn configurations_are_objects() {
        let configuration = |expression: &str| {
            told(|spec| {
                spec["mutations"] = json!([{"patchType": "ApplyConfiguration",
                    "applyConfiguration": {"expression": expression}}]);
            })
        };
        assert_eq!(configuration("Object{spec: Object.spec{replicas: 1}}"), "");
        let wrong = configuration("Object.spec{replicas: 1}");
        assert!(
            wrong.ends_with("must evaluate to Object but got Object.spec"),
            "{wrong}"
        );
    }

    #[test]
    fn each_broken_part_of_a_mutation_is_named() {
        assert_eq!(
            told(
                |spec| spec["mutations"][0] = json!({"patchType": "JSONPatch",
                "applyConfiguration": {}})
            ),
            "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is \
             JSONPatch; spec.mutations[0].applyConfiguration: Invalid value: \
             \"{applyConfiguration}\": must not be specified when patchType is JSONPatch"
        );
        assert_eq!(
            told(|spec| spec["mutations"][0]["patchType"] = json!("Merge")),
            "spec.mutations[0].patchType: Unsupported value: \"Merge\": supported values: \
             \"ApplyConfiguration\", \"JSONPatch\""
        );
        assert_eq!(
            told(
                |spec| spec["matchConstraints"]["resourceRules"][0]["operations"] =
                    json!(["DELETE"])
            ),
            "spec.matchConstraints.resourceRules.operations: Unsupported value: \"DELETE\": \
             supported values: \"*\", \"CONNECT\", \"CREATE\", \"UPDATE\""
        );
        assert_eq!(
            told(|spec| spec["reinvocationPolicy"] = json!(null)),
            "spec.reinvocationPolicy: Required value"
        );
    }
}
