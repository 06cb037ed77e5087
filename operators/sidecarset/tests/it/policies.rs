//! Injection by policies, without the operator.

use k8s_openapi::api::admissionregistration::v1::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding,
};
use kubewright::Verb;
use kubewright::prelude::*;
use kubewright_testing::{Cluster, Fault};
use serde_json::{Value, json};
use sidecarset::{
    HASH_ANNOTATION, INJECTED, Injector, POLICY_CONDITION, SidecarSet, injected_sets, injections,
    operator, operator_with, spec_hash,
};

use crate::fixtures::{
    NEW_IMAGE, container, containers, create_active_set, create_ready_pods, create_set, dry_run,
    has_no_scoped_webhooks, pod, pod_with, set, status, update_image, updated_count,
};

fn policy_operator() -> Operator {
    operator_with(Injector::Policy)
}

/// The first minor version of Kubernetes that serves MutatingAdmissionPolicies by default.
const FIRST_MINOR_WITH_POLICIES: u32 = 36;

/// How long the policy of a deleted set may remain. The garbage collector of a real cluster
/// discovers new kinds every 30 seconds; an object whose owner was of an unknown kind is retried
/// with a growing backoff, 41 or 82 seconds after it was created.
const COLLECTION_TIMEOUT: Duration = Duration::from_secs(90);

/// Runs the operator, and returns whether the cluster serves policies. If it does not, a set has the
/// reason `NotServed` and its Pods are injected by the webhook.
async fn run_with_policies(cluster: &Cluster) -> bool {
    cluster.run(policy_operator).await;
    let response = cluster.client().apiserver_version().await;
    let version = response.expect("the version of the server");
    let minor: u32 = version
        .minor
        .trim_end_matches('+')
        .parse()
        .expect("a number");
    if minor >= FIRST_MINOR_WITH_POLICIES {
        return true;
    }
    create_active_set(cluster, set("older", json!({}))).await;
    assert_eq!(policy_reason(cluster, "older").await, "NotServed");
    wait_until_injected(cluster, "older").await;
    false
}

/// Returns the reason of the condition `InjectedByPolicy`.
async fn policy_reason(cluster: &Cluster, name: &str) -> String {
    let status = status(cluster, name).await;
    let mut conditions = status.conditions.into_iter();
    let policy = conditions.find(|condition| condition.type_ == POLICY_CONDITION);
    policy.map(|condition| condition.reason).unwrap_or_default()
}

/// Waits until the policies of all sets are effective, so that the webhook is called for no Pod.
async fn wait_until_effective(cluster: &Cluster, name: &str) {
    cluster
        .eventually("the policy is effective", async |c| {
            policy_reason(c, name).await == "Plain"
        })
        .await;
    cluster
        .eventually("the webhook is called for no Pod", has_no_scoped_webhooks)
        .await;
}

/// Waits until a Pod gets the sidecar in a dry run: a real API server loads policies and webhooks
/// with a delay.
async fn wait_until_injected(cluster: &Cluster, name: &str) {
    cluster
        .eventually("Pods get the sidecar", async |c| {
            let pod = dry_run(c, c.namespace(), &pod("probe", name)).await;
            pod.is_ok_and(|pod| containers(&pod) == ["side", "app"])
        })
        .await;
}

async fn has_policy(cluster: &Cluster, set: &str) -> bool {
    let name = format!("sidecarset.{set}");
    let policy = cluster.get::<MutatingAdmissionPolicy>(&name).await;
    let binding = cluster.get::<MutatingAdmissionPolicyBinding>(&name).await;
    policy.is_some() || binding.is_some()
}

