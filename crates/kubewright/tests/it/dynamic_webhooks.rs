//! Webhooks for a kind that is known only at run time, on both clusters.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kubewright::kube::Api;
use kubewright::kube::api::{ListParams, PostParams};
use kubewright::kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kubewright::prelude::*;
use kubewright::webhook::{Admission, Change, Denied, Findings};
use kubewright::{Kind, Resource, Scope, kind_of};
use kubewright_testing::Cluster;
use serde_json::{Value, json};

const GROUP: &str = "pottery.kubewright.dev";

fn pots() -> Resource {
    Resource::new(Kind::new(GROUP, "v1", "Pot"), "pots", Scope::Namespaced)
}

/// The definition of a kind that another project installs.
fn definition() -> CustomResourceDefinition {
    let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({
        "metadata": {"name": format!("pots.{GROUP}")},
        "spec": {
            "group": GROUP, "scope": "Namespaced", "names": {"plural": "pots", "kind": "Pot"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": anything}}],
        },
    });
    serde_json::from_value(definition).expect("a definition")
}

fn api(cluster: &Cluster) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk(GROUP, "v1", "Pot");
    let resource = ApiResource::from_gvk_with_plural(&kind, "pots");
    Api::namespaced_with(cluster.client(), cluster.namespace(), &resource)
}

fn pot(name: &str, spec: Value) -> DynamicObject {
    let object = json!({"apiVersion": format!("{GROUP}/v1"), "kind": "Pot",
        "metadata": {"name": name}, "spec": spec});
    serde_json::from_value(object).expect("an object")
}

fn fill_in(pot: &mut DynamicObject) {
    let size = &mut pot.data["spec"]["size"];
    if size.is_null() {
        *size = json!(2);
    }
}

/// At most one pot may have no lid.
async fn validate(change: Change<DynamicObject>, cx: Admission) -> Result<Findings, Denied> {
    let mut findings = Findings::default();
    let Some(pot) = change.object() else {
        return Ok(findings);
    };
    if pot.data["spec"]["size"] == 0 {
        findings.invalid("spec.size", 0, "must hold something");
    }
    let others = cx.list_of(&pots())?;
    let is_open = |pot: &DynamicObject| pot.data["spec"]["lid"] == false;
    let mut others = others
        .iter()
        .filter(|other| other.name_any() != pot.name_any());
    if is_open(pot) && others.any(|other| is_open(&other)) {
        findings.forbidden("spec.lid", "one pot is open already");
    }
    Ok(findings)
}

fn operator() -> Operator {
    Operator::new("potter")
        .webhook(Webhook::defaults_of(pots(), fill_in))
        .webhook(Webhook::validates_async_of(pots(), validate).reads(kind_of(pots())))
}

#[kubewright_testing::test]
async fn objects_of_a_dynamic_kind_are_defaulted_and_validated(cluster: Cluster) {
    cluster.create(definition()).await;
    let pots = api(&cluster);
    cluster
        .eventually("pots are served", async |_| {
            pots.list(&ListParams::default()).await.is_ok()
        })
        .await;
    cluster.run(operator).await;
    let params = PostParams::default();
    let red = pot("a", json!({"color": "red", "lid": false}));
    let created = pots.create(&params, &red).await.expect("a valid pot");
    assert_eq!(
        created.data["spec"],
        json!({"color": "red", "lid": false, "size": 2})
    );
    let created = pots.create(&params, &pot("b", json!({"size": 0}))).await;
    let Err(kube::Error::Api(status)) = created else {
        panic!("{created:?}");
    };
    assert_eq!(status.code, 422);
    assert!(
        status
            .message
            .contains("spec.size: Invalid value: 0: must hold something"),
        "{status:?}"
    );
    // Validated with the objects of the cache.
    cluster
        .eventually("a second open pot is denied", async |_| {
            let dry_run = PostParams {
                dry_run: true,
                ..PostParams::default()
            };
            let second = pots
                .create(&dry_run, &pot("c", json!({"lid": false})))
                .await;
            matches!(&second, Err(kube::Error::Api(status))
                if status.message.contains("one pot is open already"))
        })
        .await;
    cluster.stop_operator().await;
    cluster
        .delete::<CustomResourceDefinition>(&format!("pots.{GROUP}"))
        .await;
}
