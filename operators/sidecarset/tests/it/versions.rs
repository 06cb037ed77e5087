//! Both versions of the API: every field round-trips through the other one.

use kubewright_testing::{Cluster, Kubectl};
use serde_json::{Value, json};
use sidecarset::{CUSTOM_VERSION_LABEL, SidecarSet, operator, v1alpha1};

use crate::fixtures::{create_set, set, status};

const NAME: &str = "every-field";

/// Returns a manifest with every field of the older version.
fn manifest() -> String {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/samples/versions/v1alpha1.yaml"
    );
    std::fs::read_to_string(path).expect("read the sample")
}

/// Whether a value has all fields of another one. It may have more, such as defaults.
fn contains(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => expected
            .iter()
            .all(|(key, value)| found.get(key).is_some_and(|field| contains(field, value))),
        (Value::Array(found), Value::Array(expected)) => {
            let mut pairs = found.iter().zip(expected);
            found.len() == expected.len()
                && pairs.all(|(found, expected)| contains(found, expected))
        }
        _ => found == expected,
    }
}

async fn wait_until_observed(cluster: &Cluster) {
    cluster
        .eventually("the set is observed", async |c| {
            status(c, NAME).await.observed_generation >= 1
        })
        .await;
}

#[kubewright_testing::test]
async fn set_with_every_field_of_v1alpha1_round_trips_through_v1beta1(cluster: Cluster) {
    cluster.run(operator).await;
    let sent: v1alpha1::SidecarSet = serde_saphyr::from_str(&manifest()).expect("a valid sample");
    let created = json!(cluster.create(sent.clone()).await);
    let mut expected = json!(sent)["spec"].clone();
    assert!(contains(&created["spec"], &expected), "{created}");
    let newer = cluster.get::<SidecarSet>(NAME).await;
    let stored = newer.expect("the set in the newer version");
    assert_eq!(stored.spec.custom_version.as_deref(), Some("one"));
    assert_eq!(
        json!(stored.spec.namespace_selector),
        json!({"matchLabels": {"kubernetes.io/metadata.name": "shop"}})
    );
    wait_until_observed(&cluster).await;
    // A write in the newer version keeps every field of the older one.
    let patch = json!({"spec": {"revisionHistoryLimit": 7}});
    cluster.patch::<SidecarSet>(NAME, patch).await;
    let older = cluster.get::<v1alpha1::SidecarSet>(NAME).await;
    let read = json!(older.expect("the set in the older version"));
    expected["revisionHistoryLimit"] = json!(7);
    assert!(contains(&read["spec"], &expected), "{read}");
    cluster.delete::<SidecarSet>(NAME).await;
}

#[kubewright_testing::test]
async fn custom_version_is_a_label_in_the_older_version(cluster: Cluster) {
    cluster.run(operator).await;
    create_set(&cluster, set("labelled", json!({"customVersion": "two"}))).await;
    let older = cluster.get::<v1alpha1::SidecarSet>("labelled").await;
    let read = json!(older.expect("the set in the older version"));
    assert_eq!(read["metadata"]["labels"][CUSTOM_VERSION_LABEL], "two");
    assert_eq!(read["spec"]["customVersion"], Value::Null);
    let label = json!({"metadata": {"labels": {CUSTOM_VERSION_LABEL: "three"}}});
    cluster
        .patch::<v1alpha1::SidecarSet>("labelled", label)
        .await;
    let newer = cluster.get::<SidecarSet>("labelled").await;
    let version = newer.and_then(|set| set.spec.custom_version);
    assert_eq!(version.as_deref(), Some("three"));
}

/// Runs kubectl, and returns its output.
async fn run(kubectl: &Kubectl, arguments: &str, input: &str) -> String {
    let output = kubectl.run(arguments, input).await.expect("kubectl runs");
    assert!(
        output.succeeded,
        "kubectl {arguments}:\n{}\n{input}",
        output.text
    );
    output.text
}

/// Returns the set in one version.
async fn get_set(kubectl: &Kubectl, version: &str) -> Value {
    let get = format!("get sidecarsets.{version}.apps.kruise.io {NAME} -o json");
    let text = run(kubectl, &get, "").await;
    serde_json::from_str(&text).expect("JSON")
}

/// In real time, since kubectl runs in it.
#[tokio::test(flavor = "multi_thread")]
async fn manifest_with_every_v1alpha1_field_round_trips_through_v1beta1_by_kubectl() {
    let builder = Cluster::from_environment().expect("a choice").controllers();
    let started = builder.named("kubectl_versions").start_or_skip().await;
    let Some(cluster) = started.expect("a cluster") else {
        return;
    };
    let located = Kubectl::locate_or_skip(&cluster, "kubectl_versions").await;
    let Some(kubectl) = located.expect("kubectl") else {
        return;
    };
    cluster.run(operator).await;

    let output = run(&kubectl, "apply -f -", &manifest()).await;
    assert_eq!(output, "sidecarset.apps.kruise.io/every-field created\n");
    let mut expected: Value = serde_saphyr::from_str(&manifest()).expect("a valid sample");
    let first = get_set(&kubectl, "v1alpha1").await;
    assert!(contains(&first, &expected), "{first}");
    wait_until_observed(&cluster).await;

    // Replaced in the newer version.
    let mut newer = get_set(&kubectl, "v1beta1").await;
    assert_eq!(newer["spec"]["customVersion"], "one");
    assert_eq!(newer["spec"]["namespace"], Value::Null);
    // kubectl fills in the current one.
    if let Some(metadata) = newer["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
    }
    newer["spec"]["revisionHistoryLimit"] = json!(7);
    run(&kubectl, "replace -f -", &newer.to_string()).await;
    expected["spec"]["revisionHistoryLimit"] = json!(7);
    let again = get_set(&kubectl, "v1alpha1").await;
    assert!(contains(&again, &expected), "{again}");

    // The fields that exclude those of the first manifest.
    let latest = status(&cluster, NAME).await.latest_revision;
    let update = &mut expected["spec"]["updateStrategy"];
    update["partition"] = json!("10%");
    update["priorityStrategy"] = json!({"orderPriority": [{"orderedKey": "ordinal"}]});
    if let Some(fields) = update.as_object_mut() {
        fields.remove("selector");
    }
    expected["spec"]["injectionStrategy"]["revision"] =
        json!({"revisionName": latest.expect("a revision"), "policy": "Always"});
    let changed = run(&kubectl, "apply -f -", &expected.to_string()).await;
    assert_eq!(
        changed,
        "sidecarset.apps.kruise.io/every-field configured\n"
    );
    let last = get_set(&kubectl, "v1alpha1").await;
    assert!(contains(&last, &expected), "{last}");
    assert_eq!(last["spec"]["updateStrategy"]["selector"], Value::Null);

    run(&kubectl, &format!("delete sidecarset {NAME}"), "").await;
    cluster.close().await.expect("the cluster stops");
}
