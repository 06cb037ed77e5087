//! Builds the policy of a plain set: its injection as an expression in CEL.

use k8s_openapi::api::admissionregistration::v1::{
    JSONPatch, MatchCondition, MatchResources, MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding, MutatingAdmissionPolicyBindingSpec,
    MutatingAdmissionPolicySpec, Mutation, NamedRuleWithOperations,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use kubewright::prelude::*;
use serde_json::json;

use super::cel::{literal, string_literal};
use crate::hash::{spec_hash, spec_hash_without_image};
use crate::inject::{injection_of, sidecar_container};
use crate::names::{NAMESPACE_NAME_LABEL, OPERATOR, SET_LABEL};
use crate::pod_annotations::{
    HASH_ANNOTATION, HASH_WITHOUT_IMAGE_ANNOTATION, INJECTED_LIST_ANNOTATION, Injection,
};
use crate::pod_namespace::EXEMPT_NAMESPACES;
use crate::{Error, PodInjectPolicy, SidecarSet};

const ANNOTATIONS: &str = "object.metadata.annotations";

/// The objects with which the API server injects the containers of a set.
#[derive(Clone, Debug, PartialEq)]
pub struct SetPolicy {
    /// The injection.
    pub policy: MutatingAdmissionPolicy,
    /// Puts the policy into effect.
    pub binding: MutatingAdmissionPolicyBinding,
}

/// Builds the policy of a plain set, in the version of this revision, for an operator in
/// `own_namespace`.
///
/// Fields that the API server would default are set, so that the stored policy can be compared.
pub fn set_policy(
    set: &SidecarSet,
    revision: &str,
    own_namespace: &str,
) -> Result<SetPolicy, Error> {
    let name = policy_name(&set.name_any());
    let metadata = metadata(set, &name);
    let spec = MutatingAdmissionPolicySpec {
        failure_policy: Some("Fail".to_owned()),
        match_conditions: Some(match_conditions(set)),
        match_constraints: Some(match_constraints(set, own_namespace)),
        mutations: Some(vec![Mutation {
            apply_configuration: None,
            json_patch: Some(JSONPatch {
                expression: Some(patch_expression(set, revision)?),
            }),
            patch_type: "JSONPatch".to_owned(),
        }]),
        param_kind: None,
        // The patch does not depend on what other policies add to the Pod.
        reinvocation_policy: Some("Never".to_owned()),
        variables: None,
    };
    Ok(SetPolicy {
        policy: MutatingAdmissionPolicy {
            metadata: metadata.clone(),
            spec: Some(spec),
        },
        binding: MutatingAdmissionPolicyBinding {
            metadata,
            spec: Some(MutatingAdmissionPolicyBindingSpec {
                match_resources: None,
                param_ref: None,
                policy_name: Some(name),
            }),
        },
    })
}

/// Returns the name of the policy of a set, which is also that of its binding.
pub(super) fn policy_name(set: &str) -> String {
    format!("{OPERATOR}.{set}")
}

fn metadata(set: &SidecarSet, name: &str) -> ObjectMeta {
    let labels = [
        ("app.kubernetes.io/name".to_owned(), OPERATOR.to_owned()),
        (SET_LABEL.to_owned(), set.name_any()),
    ];
    ObjectMeta {
        name: Some(name.to_owned()),
        labels: Some(labels.into()),
        ..ObjectMeta::default()
    }
}

/// Matches the Pods that the set selects, without those in exempt namespaces.
fn match_constraints(set: &SidecarSet, own_namespace: &str) -> MatchResources {
    let list = |item: &str| Some(vec![item.to_owned()]);
    let mut namespaces = without_empty_lists(set.spec.namespace_selector.as_ref());
    let exempt = EXEMPT_NAMESPACES.into_iter().chain([own_namespace]);
    let expressions = namespaces.match_expressions.get_or_insert_default();
    expressions.push(LabelSelectorRequirement {
        key: NAMESPACE_NAME_LABEL.to_owned(),
        operator: "NotIn".to_owned(),
        values: Some(exempt.map(str::to_owned).collect()),
    });
    MatchResources {
        exclude_resource_rules: None,
        match_policy: Some("Equivalent".to_owned()),
        namespace_selector: Some(namespaces),
        object_selector: Some(without_empty_lists(set.spec.selector.as_ref())),
        resource_rules: Some(vec![NamedRuleWithOperations {
            api_groups: list(""),
            api_versions: list("v1"),
            operations: list("CREATE"),
            resource_names: None,
            resources: list("pods"),
            scope: Some("*".to_owned()),
        }]),
    }
}

/// The selector as the API server stores it: without empty lists and maps.
fn without_empty_lists(selector: Option<&LabelSelector>) -> LabelSelector {
    let selector = selector.cloned().unwrap_or_default();
    LabelSelector {
        match_labels: selector.match_labels.filter(|labels| !labels.is_empty()),
        match_expressions: selector
            .match_expressions
            .filter(|expressions| !expressions.is_empty()),
    }
}

/// Matches only Pods that have none of the containers. Other Pods were injected before, or have
/// containers of these names themselves.
fn match_conditions(set: &SidecarSet) -> Vec<MatchCondition> {
    let containers = set.spec.containers.iter();
    let names: Vec<_> = containers
        .map(|sidecar| string_literal(&sidecar.container.name))
        .collect();
    let is_absent = format!("all(c, !(c.name in [{}]))", names.join(", "));
    let init_containers = "object.spec.initContainers";
    [
        ("containers", format!("object.spec.containers.{is_absent}")),
        (
            "init-containers",
            format!("!has({init_containers}) || {init_containers}.{is_absent}"),
        ),
    ]
    .map(|(name, expression)| MatchCondition {
        name: name.to_owned(),
        expression,
    })
    .into()
}

/// The injection into such a Pod as an expression for a list of patches.
fn patch_expression(set: &SidecarSet, revision: &str) -> Result<String, Error> {
    let mut containers = Vec::new();
    let mut before = 0;
    for sidecar in &set.spec.containers {
        let path = match sidecar.pod_inject_policy.unwrap_or_default() {
            PodInjectPolicy::BeforeAppContainer => {
                before += 1;
                format!("/spec/containers/{}", before - 1)
            }
            PodInjectPolicy::AfterAppContainer => "/spec/containers/-".to_owned(),
        };
        // The container of a plain set is the same in every Pod.
        let container = sidecar_container(sidecar, set, &Pod::default())?;
        let value = literal(&json!(container), "Object.spec.containers");
        containers.push(add_patch(&path, &value));
    }
    let entries = annotation_entries(set, revision);
    let appended: Vec<_> = entries
        .iter()
        .map(|entry| {
            let key = entry.key.replace('~', "~0").replace('/', "~1");
            add_patch(&format!("/metadata/annotations/{key}"), &entry.appended())
        })
        .collect();
    let annotations: Vec<_> = entries
        .iter()
        .map(|entry| {
            let value = string_literal(&entry.only_entry());
            format!("{}: {value}", string_literal(entry.key))
        })
        .collect();
    let first_annotations = add_patch(
        "/metadata/annotations",
        &format!("{{{}}}", annotations.join(", ")),
    );
    Ok(format!(
        "[{}] + (has({ANNOTATIONS}) ? [{}] : [{first_annotations}])",
        containers.join(", "),
        appended.join(", "),
    ))
}

fn add_patch(path: &str, value: &str) -> String {
    let path = string_literal(path);
    format!("JSONPatch{{op: \"add\", path: {path}, value: {value}}}")
}

/// The entry of a set in an annotation that has entries of several sets.
struct AnnotationEntry {
    key: &'static str,
    entry: String,
    format: EntryFormat,
}

/// The format of an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryFormat {
    /// A JSON object with a field for each set.
    Object,
    /// Names of sets, separated by commas.
    List,
}

