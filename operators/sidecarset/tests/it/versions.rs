//! Both versions of the API: what is written in one is all there in the other.

use kubewright_testing::{Cluster, Kubectl};
use serde_json::{Value, json};
use sidecarset::{CUSTOM_VERSION_LABEL, SidecarSet, operator, v1alpha1};

use crate::world::{known, set, status};

const NAME: &str = "every-field";

/// A manifest that says something in every field of the older version.
fn manifest() -> String {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/samples/versions/v1alpha1.yaml"
    );
    std::fs::read_to_string(path).expect("the sample is there")
}

/// Whether all that `wanted` says stands in `found`; more may stand there, such as defaults.
fn holds(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => wanted
            .iter()
            .all(|(key, value)| found.get(key).is_some_and(|there| holds(there, value))),
        (Value::Array(found), Value::Array(wanted)) => {
            let mut pairs = found.iter().zip(wanted);
            found.len() == wanted.len() && pairs.all(|(found, wanted)| holds(found, wanted))
        }
        _ => found == wanted,
    }
}

async fn seen(cluster: &Cluster) {
    cluster
        .eventually("the operator has looked at it", async |c| {
            status(c, NAME).await.observed_generation >= 1
        })
        .await;
}

#[kubewright_testing::test]
async fn a_set_with_every_field_of_v1alpha1_round_trips_through_v1beta1(cluster: Cluster) {
    cluster.run(operator).await;
    let sent: v1alpha1::SidecarSet = serde_saphyr::from_str(&manifest()).expect("it reads");
    let made = json!(cluster.create(sent.clone()).await);
    let mut wanted = json!(sent)["spec"].clone();
    assert!(holds(&made["spec"], &wanted), "{made}");
    let stored = cluster.get::<SidecarSet>(NAME).await;
    let stored = stored.expect("it is served in the newer version");
    assert_eq!(stored.spec.custom_version.as_deref(), Some("one"));
    assert_eq!(
        json!(stored.spec.namespace_selector),
        json!({"matchLabels": {"kubernetes.io/metadata.name": "shop"}})
    );
    seen(&cluster).await;
    // Written in the newer version, it is still all there in the older one.
    let patch = json!({"spec": {"revisionHistoryLimit": 7}});
    cluster.patch::<SidecarSet>(NAME, patch).await;
    let read = cluster.get::<v1alpha1::SidecarSet>(NAME).await;
    let read = json!(read.expect("it is served in the older version"));
    wanted["revisionHistoryLimit"] = json!(7);
    assert!(holds(&read["spec"], &wanted), "{read}");
    cluster.delete::<SidecarSet>(NAME).await;
}

/// The other way round: what only the newer version has a field for.
#[kubewright_testing::test]
async fn a_custom_version_is_a_label_in_the_older_version(cluster: Cluster) {
    cluster.run(operator).await;
    known(&cluster, set("labelled", json!({"customVersion": "two"}))).await;
    let read = cluster.get::<v1alpha1::SidecarSet>("labelled").await;
    let read = json!(read.expect("it is served in the older version"));
    assert_eq!(read["metadata"]["labels"][CUSTOM_VERSION_LABEL], "two");
    assert_eq!(read["spec"]["customVersion"], Value::Null);
    let label = json!({"metadata": {"labels": {CUSTOM_VERSION_LABEL: "three"}}});
    cluster
        .patch::<v1alpha1::SidecarSet>("labelled", label)
        .await;
    let read = cluster.get::<SidecarSet>("labelled").await;
    let version = read.and_then(|set| set.spec.custom_version);
    assert_eq!(version.as_deref(), Some("three"));
}

/// What a command line prints that succeeds.
async fn printed(kubectl: &Kubectl, arguments: &str, input: &str) -> String {
    let printed = kubectl.run(arguments, input).await.expect("kubectl runs");
    assert!(
        printed.succeeded,
        "kubectl {arguments}:\n{}\n{input}",
        printed.text
    );
    printed.text
}

/// The set as a version says it.
async fn shown(kubectl: &Kubectl, version: &str) -> Value {
    let get = format!("get sidecarsets.{version}.apps.kruise.io {NAME} -o json");
    let text = printed(kubectl, &get, "").await;
    serde_json::from_str(&text).expect("JSON")
}

/// On real time, which the command runs on.
#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_with_every_v1alpha1_field_round_trips_through_v1beta1_by_kubectl() {
    let builder = Cluster::chosen().expect("a choice").controllers();
    let started = builder.named("kubectl_versions").start_or_skip().await;
    let Some(cluster) = started.expect("a cluster") else {
        return;
    };
    let located = Kubectl::locate_or_skip(&cluster, "kubectl_versions").await;
    let Some(kubectl) = located.expect("kubectl") else {
        return;
    };
    cluster.run(operator).await;

    let made = printed(&kubectl, "apply -f -", &manifest()).await;
    assert_eq!(made, "sidecarset.apps.kruise.io/every-field created\n");
    let wanted: Value = serde_saphyr::from_str(&manifest()).expect("it reads");
    let first = shown(&kubectl, "v1alpha1").await;
    assert!(holds(&first, &wanted), "{first}");
    seen(&cluster).await;

    // Read and written again in the newer version.
    let mut newer = shown(&kubectl, "v1beta1").await;
    assert_eq!(newer["spec"]["customVersion"], "one");
    assert_eq!(newer["spec"]["namespace"], Value::Null);
    // kubectl takes the present one.
    if let Some(metadata) = newer["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
    }
    newer["spec"]["revisionHistoryLimit"] = json!(7);
    printed(&kubectl, "replace -f -", &newer.to_string()).await;
    let mut wanted = wanted;
    wanted["spec"]["revisionHistoryLimit"] = json!(7);
    let again = shown(&kubectl, "v1alpha1").await;
    assert!(holds(&again, &wanted), "{again}");

    // The fields that exclude those of the first manifest.
    let latest = status(&cluster, NAME).await.latest_revision;
    let update = &mut wanted["spec"]["updateStrategy"];
    update["partition"] = json!("10%");
    update["priorityStrategy"] = json!({"orderPriority": [{"orderedKey": "ordinal"}]});
    if let Some(fields) = update.as_object_mut() {
        fields.remove("selector");
    }
    wanted["spec"]["injectionStrategy"]["revision"] =
        json!({"revisionName": latest.expect("a revision"), "policy": "Always"});
    let changed = printed(&kubectl, "apply -f -", &wanted.to_string()).await;
    assert_eq!(
        changed,
        "sidecarset.apps.kruise.io/every-field configured\n"
    );
    let last = shown(&kubectl, "v1alpha1").await;
    assert!(holds(&last, &wanted), "{last}");
    assert_eq!(last["spec"]["updateStrategy"]["selector"], Value::Null);

    printed(&kubectl, &format!("delete sidecarset {NAME}"), "").await;
    cluster.close().await.expect("the cluster ends");
}
