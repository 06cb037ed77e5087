use k8s_openapi::api::admissionregistration::v1::{
    JSONPatch, MatchCondition, MatchResources, MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding, MutatingAdmissionPolicyBindingSpec,
    MutatingAdmissionPolicySpec, Mutation, NamedRuleWithOperations,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use kubewright::prelude::*;
use serde_json::json;

use super::expression::{text, value};
use crate::hash::{spec_hash, spec_hash_without_image};
use crate::inject::{container, entry};
use crate::operator::NAME;
use crate::place::{NAME_LABEL, SPARED};
use crate::record::{
    HASH_ANNOTATION, HASH_WITHOUT_IMAGE_ANNOTATION, INJECTED_LIST_ANNOTATION, Injected,
};
use crate::revision::SET_LABEL;
use crate::{Error, PodInjectPolicy, SidecarSet};

const ANNOTATIONS: &str = "object.metadata.annotations";

/// The objects by which the API server puts the containers of a set into Pods.
#[derive(Clone, Debug, PartialEq)]
pub struct SetPolicy {
    /// What is done.
    pub policy: MutatingAdmissionPolicy,
    /// That it is done.
    pub binding: MutatingAdmissionPolicyBinding,
}

/// The policy of a plain set in the version of that name, for an operator in this namespace.
///
/// All that the API server would fill in is there, so that what it stores can be compared.
pub fn set_policy(set: &SidecarSet, revision: &str, own: &str) -> Result<SetPolicy, Error> {
    let name = policy_name(&set.name_any());
    let metadata = metadata(set, &name);
    let spec = MutatingAdmissionPolicySpec {
        failure_policy: Some("Fail".to_owned()),
        match_conditions: Some(conditions(set)),
        match_constraints: Some(matched(set, own)),
        mutations: Some(vec![Mutation {
            apply_configuration: None,
            json_patch: Some(JSONPatch {
                expression: Some(patch(set, revision)?),
            }),
            patch_type: "JSONPatch".to_owned(),
        }]),
        param_kind: None,
        // What it puts into a Pod depends on nothing that others put there.
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

/// The name of the policy of a set, and of its binding.
pub(super) fn policy_name(set: &str) -> String {
    format!("{NAME}.{set}")
}

fn metadata(set: &SidecarSet, name: &str) -> ObjectMeta {
    let labels = [
        ("app.kubernetes.io/name".to_owned(), NAME.to_owned()),
        (SET_LABEL.to_owned(), set.name_any()),
    ];
    ObjectMeta {
        name: Some(name.to_owned()),
        labels: Some(labels.into()),
        ..ObjectMeta::default()
    }
}

/// The Pods that the set selects, but for those of namespaces that must start without sidecars.
fn matched(set: &SidecarSet, own: &str) -> MatchResources {
    let one = |text: &str| Some(vec![text.to_owned()]);
    let mut namespaces = tidy(set.spec.namespace_selector.as_ref());
    let spared = SPARED.into_iter().chain([own]);
    let expressions = namespaces.match_expressions.get_or_insert_default();
    expressions.push(LabelSelectorRequirement {
        key: NAME_LABEL.to_owned(),
        operator: "NotIn".to_owned(),
        values: Some(spared.map(str::to_owned).collect()),
    });
    MatchResources {
        exclude_resource_rules: None,
        match_policy: Some("Equivalent".to_owned()),
        namespace_selector: Some(namespaces),
        object_selector: Some(tidy(set.spec.selector.as_ref())),
        resource_rules: Some(vec![NamedRuleWithOperations {
            api_groups: one(""),
            api_versions: one("v1"),
            operations: one("CREATE"),
            resource_names: None,
            resources: one("pods"),
            scope: Some("*".to_owned()),
        }]),
    }
}

/// As the API server stores it: without empty lists and maps.
fn tidy(selector: Option<&LabelSelector>) -> LabelSelector {
    let selector = selector.cloned().unwrap_or_default();
    LabelSelector {
        match_labels: selector.match_labels.filter(|labels| !labels.is_empty()),
        match_expressions: selector.match_expressions.filter(|all| !all.is_empty()),
    }
}

/// Only Pods that have none of the containers: those that have them got them before, or brought
/// containers of these names themselves.
fn conditions(set: &SidecarSet) -> Vec<MatchCondition> {
    let names = set.spec.containers.iter();
    let names: Vec<_> = names.map(|one| text(&one.container.name)).collect();
    let absent = format!("all(c, !(c.name in [{}]))", names.join(", "));
    let initial = "object.spec.initContainers";
    [
        ("containers", format!("object.spec.containers.{absent}")),
        (
            "init-containers",
            format!("!has({initial}) || {initial}.{absent}"),
        ),
    ]
    .map(|(name, expression)| MatchCondition {
        name: name.to_owned(),
        expression,
    })
    .into()
}

/// What the webhook does to such a Pod, as a list of patches.
fn patch(set: &SidecarSet, revision: &str) -> Result<String, Error> {
    let mut patches = Vec::new();
    let mut front = 0;
    for sidecar in &set.spec.containers {
        let path = match sidecar.pod_inject_policy.unwrap_or_default() {
            PodInjectPolicy::BeforeAppContainer => {
                front += 1;
                format!("/spec/containers/{}", front - 1)
            }
            PodInjectPolicy::AfterAppContainer => "/spec/containers/-".to_owned(),
        };
        // A plain container is the same in every Pod.
        let container = container(sidecar, set, &Pod::default())?;
        let container = value(&json!(container), "Object.spec.containers");
        patches.push(add(&path, &container));
    }
    let notes = notes(set, revision);
    let among: Vec<_> = notes
        .iter()
        .map(|note| {
            let key = note.key.replace('~', "~0").replace('/', "~1");
            add(&format!("/metadata/annotations/{key}"), &note.joined())
        })
        .collect();
    let alone = notes.iter();
    let alone: Vec<_> = alone
        .map(|note| format!("{}: {}", text(note.key), text(&note.alone())))
        .collect();
    let alone = add(
        "/metadata/annotations",
        &format!("{{{}}}", alone.join(", ")),
    );
    Ok(format!(
        "[{}] + (has({ANNOTATIONS}) ? [{}] : [{alone}])",
        patches.join(", "),
        among.join(", "),
    ))
}

fn add(path: &str, value: &str) -> String {
    format!(
        "JSONPatch{{op: \"add\", path: {}, value: {value}}}",
        text(path)
    )
}

/// An annotation that says what a set put into a Pod, beside what it says of others.
struct Note {
    key: &'static str,
    /// What it says of this set.
    entry: String,
    form: Form,
}

/// How the entries of an annotation stand in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// In an object of JSON.
    Object,
    /// Between commas.
    List,
}

impl Note {
    /// With this entry alone.
    fn alone(&self) -> String {
        match self.form {
            Form::Object => format!("{{{}}}", self.entry),
            Form::List => self.entry.clone(),
        }
    }

    /// The expression for this entry behind those that the Pod has; of two for one set the later
    /// counts. What is no object is replaced.
    fn joined(&self) -> String {
        let key = text(self.key);
        let present = format!("{ANNOTATIONS}[{key}]");
        let alone = text(&self.alone());
        let (is_kept, joined) = match self.form {
            Form::Object => (
                format!("{present}.endsWith(\"}}\") && {present} != \"{{}}\""),
                format!(
                    "{present}.substring(0, size({present}) - 1) + {}",
                    text(&format!(",{}}}", self.entry))
                ),
            ),
            Form::List => (
                format!("{present} != \"\""),
                format!("{present} + {}", text(&format!(",{}", self.entry))),
            ),
        };
        format!("{key} in {ANNOTATIONS} && {is_kept} ? {joined} : {alone}")
    }
}

fn notes(set: &SidecarSet, revision: &str) -> [Note; 3] {
    let name = set.name_any();
    let full = Injected {
        controller_revision: Some(revision.to_owned()),
        ..entry(set, spec_hash(set))
    };
    let without_image = entry(set, spec_hash_without_image(set));
    let object = |key: &'static str, entry: &Injected| Note {
        key,
        entry: format!("{}:{}", json!(name), json!(entry)),
        form: Form::Object,
    };
    [
        object(HASH_ANNOTATION, &full),
        object(HASH_WITHOUT_IMAGE_ANNOTATION, &without_image),
        Note {
            key: INJECTED_LIST_ANNOTATION,
            entry: name.clone(),
            form: Form::List,
        },
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{SetPolicy, set_policy};
    use crate::inject::tests::set_of;
    use crate::{spec_hash, spec_hash_without_image};

    fn policy(mut spec: Value) -> (SetPolicy, [String; 2]) {
        spec["namespaceSelector"] = json!({"matchLabels": {"team": "a"}, "matchExpressions": []});
        let set = set_of("flow", spec);
        let hashes = [spec_hash(&set), spec_hash_without_image(&set)];
        let made = set_policy(&set, "flow-1", "sidecarset-system");
        (made.unwrap(), hashes)
    }

    #[test]
    fn a_set_becomes_a_policy_for_its_pods_that_do_not_have_its_containers() {
        let (made, _) = policy(json!({"containers": [{"name": "side"}, {"name": "more"}]}));
        let mut written = json!(made.policy);
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
            json!(made.binding)["spec"],
            json!({"policyName": "sidecarset.flow"})
        );
        assert_eq!(made.binding.metadata, made.policy.metadata);
    }

    #[test]
    fn the_patch_puts_containers_where_they_belong_and_says_so_on_the_pod() {
        let (made, [hash, plain]) = policy(json!({"containers": [
            {"name": "z", "image": "i:1", "podInjectPolicy": "AfterAppContainer"},
            {"name": "a", "image": "i:1"}, {"name": "b", "image": "i:2"},
        ]}));
        let written = json!(made.policy);
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
        ];
        let containers = containers.join(", ");
        let list = r#"\"sidecarList\":[\"z\",\"a\",\"b\"],\"sidecarSetName\":\"flow\"}"#;
        let full =
            format!(r#"\"flow\":{{\"controllerRevision\":\"flow-1\",\"hash\":\"{hash}\",{list}"#);
        let plain = format!(r#"\"flow\":{{\"hash\":\"{plain}\",{list}"#);
        let joined = |key: &str, entry: &str| {
            let present = format!("object.metadata.annotations[\"{key}\"]");
            format!(
                "JSONPatch{{op: \"add\", path: \"/metadata/annotations/{}\", value: \"{key}\" in \
                 object.metadata.annotations && {present}.endsWith(\"}}\") && {present} != \"{{}}\" \
                 ? {present}.substring(0, size({present}) - 1) + \",{entry}}}\" : \"{{{entry}}}\"}}",
                key.replace('/', "~1")
            )
        };
        let (one, two, three) = (
            "kruise.io/sidecarset-hash",
            "kruise.io/sidecarset-hash-without-image",
            "kruise.io/sidecarset-injected-list",
        );
        let present = format!("object.metadata.annotations[\"{three}\"]");
        let wanted = format!(
            "[{containers}] + (has(object.metadata.annotations) ? [{}, {}, JSONPatch{{op: \"add\", \
             path: \"/metadata/annotations/kruise.io~1sidecarset-injected-list\", value: \
             \"{three}\" in object.metadata.annotations && {present} != \"\" ? {present} + \
             \",flow\" : \"flow\"}}] : [JSONPatch{{op: \"add\", path: \"/metadata/annotations\", \
             value: {{\"{one}\": \"{{{full}}}\", \"{two}\": \"{{{plain}}}\", \"{three}\": \
             \"flow\"}}}}])",
            joined(one, &full),
            joined(two, &plain),
        );
        assert_eq!(expression, wanted);
    }
}
