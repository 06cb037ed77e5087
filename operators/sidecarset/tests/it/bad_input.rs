//! Questions that the operator was never meant for, while it runs: each is answered, and it goes
//! on.

use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, PostParams};
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use sidecarset::operator;

use crate::world::{active, containers, pod, read, set};

/// How the API server reaches the operator's webhook for Pods, with another path.
async fn client_config(cluster: &Cluster, path: &str) -> Value {
    let there = cluster
        .get::<MutatingWebhookConfiguration>("sidecarset")
        .await;
    let there = json!(there.expect("it is installed"));
    let mut client = there["webhooks"][0]["clientConfig"].clone();
    let of_url = client["url"].as_str().map(|url| {
        let (base, _) = url.rsplit_once('/').expect("a path");
        format!("{base}{path}")
    });
    match of_url {
        Some(url) => client["url"] = url.into(),
        None => client["service"]["path"] = path.into(),
    }
    client
}

/// Has the API server ask about other things, too.
async fn ask(cluster: &Cluster, client: &Value, rule: Value) {
    let label = json!({"matchLabels": {"astray": "yes"}});
    let configuration = json!({
        "metadata": {"name": "astray"},
        "webhooks": [{
            "name": "astray.sidecarset.core", "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "timeoutSeconds": 5,
            "clientConfig": client, "rules": [rule], "objectSelector": label,
        }],
    });
    let configuration: MutatingWebhookConfiguration = read(configuration);
    cluster.create(configuration).await;
}

async fn still_works(cluster: &Cluster, name: &str, set: &str) {
    let made = cluster.create(pod(name, set)).await;
    assert_eq!(containers(&made), ["side", "app"]);
}

#[kubewright_testing::test(nodes = 1)]
async fn the_webhook_for_pods_refuses_another_kind_and_goes_on(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, set("astray", json!({}))).await;
    let client = client_config(&cluster, "/mutate--v1-pod").await;
    let rule = json!({"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
        "resources": ["configmaps"]});
    ask(&cluster, &client, rule).await;
    let map: ConfigMap =
        read(json!({"metadata": {"name": "m", "labels": {"astray": "yes"}}, "data": {"a": "b"}}));
    let maps: Api<ConfigMap> = Api::namespaced(cluster.client(), cluster.namespace());
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    cluster
        .eventually("the webhook refuses", async |_| {
            maps.create(&params, &map).await.is_err()
        })
        .await;
    let refused = maps.create(&params, &map).await;
    let text = format!("{refused:?}");
    assert!(text.contains("ConfigMap"), "{text}");
    still_works(&cluster, "after", "astray").await;
}

#[kubewright_testing::test(nodes = 1)]
async fn the_webhook_for_pods_leaves_a_pod_alone_that_changes_or_goes(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, set("changes", json!({}))).await;
    let client = client_config(&cluster, "/mutate--v1-pod").await;
    let rule = json!({"operations": ["UPDATE", "DELETE"], "apiGroups": [""],
        "apiVersions": ["v1"], "resources": ["pods"]});
    ask(&cluster, &client, rule).await;
    let before = cluster.create(pod("a", "changes")).await;
    let label = json!({"metadata": {"labels": {"astray": "yes"}}});
    let after = cluster.patch::<Pod>("a", label).await;
    let of = |pod: &Pod| pod.spec.clone().map(|spec| spec.containers);
    assert_eq!(of(&after), of(&before));
    assert_eq!(after.annotations(), before.annotations());
    cluster.delete::<Pod>("a").await;
    cluster
        .eventually("the Pod is gone", async |c| {
            c.get::<Pod>("a").await.is_none()
        })
        .await;
    still_works(&cluster, "after", "changes").await;
}

#[kubewright_testing::test(nodes = 1)]
async fn a_kind_that_nobody_converts_is_answered_and_sets_are_converted_on(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, set("convert", json!({}))).await;
    let client = client_config(&cluster, "/convert").await;
    let schema = json!({"openAPIV3Schema": {"type": "object",
        "x-kubernetes-preserve-unknown-fields": true}});
    let version = |name: &str, is_stored: bool| {
        json!({"name": name, "served": true,
        "storage": is_stored, "schema": schema})
    };
    let definition: CustomResourceDefinition = read(json!({
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
    let widget: DynamicObject = read(json!({"apiVersion": "astray.io/v1", "kind": "Widget",
        "metadata": {"name": "w"}}));
    cluster
        .eventually("the kind is served", async |_| {
            let made = widgets("v1").create(&PostParams::default(), &widget).await;
            made.is_ok()
        })
        .await;
    let refused = widgets("v2").get("w").await;
    let text = refused.expect_err("nobody converts it").to_string();
    assert!(text.contains("conversion webhook for astray.io"), "{text}");
    assert!(text.contains("Widget"), "{text}");

    let older = cluster
        .get::<sidecarset::v1alpha1::SidecarSet>("convert")
        .await;
    assert!(older.is_some());
    still_works(&cluster, "after", "convert").await;
    widgets("v1")
        .delete("w", &Default::default())
        .await
        .expect("it goes");
    cluster
        .delete::<CustomResourceDefinition>("widgets.astray.io")
        .await;
}
