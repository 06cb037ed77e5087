//! MutatingAdmissionPolicy: changes requests by CEL expressions.

use kubewright_core::WebhookKind;
use serde_json::{Value, json};

use super::expressions::Expressions;
use super::match_resources::validate_mutating_operations;
use super::policy::{
    PARAMETER_KIND, validate_compiled, validate_conditions_and_variables, validate_purpose,
};
use super::reserved_name::warn_reserved_name;
use super::unsupported_policy::unsupported_policy;
use crate::columns::{AGE, Cell, Column, NAME};
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::groups;
use crate::kind::{BuiltinKind, FinalizerRule, Generation, Permission, Validation};

/// Changes requests by CEL expressions.
pub static MUTATING_ADMISSION_POLICY: BuiltinKind = BuiltinKind {
    finalizers: FinalizerRule::QualifiedName,
    unconditional_update: Permission::Denied,
    generation: Generation::Content,
    declared_columns: COLUMNS,
    validation: Validation::Rules(validate),
    warnings: warn_reserved_name,
    unsupported: |policy| unsupported_policy(WebhookKind::Mutating, policy),
    ..BuiltinKind::new(
        groups::ADMISSION_REGISTRATION,
        "MutatingAdmissionPolicy",
        "mutatingadmissionpolicies",
    )
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::integer("Mutations", Cell::Count("/spec/mutations")),
    PARAMETER_KIND,
    AGE,
];

/// `ValidateMutatingAdmissionPolicy`.
fn validate(object: &Value, _: Option<&Value>, errors: &mut ErrorList) {
    let spec = FieldPath::new(object, "spec");
    validate_purpose(spec, errors);
    validate_mutating_operations(spec.field("matchConstraints"), errors);
    let mut expressions = Expressions::new(WebhookKind::Mutating, spec.value());
    validate_conditions_and_variables(spec, &mut expressions, errors);
    let mutations = spec.field("mutations");
    if mutations.is_empty() {
        errors.required(mutations, "mutations must contain at least one item");
    }
    for mutation in mutations.items() {
        validate_mutation(mutation, &expressions, errors);
    }
    errors.one_of(spec.field("reinvocationPolicy"), &["IfNeeded", "Never"]);
}

/// `validateMutation`.
fn validate_mutation(mutation: FieldPath<'_>, expressions: &Expressions, errors: &mut ErrorList) {
    let kind = mutation.field("patchType");
    let (required, excluded) = match kind.text() {
        "JSONPatch" => ("jsonPatch", "applyConfiguration"),
        "ApplyConfiguration" => ("applyConfiguration", "jsonPatch"),
        _ => {
            errors.one_of(kind, &["ApplyConfiguration", "JSONPatch"]);
            return;
        }
    };
    let patch = mutation.field(required);
    if patch.is_set() {
        validate_patch(patch, kind.text(), expressions, errors);
    } else {
        let detail = format!("must be specified when patchType is {}", kind.text());
        errors.required(patch, &detail);
    }
    let surplus = mutation.field(excluded);
    if surplus.is_set() {
        let detail = format!("must not be specified when patchType is {}", kind.text());
        errors.invalid_value(surplus, &json!(format!("{{{excluded}}}")), &detail);
    }
}

fn validate_patch(
    patch: FieldPath<'_>,
    kind: &str,
    expressions: &Expressions,
    errors: &mut ErrorList,
) {
    let expression = patch.field("expression");
    let text = expression.text().trim();
    let result = match (text, kind) {
        ("", _) => {
            errors.required(expression, "");
            return;
        }
        (text, "JSONPatch") => expressions.json_patch(text),
        (text, _) => expressions.apply_configuration(text),
    };
    validate_compiled(expression, text, result, errors);
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::MUTATING_ADMISSION_POLICY;

    fn errors_with(change: impl Fn(&mut Value)) -> String {
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
        MUTATING_ADMISSION_POLICY.errors(&policy, None).join("; ")
    }

    fn patch(expression: &str) -> String {
        errors_with(|spec| spec["mutations"][0]["jsonPatch"]["expression"] = json!(expression))
    }

    #[test]
    fn json_patch_is_a_list_of_operations() {
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
    fn apply_configuration_is_an_object() {
        let configuration = |expression: &str| {
            errors_with(|spec| {
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
    fn errors_have_the_path_of_the_invalid_field() {
        assert_eq!(
            errors_with(
                |spec| spec["mutations"][0] = json!({"patchType": "JSONPatch",
                "applyConfiguration": {}})
            ),
            "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is \
             JSONPatch; spec.mutations[0].applyConfiguration: Invalid value: \
             \"{applyConfiguration}\": must not be specified when patchType is JSONPatch"
        );
        assert_eq!(
            errors_with(|spec| spec["mutations"][0]["patchType"] = json!("Merge")),
            "spec.mutations[0].patchType: Unsupported value: \"Merge\": supported values: \
             \"ApplyConfiguration\", \"JSONPatch\""
        );
        assert_eq!(
            errors_with(
                |spec| spec["matchConstraints"]["resourceRules"][0]["operations"] =
                    json!(["DELETE"])
            ),
            "spec.matchConstraints.resourceRules.operations: Unsupported value: \"DELETE\": \
             supported values: \"*\", \"CONNECT\", \"CREATE\", \"UPDATE\""
        );
        assert_eq!(
            errors_with(|spec| spec["reinvocationPolicy"] = json!(null)),
            "spec.reinvocationPolicy: Required value"
        );
    }
}
