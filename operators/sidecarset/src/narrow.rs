use k8s_openapi::api::admissionregistration::v1::{MutatingWebhook, MutatingWebhookConfiguration};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use kubewright::prelude::*;
use serde_json::{Value, json};

use crate::SidecarSet;
use crate::place::NAME_LABEL;
use crate::scope::{Scope, scopes};

/// The strategic merge patch that makes the API server ask about the Pods of these sets only; none
/// when it is so already, or when there is no webhook for Pods.
///
/// The webhook of the manifests is for no Pod, and stays so: it is the template of one webhook for
/// each scope, which are all told apart from it by their names. Whoever applies the manifests
/// again changes none of these.
pub fn narrowed(
    configuration: &MutatingWebhookConfiguration,
    sets: &[Arc<SidecarSet>],
) -> Option<Value> {
    let webhooks = configuration.webhooks.as_deref().unwrap_or_default();
    let template = webhooks
        .iter()
        .find(|one| is_for_pods(one) && !one.name.starts_with(PREFIX))?;
    let spared = spared(template);
    let mut entries = Vec::new();
    let nowhere = in_namespaces([nowhere()].into_iter().chain(spared.iter().cloned()));
    let is_narrow = template.namespace_selector.as_ref() == Some(&nowhere)
        && template.object_selector.clone().unwrap_or_default() == LabelSelector::default();
    if !is_narrow {
        entries.push(json!({
            "name": template.name,
            "namespaceSelector": replaced(json!(nowhere)),
            "objectSelector": replaced(json!({})),
        }));
    }
    let scopes = scopes(sets.iter().map(|set| &**set));
    let wanted: Vec<_> = (1..)
        .zip(scopes)
        .map(|(number, scope)| webhook_for(scope, number, (template, &spared)))
        .collect();
    let found = |name: &str| webhooks.iter().find(|one| one.name == name);
    for webhook in &wanted {
        match found(&webhook.name) {
            Some(old) if old == webhook => {}
            Some(old) => entries.push(changed(old, webhook)),
            None => entries.push(json!(webhook)),
        }
    }
    let suffix = format!(".{}", template.name);
    let made_here = |one: &&MutatingWebhook| {
        one.name.starts_with(PREFIX) && one.name.ends_with(suffix.as_str())
    };
    for old in webhooks.iter().filter(made_here) {
        if !wanted.iter().any(|one| one.name == old.name) {
            entries.push(json!({"name": old.name, "$patch": "delete"}));
        }
    }
    (!entries.is_empty()).then(|| {
        json!({
            "metadata": {"resourceVersion": configuration.metadata.resource_version},
            "webhooks": entries,
        })
    })
}

/// What the names of webhooks begin with that are for one scope.
const PREFIX: &str = "scope-";

fn is_for_pods(webhook: &MutatingWebhook) -> bool {
    let rules = webhook.rules.iter().flatten();
    let mut resources = rules.flat_map(|rule| rule.resources.iter().flatten());
    resources.any(|one| one == "pods")
}

/// The namespaces that are left alone whatever the sets say.
fn spared(template: &MutatingWebhook) -> Vec<LabelSelectorRequirement> {
    let selector = template.namespace_selector.iter();
    let all = selector.flat_map(|selector| selector.match_expressions.iter().flatten());
    all.filter(|one| one.key == NAME_LABEL && one.operator == "NotIn")
        .cloned()
        .collect()
}

/// Every namespace has a name.
fn nowhere() -> LabelSelectorRequirement {
    LabelSelectorRequirement {
        key: NAME_LABEL.to_owned(),
        operator: "DoesNotExist".to_owned(),
        values: None,
    }
}

fn in_namespaces(
    requirements: impl IntoIterator<Item = LabelSelectorRequirement>,
) -> LabelSelector {
    let all: Vec<_> = requirements.into_iter().collect();
    LabelSelector {
        match_expressions: (!all.is_empty()).then_some(all),
        match_labels: None,
    }
}

/// The template, for the Pods of a scope.
fn webhook_for(
    scope: Scope,
    number: usize,
    (template, spared): (&MutatingWebhook, &[LabelSelectorRequirement]),
) -> MutatingWebhook {
    let namespaces = scope.namespaces.match_expressions.into_iter().flatten();
    MutatingWebhook {
        name: format!("{PREFIX}{number}.{}", template.name),
        namespace_selector: Some(in_namespaces(namespaces.chain(spared.iter().cloned()))),
        object_selector: Some(scope.pods),
        ..template.clone()
    }
}

/// A webhook in the place of the one that has its name.
fn changed(old: &MutatingWebhook, webhook: &MutatingWebhook) -> Value {
    let mut patch = json!(webhook);
    for field in ["clientConfig", "namespaceSelector", "objectSelector"] {
        patch[field] = replaced(patch[field].take());
    }
    for (field, _) in json!(old).as_object().into_iter().flatten() {
        if patch.get(field).is_none() {
            patch[field] = Value::Null;
        }
    }
    patch
}

