//! Requests that the operator's webhooks do not expect: each one gets a response, and the operator
//! continues.

use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, PostParams};
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use sidecarset::operator;

use crate::fixtures::{containers, create_active_set, from_json, pod, set};

/// Returns the client configuration of the webhook for Pods with another path.
async fn client_config(cluster: &Cluster, path: &str) -> Value {
    let configuration = cluster
        .get::<MutatingWebhookConfiguration>("sidecarset")
        .await;
    let installed = json!(configuration.expect("an installed operator"));
    let mut client = installed["webhooks"][0]["clientConfig"].clone();
    let new_url = client["url"].as_str().map(|url| {
        let (base, _) = url.rsplit_once('/').expect("a path");
        format!("{base}{path}")
    });
    match new_url {
        Some(url) => client["url"] = url.into(),
        None => client["service"]["path"] = path.into(),
    }
    client
}

/// Registers the webhook for further requests.
async fn register(cluster: &Cluster, client: &Value, rule: Value) {
    let label = json!({"matchLabels": {"astray": "yes"}});
    let configuration: MutatingWebhookConfiguration = from_json(json!({
        "metadata": {"name": "astray"},
        "webhooks": [{
            "name": "astray.sidecarset.core", "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "timeoutSeconds": 5,
            "clientConfig": client, "rules": [rule], "objectSelector": label,
        }],
    }));
    cluster.create(configuration).await;
}

/// Asserts that a new Pod gets its sidecar.
async fn still_injects(cluster: &Cluster, name: &str, set: &str) {
    let created = cluster.create(pod(name, set)).await;
    assert_eq!(containers(&created), ["side", "app"]);
}

#[kubewright_testing::test(nodes = 1)]
async fn webhook_for_pods_rejects_another_kind_and_continues(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, set("astray", json!({}))).await;
    let client = client_config(&cluster, "/mutate--v1-pod").await;
    let rule = json!({"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
        "resources": ["configmaps"]});
    register(&cluster, &client, rule).await;
    let map: ConfigMap = from_json(
        json!({"metadata": {"name": "m", "labels": {"astray": "yes"}}, "data": {"a": "b"}}),
    );
    let maps: Api<ConfigMap> = Api::namespaced(cluster.client(), cluster.namespace());
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    cluster
        .eventually("the webhook rejects the ConfigMap", async |_| {
            maps.create(&params, &map).await.is_err()
        })
        .await;
    let result = maps.create(&params, &map).await;
    let text = format!("{result:?}");
    assert!(text.contains("ConfigMap"), "{text}");
    still_injects(&cluster, "after", "astray").await;
}

#[kubewright_testing::test(nodes = 1)]
async fn webhook_for_pods_does_not_change_updated_or_deleted_pods(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, set("changes", json!({}))).await;
    let client = client_config(&cluster, "/mutate--v1-pod").await;
    let rule = json!({"operations": ["UPDATE", "DELETE"], "apiGroups": [""],
        "apiVersions": ["v1"], "resources": ["pods"]});
    register(&cluster, &client, rule).await;
    let before = cluster.create(pod("a", "changes")).await;
    let label = json!({"metadata": {"labels": {"astray": "yes"}}});
    let after = cluster.patch::<Pod>("a", label).await;
    let containers_of = |pod: &Pod| pod.spec.clone().map(|spec| spec.containers);
    assert_eq!(containers_of(&after), containers_of(&before));
    assert_eq!(after.annotations(), before.annotations());
    cluster.delete::<Pod>("a").await;
    cluster
        .eventually("the Pod is deleted", async |c| {
            c.get::<Pod>("a").await.is_none()
        })
        .await;
    still_injects(&cluster, "after", "changes").await;
}

#[kubewright_testing::test(nodes = 1)]
async fn conversion_of_an_unknown_kind_fails_and_sets_are_still_converted(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, set("convert", json!({}))).await;
    let client = client_config(&cluster, "/convert").await;
    let schema = json!({"openAPIV3Schema": {"type": "object",
        "x-kubernetes-preserve-unknown-fields": true}});
    let version = |name: &str, is_stored: bool| {
        json!({"name": name, "served": true,
        "storage": is_stored, "schema": schema})
    };
    let definition: CustomResourceDefinition = from_json(json!({
        "metadata": {"name": "widgets.astray.io"},
        "spec": {
            "group": "astray.io", "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets", "singular": "widget",
                "listKind": "WidgetList"},
            "versions": [version("v1", true), version("v2", false)],
            "conversion": {"strategy": "Webhook", "webhook":
                {"clientConfig": client, "conversionReviewVersions": ["v1"]}},
        },
    }));
    cluster.create(definition).await;
    let widgets = |version: &str| {
        let resource = ApiResource {
            group: "astray.io".to_owned(),
            version: version.to_owned(),
            api_version: format!("astray.io/{version}"),
            kind: "Widget".to_owned(),
            plural: "widgets".to_owned(),
        };
        Api::<DynamicObject>::namespaced_with(cluster.client(), cluster.namespace(), &resource)
    };
    let widget: DynamicObject = from_json(json!({"apiVersion": "astray.io/v1", "kind": "Widget",
        "metadata": {"name": "w"}}));
    cluster
        .eventually("the kind is served", async |_| {
            let created = widgets("v1").create(&PostParams::default(), &widget).await;
            created.is_ok()
        })
        .await;
    let result = widgets("v2").get("w").await;
    let text = result.expect_err("no conversion").to_string();
    assert!(text.contains("conversion webhook for astray.io"), "{text}");
    assert!(text.contains("Widget"), "{text}");

    let older = cluster
        .get::<sidecarset::v1alpha1::SidecarSet>("convert")
        .await;
    assert!(older.is_some());
    still_injects(&cluster, "after", "convert").await;
    widgets("v1")
        .delete("w", &Default::default())
        .await
        .expect("delete the widget");
    cluster
        .delete::<CustomResourceDefinition>("widgets.astray.io")
        .await;
}
