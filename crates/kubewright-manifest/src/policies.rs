//! Admission policies and their bindings.

use kubewright_core::{
    Description, ParameterDescription, PolicyDescription, PolicyEffect, PolicyPatch, RuleMessage,
    ValidationRule,
};
use serde_json::{Value, json};

use crate::matching::{Selected, named_expression};
use crate::names::labels;

const VERSION: &str = "admissionregistration.k8s.io/v1";

/// The policies of an operator, each with the binding that puts it into effect.
pub(crate) fn policy_objects(description: &Description, namespace: &str) -> Vec<Value> {
    let labels = labels(description);
    description
        .policies
        .iter()
        .flat_map(|policy| {
            let object = |kind: String, spec: Value| {
                json!({
                    "apiVersion": VERSION,
                    "kind": kind,
                    "metadata": {"name": policy.name, "labels": labels},
                    "spec": spec,
                })
            };
            let kind = policy.effect.kind();
            [
                object(kind.to_owned(), policy_spec(policy, namespace)),
                object(format!("{kind}Binding"), binding_spec(policy)),
            ]
        })
        .collect()
}

fn policy_spec(policy: &PolicyDescription, namespace: &str) -> Value {
    let resource = &policy.resource;
    let operations: Vec<&str> = policy
        .operations
        .iter()
        .map(|operation| operation.as_str())
        .collect();
    let mut matched = json!({"resourceRules": [{
        "apiGroups": [resource.kind.group()],
        "apiVersions": [resource.kind.version()],
        "operations": operations,
        "resources": [resource.plural],
    }]});
    let selected = Selected {
        resource,
        namespaces: &policy.namespaces,
        objects: &policy.objects,
        exemption: policy.exemption,
    };
    selected.add_selectors(&mut matched, namespace);
    let mut spec = json!({
        "failurePolicy": policy.failure_policy,
        "matchConstraints": matched,
    });
    match &policy.effect {
        PolicyEffect::Validating { rules, .. } => {
            spec["validations"] = rules.iter().map(validation).collect();
        }
        PolicyEffect::Mutating {
            patches,
            reinvocation,
        } => {
            spec["mutations"] = patches.iter().map(mutation).collect();
            spec["reinvocationPolicy"] = json!(reinvocation);
        }
    }
    for (field, expressions) in [
        ("matchConditions", &policy.conditions),
        ("variables", &policy.variables),
    ] {
        if !expressions.is_empty() {
            spec[field] = expressions.iter().map(named_expression).collect();
        }
    }
    if let Some(ParameterDescription { resource, .. }) = &policy.parameter {
        let kind = &resource.kind;
        spec["paramKind"] = json!({"apiVersion": kind.api_version(), "kind": kind.kind});
    }
    spec
}

fn binding_spec(policy: &PolicyDescription) -> Value {
    let mut spec = json!({"policyName": policy.name});
    if let PolicyEffect::Validating { actions, .. } = &policy.effect {
        spec["validationActions"] = json!(actions);
    }
    if let Some(parameter) = &policy.parameter {
        spec["paramRef"] = json!({
            "name": parameter.name,
            "parameterNotFoundAction": parameter.missing,
        });
    }
    spec
}

fn validation(rule: &ValidationRule) -> Value {
    let (field, message) = match &rule.message {
        RuleMessage::Text(text) => ("message", text),
        RuleMessage::Expression(expression) => ("messageExpression", expression),
    };
    let mut validation = json!({"expression": rule.expression});
    validation[field] = json!(message);
    validation
}

fn mutation(patch: &PolicyPatch) -> Value {
    let (kind, field, expression) = match patch {
        PolicyPatch::Json(expression) => ("JSONPatch", "jsonPatch", expression),
        PolicyPatch::Apply(expression) => ("ApplyConfiguration", "applyConfiguration", expression),
    };
    let mut mutation = json!({"patchType": kind});
    mutation[field] = json!({"expression": expression});
    mutation
}

#[cfg(test)]
mod tests {
    use kubewright_core::{
        Description, Exemption, FailurePolicy, Kind, LabelSelector, MissingParameter,
        NamedExpression, Operation, ParameterDescription, PolicyAction, PolicyDescription,
        PolicyEffect, PolicyPatch, Reinvocation, Resource, RuleMessage, Scope, ValidationRule,
    };

    use super::policy_objects;
    use crate::to_yaml;