/// Instead of being merged.
fn replaced(mut object: Value) -> Value {
    object["$patch"] = "replace".into();
    object
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;
    use kubewright::prelude::*;
    use serde_json::{Value, json};

    use super::narrowed;
    use crate::SidecarSet;

    fn set(key: &str, value: &str) -> Arc<SidecarSet> {
        let selector = json!({"matchLabels": {key: value}});
        let set = json!({
            "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
            "metadata": {"name": value},
            "spec": {"selector": selector, "namespaceSelector": selector},
        });
        Arc::new(serde_json::from_value(set).unwrap())
    }

    fn requirement(operator: &str, values: Value) -> Value {
        let mut one = json!({"key": "kubernetes.io/metadata.name", "operator": operator});
        if !values.is_null() {
            one["values"] = values;
        }
        one
    }

    /// As the manifests have it, with these requirements on namespaces.
    fn configuration(namespaces: Value) -> Value {
        let mut configuration = json!({
            "metadata": {"name": "sidecarset", "resourceVersion": "7"},
            "webhooks": [
                {"name": "a.b.c", "rules": [{"resources": ["sidecarsets"]}]},
                {"name": "m.b.c", "rules": [{"resources": ["pods"]}],
                    "namespaceSelector": {"matchExpressions": namespaces}, "objectSelector": {}},
            ],
        });
        for webhook in configuration["webhooks"].as_array_mut().unwrap() {
            webhook["admissionReviewVersions"] = json!(["v1"]);
            webhook["sideEffects"] = json!("None");
            webhook["clientConfig"] = json!({"url": "https://old"});
        }
        configuration
    }

    fn narrow() -> Value {
        configuration(json!([
            requirement("DoesNotExist", Value::Null),
            requirement("NotIn", json!(["x"]))
        ]))
    }

    fn patch(configuration: &Value, sets: &[Arc<SidecarSet>]) -> Option<Value> {
        let read: MutatingWebhookConfiguration =
            serde_json::from_value(configuration.clone()).unwrap();
        narrowed(&read, sets)
    }

    /// Does what a server does with the patch.
    fn patched(mut configuration: Value, sets: &[Arc<SidecarSet>]) -> Value {
        let patch = patch(&configuration, sets).expect("there is something to change");
        assert_eq!(patch["metadata"]["resourceVersion"], "7");
        let all = configuration["webhooks"].as_array_mut().unwrap();
        for entry in patch["webhooks"].as_array().unwrap() {
            let place = all.iter().position(|one| one["name"] == entry["name"]);
            if entry["$patch"] == "delete" {
                all.remove(place.unwrap());
                continue;
            }
            let place = place.unwrap_or_else(|| {
                assert!(!entry.to_string().contains("$patch"), "it is new: {entry}");
                all.push(json!({}));
                all.len() - 1
            });
            for (field, value) in entry.as_object().unwrap() {
                let mut value = value.clone();
                if let Some(members) = value.as_object_mut() {
                    members.remove("$patch");
                }
                all[place][field] = value;
            }
        }
        configuration
    }

    fn names(configuration: &Value) -> Vec<&str> {
        let all = configuration["webhooks"].as_array().unwrap().iter();
        all.map(|one| one["name"].as_str().unwrap()).collect()
    }

    #[test]
    fn each_scope_has_a_webhook_and_the_template_is_for_nothing() {
        let sets = [set("team", "a"), set("env", "b")];
        let after = patched(narrow(), &sets);
        assert_eq!(
            names(&after),
            ["a.b.c", "m.b.c", "scope-1.m.b.c", "scope-2.m.b.c"]
        );
        assert_eq!(after["webhooks"][1], narrow()["webhooks"][1]);
        for (place, (key, value)) in [(2, ("team", "a")), (3, ("env", "b"))] {
            let webhook = &after["webhooks"][place];
            let selected = json!({"key": key, "operator": "In", "values": [value]});
            let namespaces = json!([selected, requirement("NotIn", json!(["x"]))]);
            assert_eq!(webhook["namespaceSelector"]["matchExpressions"], namespaces);
            assert_eq!(
                webhook["objectSelector"]["matchExpressions"],
                json!([selected])
            );
            assert_eq!(webhook["clientConfig"]["url"], "https://old");
        }
        assert_eq!(patch(&after, &sets), None, "once is enough");
        assert_eq!(names(&patched(after, &sets[..1])).len(), 3);
    }

    #[test]
    fn without_sets_nothing_is_left_but_the_template() {
        assert_eq!(patch(&narrow(), &[]), None);
        let after = patched(narrow(), &[set("team", "a")]);
        assert_eq!(patched(after, &[]), narrow());
    }

    /// As an operator of before has left it, or somebody by hand.
    #[test]
    fn a_template_that_is_for_something_is_narrowed() {
        let wide = configuration(json!([requirement("NotIn", json!(["x"]))]));
        assert_eq!(patched(wide.clone(), &[]), narrow());
        assert_eq!(names(&patched(wide, &[set("team", "a")])).len(), 3);
    }

    #[test]
    fn the_webhooks_follow_their_template() {
        let sets = [set("team", "a")];
        let mut after = patched(narrow(), &sets);
        after["webhooks"][1]["clientConfig"] = json!({"url": "https://new", "caBundle": "Q0E="});
        after["webhooks"][2]["matchPolicy"] = json!("Exact");
        let after = patched(after, &sets);
        let (template, scoped) = (&after["webhooks"][1], &after["webhooks"][2]);
        assert_eq!(scoped["clientConfig"], template["clientConfig"]);
        assert_eq!(scoped["matchPolicy"], Value::Null);
    }

    #[test]
    fn a_configuration_without_a_webhook_for_pods_is_left_alone() {
        let mut other = narrow();
        other["webhooks"].as_array_mut().unwrap().pop();
        assert_eq!(patch(&other, &[set("team", "a")]), None);
    }
}