#[kubewright_testing::test(nodes = 1)]
async fn pods_of_a_plain_set_are_injected_while_the_operator_is_down(cluster: Cluster) {
    if !run_with_policies(&cluster).await {
        return;
    }
    let created = create_set(&cluster, set("plain", json!({}))).await;
    wait_until_effective(&cluster, "plain").await;
    cluster.kill_operator();
    wait_until_injected(&cluster, "plain").await;

    let other = json!({"annotations": {"a": "b", HASH_ANNOTATION: r#"{"other":"h"}"#}});
    for (name, metadata) in [("bare", json!({})), ("annotated", other)] {
        let pod = pod_with(name, "plain", metadata, json!({}));
        let pod = cluster.create(pod).await;
        assert_eq!(containers(&pod), ["side", "app"], "{name}");
        let env = container(&pod, "side")["env"].clone();
        assert_eq!(env, json!([{"name": INJECTED, "value": "true"}]));
        assert_eq!(
            injections(&pod)["plain"].hash,
            spec_hash(&created),
            "{name}"
        );
        assert!(injected_sets(&pod).contains("plain"), "{name}");
        if name == "annotated" {
            assert_eq!(pod.annotations()["a"], "b");
            assert_eq!(injections(&pod)["other"].hash, "h");
        }
    }
    // A Pod with a container of that name itself is not injected.
    let own = pod_with("own", "plain", json!({}), json!({"name": "side"}));
    let own = cluster.create(own).await;
    assert_eq!(containers(&own), ["side"]);
    assert!(injected_sets(&own).is_empty());

    cluster.restart_operator().await;
    cluster
        .eventually("all Pods are counted", async |c| {
            let status = status(c, "plain").await;
            let counts = (status.matched_pods, status.updated_pods);
            counts == (2, 2) && status.uninjected_pods == 1
        })
        .await;
}

#[kubewright_testing::test(nodes = 1)]
async fn new_image_is_written_to_the_policy_and_rolled_out_to_running_pods(cluster: Cluster) {
    if !run_with_policies(&cluster).await {
        return;
    }
    create_active_set(&cluster, set("rolled", json!({}))).await;
    wait_until_effective(&cluster, "rolled").await;
    wait_until_injected(&cluster, "rolled").await;
    create_ready_pods(&cluster, [pod("a", "rolled"), pod("b", "rolled")]).await;
    update_image(&cluster, "rolled", json!({})).await;
    cluster
        .eventually("both Pods are updated and ready", async |c| {
            let status = status(c, "rolled").await;
            updated_count(c).await == 2 && status.updated_ready_pods == 2
        })
        .await;
    cluster
        .eventually("the policy has the new image", async |c| {
            let policy = c.get::<MutatingAdmissionPolicy>("sidecarset.rolled").await;
            json!(policy).to_string().contains(NEW_IMAGE)
        })
        .await;
}

#[kubewright_testing::test(nodes = 1)]
async fn policy_is_deleted_while_the_set_is_not_plain(cluster: Cluster) {
    if !run_with_policies(&cluster).await {
        return;
    }
    let volumes = json!([{"name": "v", "emptyDir": {}}]);
    create_active_set(&cluster, set("changing", json!({"volumes": volumes}))).await;
    assert_eq!(policy_reason(&cluster, "changing").await, "NotPlain");
    assert!(!has_policy(&cluster, "changing").await);

    let patch = |volumes: Value| json!({"spec": {"volumes": volumes}});
    cluster
        .patch::<SidecarSet>("changing", patch(Value::Null))
        .await;
    wait_until_effective(&cluster, "changing").await;
    wait_until_injected(&cluster, "changing").await;
    assert!(has_policy(&cluster, "changing").await);

    cluster
        .patch::<SidecarSet>("changing", patch(volumes))
        .await;
    cluster
        .eventually("the policy is deleted", async |c| {
            policy_reason(c, "changing").await == "NotPlain" && !has_policy(c, "changing").await
        })
        .await;
    wait_until_injected(&cluster, "changing").await;
}

#[kubewright_testing::test(nodes = 1)]
async fn deleted_policy_is_recreated_and_is_deleted_with_its_set(cluster: Cluster) {
    if !run_with_policies(&cluster).await {
        return;
    }
    create_set(&cluster, set("owned", json!({}))).await;
    wait_until_effective(&cluster, "owned").await;
    cluster
        .delete::<MutatingAdmissionPolicyBinding>("sidecarset.owned")
        .await;
    cluster
        .eventually("the binding is recreated", async |c| {
            let name = "sidecarset.owned";
            let binding = c.get::<MutatingAdmissionPolicyBinding>(name).await;
            binding.is_some()
        })
        .await;
    cluster.delete::<SidecarSet>("owned").await;
    cluster
        .eventually_within(
            COLLECTION_TIMEOUT,
            "the policy is deleted with the set",
            async |c| !has_policy(c, "owned").await,
        )
        .await;
}

/// The set has a status, and its Pods are injected.
#[kubewright_testing::test(nodes = 1)]
async fn set_whose_policy_is_rejected_is_injected_by_the_webhook(cluster: Cluster) {
    if !run_with_policies(&cluster).await {
        return;
    }
    let fault = Fault::invalid().on(Verb::Patch, "mutatingadmissionpolicies");
    let rejected = cluster.inject(fault);
    create_active_set(&cluster, set("rejected", json!({}))).await;
    cluster.wait_for_fault(&rejected).await;
    cluster
        .eventually("the set reports the rejection", async |c| {
            policy_reason(c, "rejected").await == "Rejected"
        })
        .await;
    assert!(!has_policy(&cluster, "rejected").await);
}

#[kubewright_testing::test(nodes = 1)]
async fn denied_list_of_policies_is_retried(cluster: Cluster) {
    if !run_with_policies(&cluster).await {
        return;
    }
    let fault = Fault::rejected(403, "injected by a test");
    let denied = cluster.inject(fault.on(Verb::List, "mutatingadmissionpolicies"));
    create_set(&cluster, set("denied", json!({}))).await;
    cluster.wait_for_fault(&denied).await;
    update_image(&cluster, "denied", json!({})).await;
    wait_until_effective(&cluster, "denied").await;
}

#[test]
fn role_covers_policies_only_with_the_policy_injector() {
    let can_create = |operator: Operator| {
        let rules = operator.description().rules();
        let group = "admissionregistration.k8s.io";
        rules
            .iter()
            .any(|rule| rule.allows("create", group, "mutatingadmissionpolicies"))
    };
    assert!(can_create(policy_operator()));
    assert!(!can_create(operator()));
}