impl AnnotationEntry {
    /// The annotation with this entry only.
    fn only_entry(&self) -> String {
        match self.format {
            EntryFormat::Object => format!("{{{}}}", self.entry),
            EntryFormat::List => self.entry.clone(),
        }
    }

    /// The expression that appends this entry to the annotation of the Pod. If a field occurs
    /// twice, JSON takes the later one. An annotation that is not an object is replaced.
    fn appended(&self) -> String {
        let key = string_literal(self.key);
        let present = format!("{ANNOTATIONS}[{key}]");
        let only_entry = string_literal(&self.only_entry());
        let (has_entries, joined) = match self.format {
            EntryFormat::Object => (
                format!("{present}.endsWith(\"}}\") && {present} != \"{{}}\""),
                format!(
                    "{present}.substring(0, size({present}) - 1) + {}",
                    string_literal(&format!(",{}}}", self.entry))
                ),
            ),
            EntryFormat::List => (
                format!("{present} != \"\""),
                format!(
                    "{present} + {}",
                    string_literal(&format!(",{}", self.entry))
                ),
            ),
        };
        format!("{key} in {ANNOTATIONS} && {has_entries} ? {joined} : {only_entry}")
    }
}

fn annotation_entries(set: &SidecarSet, revision: &str) -> [AnnotationEntry; 3] {
    let name = set.name_any();
    let injection = Injection {
        controller_revision: Some(revision.to_owned()),
        ..injection_of(set, spec_hash(set))
    };
    let without_image = injection_of(set, spec_hash_without_image(set));
    let object = |key: &'static str, injection: &Injection| AnnotationEntry {
        key,
        entry: format!("{}:{}", json!(name), json!(injection)),
        format: EntryFormat::Object,
    };
    [
        object(HASH_ANNOTATION, &injection),
        object(HASH_WITHOUT_IMAGE_ANNOTATION, &without_image),
        AnnotationEntry {
            key: INJECTED_LIST_ANNOTATION,
            entry: name.clone(),
            format: EntryFormat::List,
        },
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{SetPolicy, set_policy};
    use crate::inject::fixtures::set_of;
    use crate::{spec_hash, spec_hash_without_image};

    fn policy(mut spec: Value) -> (SetPolicy, [String; 2]) {
        spec["namespaceSelector"] = json!({"matchLabels": {"team": "a"}, "matchExpressions": []});
        let set = set_of("flow", spec);
        let hashes = [spec_hash(&set), spec_hash_without_image(&set)];
        let policy = set_policy(&set, "flow-1", "sidecarset-system");
        (policy.unwrap(), hashes)
    }

    #[test]
    fn policy_matches_pods_of_the_set_without_its_containers() {
        let (policy, _) = policy(json!({"containers": [{"name": "side"}, {"name": "more"}]}));
        let mut written = json!(policy.policy);
        written["spec"].as_object_mut().unwrap().remove("mutations");
        assert_eq!(
            written,
            json!({
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "MutatingAdmissionPolicy",
                "metadata": {"name": "sidecarset.flow", "labels": {
                    "app.kubernetes.io/name": "sidecarset", "kruise.io/sidecarset-name": "flow",
                }},
                "spec": {
                    "failurePolicy": "Fail",
                    "matchConditions": [
                        {"name": "containers", "expression":
                            "object.spec.containers.all(c, !(c.name in [\"side\", \"more\"]))"},
                        {"name": "init-containers", "expression":
                            "!has(object.spec.initContainers) || object.spec.initContainers.all(c, \
                             !(c.name in [\"side\", \"more\"]))"},
                    ],
                    "matchConstraints": {
                        "matchPolicy": "Equivalent",
                        "namespaceSelector": {"matchLabels": {"team": "a"}, "matchExpressions": [{
                            "key": "kubernetes.io/metadata.name", "operator": "NotIn",
                            "values": ["kube-system", "kube-public", "sidecarset-system"],
                        }]},
                        "objectSelector": {"matchLabels": {"app": "web"}},
                        "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
                            "operations": ["CREATE"], "resources": ["pods"], "scope": "*"}],
                    },
                    "reinvocationPolicy": "Never",
                },
            })
        );
        assert_eq!(
            json!(policy.binding)["spec"],
            json!({"policyName": "sidecarset.flow"})
        );
        assert_eq!(policy.binding.metadata, policy.policy.metadata);
    }

    #[test]
    fn patch_adds_containers_by_their_inject_policy_and_annotates_the_pod() {
        let (policy, [hash, plain]) = policy(json!({"containers": [
            {"name": "z", "image": "i:1", "podInjectPolicy": "AfterAppContainer"},
            {"name": "a", "image": "i:1"}, {"name": "b", "image": "i:2"},
        ]}));
        let written = json!(policy.policy);
        let mutation = &written["spec"]["mutations"][0];
        assert_eq!(mutation["patchType"], "JSONPatch");
        let expression = mutation["jsonPatch"]["expression"].as_str().unwrap();
        let side = |path: &str, name: &str, image: &str| {
            format!(
                "JSONPatch{{op: \"add\", path: \"/spec/containers/{path}\", value: \
                 Object.spec.containers{{env: [Object.spec.containers.env{{name: \"IS_INJECTED\", \
                 value: \"true\"}}], image: \"{image}\", name: \"{name}\"}}}}"
            )
        };
        let containers = [
            side("-", "z", "i:1"),
            side("0", "a", "i:1"),
            side("1", "b", "i:2"),
        ]
        .join(", ");
        let list = r#"\"sidecarList\":[\"z\",\"a\",\"b\"],\"sidecarSetName\":\"flow\"}"#;
        let full =
            format!(r#"\"flow\":{{\"controllerRevision\":\"flow-1\",\"hash\":\"{hash}\",{list}"#);
        let plain = format!(r#"\"flow\":{{\"hash\":\"{plain}\",{list}"#);
        let appended = |key: &str, entry: &str| {
            let present = format!("object.metadata.annotations[\"{key}\"]");
            format!(
                "JSONPatch{{op: \"add\", path: \"/metadata/annotations/{}\", value: \"{key}\" in \
                 object.metadata.annotations && {present}.endsWith(\"}}\") && {present} != \"{{}}\" \
                 ? {present}.substring(0, size({present}) - 1) + \",{entry}}}\" : \"{{{entry}}}\"}}",
                key.replace('/', "~1")
            )
        };
        let (hashes, hashes_without_image, list_key) = (
            "kruise.io/sidecarset-hash",
            "kruise.io/sidecarset-hash-without-image",
            "kruise.io/sidecarset-injected-list",
        );
        let present = format!("object.metadata.annotations[\"{list_key}\"]");
        let expected = format!(
            "[{containers}] + (has(object.metadata.annotations) ? [{}, {}, JSONPatch{{op: \"add\", \
             path: \"/metadata/annotations/kruise.io~1sidecarset-injected-list\", value: \
             \"{list_key}\" in object.metadata.annotations && {present} != \"\" ? {present} + \
             \",flow\" : \"flow\"}}] : [JSONPatch{{op: \"add\", path: \"/metadata/annotations\", \
             value: {{\"{hashes}\": \"{{{full}}}\", \"{hashes_without_image}\": \"{{{plain}}}\", \
             \"{list_key}\": \"flow\"}}}}])",
            appended(hashes, &full),
            appended(hashes_without_image, &plain),
        );
        assert_eq!(expression, expected);
    }
}