    const GOLDEN: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  labels:
    app.kubernetes.io/name: guard
  name: guard.pinned
spec:
  failurePolicy: Ignore
  matchConditions:
  - expression: object.spec.containers.size() < 9
    name: small
  matchConstraints:
    namespaceSelector:
      matchExpressions:
      - key: kubernetes.io/metadata.name
        operator: NotIn
        values:
        - kube-system
        - tools
      matchLabels:
        team: a
    resourceRules:
    - apiGroups:
      - \"\"
      apiVersions:
      - v1
      operations:
      - CREATE
      - UPDATE
      resources:
      - pods
  paramKind:
    apiVersion: ex.io/v1
    kind: Limit
  validations:
  - expression: variables.pinned
    message: pin the image
  - expression: \"true\"
    messageExpression: object.metadata.name
  variables:
  - expression: object.spec.containers.all(c, c.image.contains(\":\"))
    name: pinned
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  labels:
    app.kubernetes.io/name: guard
  name: guard.pinned
spec:
  paramRef:
    name: pins
    parameterNotFoundAction: Deny
  policyName: guard.pinned
  validationActions:
  - Warn
  - Audit
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata:
  labels:
    app.kubernetes.io/name: guard
  name: guard.marked
spec:
  failurePolicy: Fail
  matchConstraints:
    objectSelector:
      matchLabels:
        app: web
    resourceRules:
    - apiGroups:
      - ex.io
      apiVersions:
      - v1
      operations:
      - CREATE
      resources:
      - sets
  mutations:
  - jsonPatch:
      expression: \"[JSONPatch{op: \\\"remove\\\", path: \\\"/spec/old\\\"}]\"
    patchType: JSONPatch
  - applyConfiguration:
      expression: \"Object{}\"
    patchType: ApplyConfiguration
  reinvocationPolicy: IfNeeded
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata:
  labels:
    app.kubernetes.io/name: guard
  name: guard.marked
spec:
  policyName: guard.marked
";

    fn named(name: &str, expression: &str) -> NamedExpression {
        NamedExpression {
            name: name.to_owned(),
            expression: expression.to_owned(),
        }
    }

    fn pinned() -> PolicyDescription {
        let limit = Kind::new("ex.io", "v1", "Limit");
        let rules = [
            (
                "variables.pinned",
                RuleMessage::Text("pin the image".to_owned()),
            ),
            (
                "true",
                RuleMessage::Expression("object.metadata.name".to_owned()),
            ),
        ];
        PolicyDescription {
            name: "guard.pinned".to_owned(),
            effect: PolicyEffect::Validating {
                rules: rules
                    .map(|(expression, message)| ValidationRule {
                        expression: expression.to_owned(),
                        message,
                    })
                    .into(),
                actions: vec![PolicyAction::Warn, PolicyAction::Audit],
            },
            resource: Resource::new(Kind::new("", "v1", "Pod"), "pods", Scope::Namespaced),
            operations: vec![Operation::Create, Operation::Update],
            failure_policy: FailurePolicy::Ignore,
            objects: LabelSelector::default(),
            namespaces: "team=a".parse().unwrap(),
            exemption: Exemption::SystemNamespaces,
            conditions: vec![named("small", "object.spec.containers.size() < 9")],
            variables: vec![named(
                "pinned",
                "object.spec.containers.all(c, c.image.contains(\":\"))",
            )],
            parameter: Some(ParameterDescription {
                resource: Resource::new(limit, "limits", Scope::Namespaced),
                name: "pins".to_owned(),
                missing: MissingParameter::Deny,
            }),
            fallback: None,
        }
    }

    fn marked() -> PolicyDescription {
        let set = Kind::new("ex.io", "v1", "Set");
        let remove = "[JSONPatch{op: \"remove\", path: \"/spec/old\"}]";
        PolicyDescription {
            name: "guard.marked".to_owned(),
            effect: PolicyEffect::Mutating {
                patches: vec![
                    PolicyPatch::Json(remove.to_owned()),
                    PolicyPatch::Apply("Object{}".to_owned()),
                ],
                reinvocation: Reinvocation::IfNeeded,
            },
            resource: Resource::new(set, "sets", Scope::Namespaced),
            operations: vec![Operation::Create],
            failure_policy: FailurePolicy::Fail,
            objects: "app=web".parse().unwrap(),
            namespaces: LabelSelector::default(),
            exemption: Exemption::Nothing,
            conditions: Vec::new(),
            variables: Vec::new(),
            parameter: None,
            fallback: None,
        }
    }

    #[test]
    fn each_policy_has_a_binding() {
        let description = Description {
            name: "guard".to_owned(),
            policies: vec![pinned(), marked()],
            ..Description::default()
        };
        let objects = policy_objects(&description, "tools");
        let golden: Vec<serde_json::Value> = serde_saphyr::from_multiple(GOLDEN).unwrap();
        assert_eq!(objects, golden, "{}", to_yaml(&objects).unwrap());
    }
}
