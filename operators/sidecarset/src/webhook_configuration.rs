//! Limits the webhook for Pods to the Pods that sets select.

use k8s_openapi::api::admissionregistration::v1::{MutatingWebhook, MutatingWebhookConfiguration};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use kubewright::prelude::*;
use serde_json::{Value, json};

use crate::SidecarSet;
use crate::names::NAMESPACE_NAME_LABEL;
use crate::scope::{Scope, scopes};

/// The prefix of the names of webhooks for one scope.
const SCOPE_PREFIX: &str = "scope-";

/// Returns the strategic merge patch that makes the API server call the webhook only for the Pods
/// of these sets, or none if nothing changes or there is no webhook for Pods.
///
/// The webhook of the manifests matches no Pod. It is the template of one webhook for each scope,
/// which have names of their own, so that applying the manifests again does not change them.
pub fn scoping_patch(
    configuration: &MutatingWebhookConfiguration,
    sets: &[Arc<SidecarSet>],
) -> Option<Value> {
    let webhooks = configuration.webhooks.as_deref().unwrap_or_default();
    let template = Template::find(webhooks)?;
    let mut entries = Vec::new();
    entries.extend(template.narrowing());
    let desired: Vec<_> = (1..)
        .zip(scopes(sets.iter().map(|set| &**set)))
        .map(|(number, scope)| template.webhook_for(scope, number))
        .collect();
    for webhook in &desired {
        match webhooks.iter().find(|old| old.name == webhook.name) {
            Some(old) if old == webhook => {}
            Some(old) => entries.push(replacing(old, webhook)),
            None => entries.push(json!(webhook)),
        }
    }
    for old in webhooks.iter().filter(|old| template.is_scoped(old)) {
        if !desired.iter().any(|webhook| webhook.name == old.name) {
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

/// The webhook of the manifests for Pods.
struct Template<'w> {
    webhook: &'w MutatingWebhook,
    /// The namespaces that are exempt whatever the sets select.
    exempt: Vec<LabelSelectorRequirement>,
}

impl<'w> Template<'w> {
    fn find(webhooks: &'w [MutatingWebhook]) -> Option<Self> {
        let webhook = webhooks
            .iter()
            .find(|webhook| is_for_pods(webhook) && !webhook.name.starts_with(SCOPE_PREFIX))?;
        let selector = webhook.namespace_selector.iter();
        let expressions = selector.flat_map(|selector| selector.match_expressions.iter().flatten());
        let exempt = expressions
            .filter(|requirement| {
                requirement.key == NAMESPACE_NAME_LABEL && requirement.operator == "NotIn"
            })
            .cloned()
            .collect();
        Some(Self { webhook, exempt })
    }

    /// The patch that makes the template match no Pod; none if it matches none already.
    fn narrowing(&self) -> Option<Value> {
        let no_namespace = self.namespaces_with([without_name()]);
        let pods = self.webhook.object_selector.clone().unwrap_or_default();
        let is_narrow = self.webhook.namespace_selector.as_ref() == Some(&no_namespace)
            && pods == LabelSelector::default();
        (!is_narrow).then(|| {
            json!({
                "name": self.webhook.name,
                "namespaceSelector": with_replace(json!(no_namespace)),
                "objectSelector": with_replace(json!({})),
            })
        })
    }

    /// The template for the Pods of a scope.
    fn webhook_for(&self, scope: Scope, number: usize) -> MutatingWebhook {
        let namespaces = scope.namespaces.match_expressions.into_iter().flatten();
        MutatingWebhook {
            name: format!("{SCOPE_PREFIX}{number}.{}", self.webhook.name),
            namespace_selector: Some(self.namespaces_with(namespaces)),
            object_selector: Some(scope.pods),
            ..self.webhook.clone()
        }
    }

    /// Whether a webhook is one of this template for a scope.
    fn is_scoped(&self, webhook: &MutatingWebhook) -> bool {
        let suffix = format!(".{}", self.webhook.name);
        webhook.name.starts_with(SCOPE_PREFIX) && webhook.name.ends_with(&suffix)
    }

    /// The selector with these requirements, without exempt namespaces.
    fn namespaces_with(
        &self,
        requirements: impl IntoIterator<Item = LabelSelectorRequirement>,
    ) -> LabelSelector {
        let exempt = self.exempt.iter().cloned();
        let expressions: Vec<_> = requirements.into_iter().chain(exempt).collect();
        LabelSelector {
            match_expressions: (!expressions.is_empty()).then_some(expressions),
            match_labels: None,
        }
    }
}

fn is_for_pods(webhook: &MutatingWebhook) -> bool {
    let rules = webhook.rules.iter().flatten();
    let mut resources = rules.flat_map(|rule| rule.resources.iter().flatten());
    resources.any(|resource| resource == "pods")
}

/// Matches no namespace, since each has a label with its name.
fn without_name() -> LabelSelectorRequirement {
    LabelSelectorRequirement {
        key: NAMESPACE_NAME_LABEL.to_owned(),
        operator: "DoesNotExist".to_owned(),
        values: None,
    }
}

/// The patch that replaces a webhook by another one of the same name.
fn replacing(old: &MutatingWebhook, new: &MutatingWebhook) -> Value {
    let mut patch = json!(new);
    for field in ["clientConfig", "namespaceSelector", "objectSelector"] {
        patch[field] = with_replace(patch[field].take());
    }
    for (field, _) in json!(old).as_object().into_iter().flatten() {
        if patch.get(field).is_none() {
            patch[field] = Value::Null;
        }
    }
    patch
}

/// The object with the directive to replace the old one instead of merging.
fn with_replace(mut object: Value) -> Value {
    object["$patch"] = "replace".into();
    object
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;
    use kubewright::prelude::*;
    use serde_json::{Value, json};

    use super::scoping_patch;
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
        let mut requirement = json!({"key": "kubernetes.io/metadata.name", "operator": operator});
        if !values.is_null() {
            requirement["values"] = values;
        }
        requirement
    }

    /// Returns the configuration of the manifests with these requirements on namespaces.
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

    /// Returns the configuration of the manifests.
    fn without_scopes() -> Value {
        configuration(json!([
            requirement("DoesNotExist", Value::Null),
            requirement("NotIn", json!(["x"]))
        ]))
    }

    fn patch(configuration: &Value, sets: &[Arc<SidecarSet>]) -> Option<Value> {
        let read: MutatingWebhookConfiguration =
            serde_json::from_value(configuration.clone()).unwrap();
        scoping_patch(&read, sets)
    }

    /// Applies the patch as an API server does.
    fn patched(mut configuration: Value, sets: &[Arc<SidecarSet>]) -> Value {
        let patch = patch(&configuration, sets).expect("a change");
        assert_eq!(patch["metadata"]["resourceVersion"], "7");
        let webhooks = configuration["webhooks"].as_array_mut().unwrap();
        for entry in patch["webhooks"].as_array().unwrap() {
            let found = webhooks
                .iter()
                .position(|webhook| webhook["name"] == entry["name"]);
            if entry["$patch"] == "delete" {
                webhooks.remove(found.unwrap());
                continue;
            }
            let index = found.unwrap_or_else(|| {
                let text = entry.to_string();
                assert!(
                    !text.contains("$patch"),
                    "a directive in a new entry: {text}"
                );
                webhooks.push(json!({}));
                webhooks.len() - 1
            });
            for (field, value) in entry.as_object().unwrap() {
                let mut value = value.clone();
                if let Some(fields) = value.as_object_mut() {
                    fields.remove("$patch");
                }
                webhooks[index][field] = value;
            }
        }
        configuration
    }

    fn names(configuration: &Value) -> Vec<&str> {
        let webhooks = configuration["webhooks"].as_array().unwrap().iter();
        webhooks
            .map(|webhook| webhook["name"].as_str().unwrap())
            .collect()
    }

    #[test]
    fn each_scope_has_a_webhook_and_the_template_matches_no_pod() {
        let sets = [set("team", "a"), set("env", "b")];
        let after = patched(without_scopes(), &sets);
        assert_eq!(
            names(&after),
            ["a.b.c", "m.b.c", "scope-1.m.b.c", "scope-2.m.b.c"]
        );
        assert_eq!(after["webhooks"][1], without_scopes()["webhooks"][1]);
        for (index, key, value) in [(2, "team", "a"), (3, "env", "b")] {
            let webhook = &after["webhooks"][index];
            let selected = json!({"key": key, "operator": "In", "values": [value]});
            let namespaces = json!([selected, requirement("NotIn", json!(["x"]))]);
            assert_eq!(webhook["namespaceSelector"]["matchExpressions"], namespaces);
            assert_eq!(
                webhook["objectSelector"]["matchExpressions"],
                json!([selected])
            );
            assert_eq!(webhook["clientConfig"]["url"], "https://old");
        }
        assert_eq!(patch(&after, &sets), None, "a second patch has changes");
        assert_eq!(names(&patched(after, &sets[..1])).len(), 3);
    }

    #[test]
    fn webhooks_of_scopes_are_deleted_with_the_last_set() {
        assert_eq!(patch(&without_scopes(), &[]), None);
        let after = patched(without_scopes(), &[set("team", "a")]);
        assert_eq!(patched(after, &[]), without_scopes());
    }

    /// As an older version of the operator or a user has left it.
    #[test]
    fn template_that_matches_pods_is_narrowed() {
        let wide = configuration(json!([requirement("NotIn", json!(["x"]))]));
        assert_eq!(patched(wide.clone(), &[]), without_scopes());
        assert_eq!(names(&patched(wide, &[set("team", "a")])).len(), 3);
    }

    #[test]
    fn webhooks_of_scopes_follow_the_template() {
        let sets = [set("team", "a")];
        let mut after = patched(without_scopes(), &sets);
        after["webhooks"][1]["clientConfig"] = json!({"url": "https://new", "caBundle": "Q0E="});
        after["webhooks"][2]["matchPolicy"] = json!("Exact");
        let after = patched(after, &sets);
        let (template, scoped) = (&after["webhooks"][1], &after["webhooks"][2]);
        assert_eq!(scoped["clientConfig"], template["clientConfig"]);
        assert_eq!(scoped["matchPolicy"], Value::Null);
    }

    #[test]
    fn configuration_without_a_webhook_for_pods_is_unchanged() {
        let mut other = without_scopes();
        other["webhooks"].as_array_mut().unwrap().pop();
        assert_eq!(patch(&other, &[set("team", "a")]), None);
    }
}
