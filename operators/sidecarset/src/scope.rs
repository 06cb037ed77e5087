use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use kubewright::prelude::*;
use serde_json::{Value, json};

use crate::SidecarSet;
use crate::place::NAME_LABEL;
use crate::selector::union;

/// The Pods that the API server asks about: those of the sets there are. When nobody answers, all
/// others are created as ever.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// In which namespaces.
    pub namespaces: LabelSelector,
    /// Which Pods.
    pub pods: LabelSelector,
}

/// The Pods that these sets may be for, as closely as two selectors can say it; `spared` are the
/// requirements that hold whatever the sets say.
pub fn scope<'s>(
    sets: impl IntoIterator<Item = &'s SidecarSet>,
    spared: &[LabelSelectorRequirement],
) -> Scope {
    let injects = |set: &&SidecarSet| {
        let is_going = set.metadata.deletion_timestamp.is_some();
        !is_going && !set.spec.injection_strategy.paused && set.spec.selector.is_some()
    };
    let sets: Vec<_> = sets.into_iter().filter(injects).collect();
    let pods: Vec<_> = sets
        .iter()
        .filter_map(|set| set.spec.selector.as_ref())
        .collect();
    let namespaces: Option<Vec<_>> = sets
        .iter()
        .map(|set| set.spec.namespace_selector.as_ref())
        .collect();
    let mut namespaces = match namespaces {
        // Every namespace has a name.
        Some(_) if sets.is_empty() => LabelSelector {
            match_expressions: Some(vec![LabelSelectorRequirement {
                key: NAME_LABEL.to_owned(),
                operator: "DoesNotExist".to_owned(),
                values: None,
            }]),
            match_labels: None,
        },
        Some(namespaces) => union(&namespaces),
        None => LabelSelector::default(),
    };
    let expressions = namespaces.match_expressions.get_or_insert_default();
    expressions.splice(0..0, spared.iter().cloned());
    Scope {
        namespaces,
        pods: union(&pods),
    }
}

/// The strategic merge patch that narrows the webhook for Pods to a scope; none when it is so already, or when
/// there is no such webhook.
pub fn narrowed(
    configuration: &MutatingWebhookConfiguration,
    sets: &[Arc<SidecarSet>],
) -> Option<Value> {
    let webhooks = configuration.webhooks.as_deref().unwrap_or_default();
    let is_ours = |rule: &String| rule == "pods";
    let place = webhooks.iter().position(|webhook| {
        let rules = webhook.rules.iter().flatten();
        let mut resources = rules.flat_map(|rule| rule.resources.iter().flatten());
        resources.any(is_ours)
    })?;
    let webhook = &webhooks[place];
    let spared: Vec<_> = webhook
        .namespace_selector
        .iter()
        .flat_map(|selector| selector.match_expressions.iter().flatten())
        .filter(|one| one.key == NAME_LABEL && one.operator == "NotIn")
        .cloned()
        .collect();
    let scope = scope(sets.iter().map(|set| &**set), &spared);
    let selectors = [&webhook.namespace_selector, &webhook.object_selector];
    let [namespaces, pods] = selectors.map(|one| one.clone().unwrap_or_default());
    if namespaces == scope.namespaces && pods == scope.pods {
        return None;
    }
    Some(json!({
        "metadata": {"resourceVersion": configuration.metadata.resource_version},
        "webhooks": [{
            "name": webhook.name,
            "namespaceSelector": replaced(&scope.namespaces),
            "objectSelector": replaced(&scope.pods),
        }],
    }))
}

/// Instead of being merged.
fn replaced(selector: &LabelSelector) -> Value {
    let mut patch = json!(selector);
    patch["$patch"] = "replace".into();
    patch
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::{narrowed, scope};
    use crate::SidecarSet;

    fn set(spec: Value) -> SidecarSet {
        let set = json!({
            "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
            "metadata": {"name": "s"}, "spec": spec,
        });
        serde_json::from_value(set).unwrap()
    }

    fn labels(key: &str, value: &str) -> Value {
        json!({"matchLabels": {key: value}})
    }

    fn requirement(key: &str, operator: &str, values: Value) -> Value {
        let mut one = json!({"key": key, "operator": operator});
        if !values.is_null() {
            one["values"] = values;
        }
        one
    }

    #[test]
    fn the_scope_holds_the_pods_of_all_sets_and_few_others() {
        let spared = requirement(
            "kubernetes.io/metadata.name",
            "NotIn",
            json!(["kube-system"]),
        );
        let web = set(json!({"selector": labels("app", "web")}));
        let team = |team: &str| {
            set(json!({"selector": labels("app", team), "namespaceSelector": labels("team", team)}))
        };
        let mut paused = team("p");
        paused.spec.injection_strategy.paused = true;
        let nothing = requirement("kubernetes.io/metadata.name", "DoesNotExist", Value::Null);
        for (sets, namespaces, pods) in [
            (vec![], json!([spared, nothing]), json!({})),
            (vec![paused], json!([spared, nothing]), json!({})),
            (
                vec![web.clone()],
                json!([spared]),
                json!({"matchExpressions": [requirement("app", "In", json!(["web"]))]}),
            ),
            (
                vec![team("a"), team("b")],
                json!([spared, requirement("team", "In", json!(["a", "b"]))]),
                json!({"matchExpressions": [requirement("app", "In", json!(["a", "b"]))]}),
            ),
            (
                vec![team("a"), web],
                json!([spared]),
                json!({"matchExpressions": [requirement("app", "In", json!(["a", "web"]))]}),
            ),
        ] {
            let kept = serde_json::from_value(json!([spared])).unwrap();
            let scope = scope(&sets, &Vec::from_iter::<Vec<_>>(kept));
            let namespaces = json!({"matchExpressions": namespaces});
            assert_eq!(
                (json!(scope.namespaces), json!(scope.pods)),
                (namespaces, pods)
            );
        }
    }

    #[test]
    fn a_configuration_is_patched_once() {
        let mut configuration = json!({
            "metadata": {"name": "sidecarset"},
            "webhooks": [
                {"name": "a", "rules": [{"resources": ["sidecarsets"]}]},
                {"name": "b", "rules": [{"resources": ["pods"]}], "namespaceSelector":
                    {"matchExpressions": [requirement("kubernetes.io/metadata.name", "NotIn", json!(["x"]))]}},
            ],
        });
        for webhook in configuration["webhooks"].as_array_mut().unwrap() {
            webhook["admissionReviewVersions"] = json!(["v1"]);
            webhook["sideEffects"] = json!("None");
            webhook["clientConfig"] = json!({});
        }
        let sets = [Arc::new(set(json!({"selector": labels("app", "web")})))];
        let read = |value: &Value| serde_json::from_value(value.clone()).unwrap();
        let patch = narrowed(&read(&configuration), &sets).unwrap();
        assert_eq!(patch["webhooks"][0]["name"], "b");
        for field in ["namespaceSelector", "objectSelector"] {
            let mut selector = patch["webhooks"][0][field].clone();
            assert_eq!(
                selector.as_object_mut().unwrap().remove("$patch"),
                Some(json!("replace"))
            );
            configuration["webhooks"][1][field] = selector;
        }
        assert_eq!(narrowed(&read(&configuration), &sets), None);
        assert!(narrowed(&read(&configuration), &[]).is_some());
        configuration["webhooks"].as_array_mut().unwrap().pop();
        assert_eq!(narrowed(&read(&configuration), &sets), None);
    }
}
