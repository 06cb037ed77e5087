//! Injection by policies: sidecars without the operator.

use k8s_openapi::api::admissionregistration::v1::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding,
};
use kube::Api;
use kube::api::PostParams;
use kubewright::Verb;
use kubewright::prelude::*;
use kubewright_testing::{Cluster, Fault};
use serde_json::{Value, json};
use sidecarset::{
    HASH_ANNOTATION, INJECTED, Injection, POLICY_CONDITION, SidecarSet, injected, injected_list,
    operator, operator_with, spec_hash,
};

use crate::world::{
    NEWER, active, asks_nobody, change, container, containers, known, newer, pod, pod_with,
    running, set, status,
};

fn by_policy() -> Operator {
    operator_with(Injection::Policy)
}

/// The first minor version of Kubernetes that serves mutating policies unasked.
const SERVES_POLICIES: u32 = 36;

/// How long what a set owns may outlive it. A real cluster's garbage collector learns of new kinds
/// every 30 seconds; what had an owner of an unknown kind is looked at again after twice as long
/// each time, that is 41 seconds, or 82, after it was made.
const COLLECTED: Duration = Duration::from_secs(90);

/// Runs the operator, and says whether the cluster serves policies. On one that does not, a set says
/// so and its Pods get their sidecars from the webhook.
async fn runs_by_policy(cluster: &Cluster) -> bool {
    cluster.run(by_policy).await;
    let version = cluster.client().apiserver_version().await;
    let minor = version.expect("the server answers").minor;
    let minor: u32 = minor.trim_end_matches('+').parse().expect("a number");
    if minor >= SERVES_POLICIES {
        return true;
    }
    active(cluster, set("older", json!({}))).await;
    assert_eq!(why(cluster, "older").await, "NotServed");
    is_injected(cluster, "older").await;
    false
}

/// Why a set's policy acts or does not, in one word.
async fn why(cluster: &Cluster, name: &str) -> String {
    let status = status(cluster, name).await;
    let mut conditions = status.conditions.into_iter();
    let policy = conditions.find(|one| one.type_ == POLICY_CONDITION);
    policy.map(|one| one.reason).unwrap_or_default()
}

/// Waits until the policies of all sets act, so that nobody is asked about Pods any more.
async fn settled(cluster: &Cluster, name: &str) {
    cluster
        .eventually("the policy acts", async |c| why(c, name).await == "Plain")
        .await;
    cluster
        .eventually("the API server asks nobody about Pods", asks_nobody)
        .await;
}

/// Waits until a Pod that is only tried out gets the sidecar: a real server learns last what to
/// do, and whom not to ask.
async fn is_injected(cluster: &Cluster, name: &str) {
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let pods: Api<Pod> = Api::namespaced(cluster.client(), cluster.namespace());
    cluster
        .eventually("Pods get the sidecar", async |_| {
            let made = pods.create(&params, &pod("probe", name)).await;
            made.is_ok_and(|made| containers(&made) == ["side", "app"])
        })
        .await;
}

async fn has_policy(cluster: &Cluster, set: &str) -> bool {
    let name = format!("sidecarset.{set}");
    let policy = cluster.get::<MutatingAdmissionPolicy>(&name).await;
    let binding = cluster.get::<MutatingAdmissionPolicyBinding>(&name).await;
    policy.is_some() || binding.is_some()
}

/// The set is made, the operator ends, Pods come, and it counts them when it is back.
#[kubewright_testing::test(nodes = 1)]
async fn with_the_operator_stopped_pods_of_a_plain_set_get_their_sidecar(cluster: Cluster) {
    if !runs_by_policy(&cluster).await {
        return;
    }
    let made = known(&cluster, set("plain", json!({}))).await;
    settled(&cluster, "plain").await;
    cluster.kill_operator();
    is_injected(&cluster, "plain").await;

    let other = json!({"annotations": {"a": "b", HASH_ANNOTATION: r#"{"other":"h"}"#}});
    for (name, metadata) in [("bare", json!({})), ("annotated", other)] {
        let pod = pod_with(name, "plain", metadata, json!({}));
        let pod = cluster.create(pod).await;
        assert_eq!(containers(&pod), ["side", "app"], "{name}");
        let env = container(&pod, "side")["env"].clone();
        assert_eq!(env, json!([{"name": INJECTED, "value": "true"}]));
        assert_eq!(injected(&pod)["plain"].hash, spec_hash(&made), "{name}");
        assert!(injected_list(&pod).contains("plain"), "{name}");
        if name == "annotated" {
            assert_eq!(pod.annotations()["a"], "b");
            assert_eq!(injected(&pod)["other"].hash, "h");
        }
    }
    // A container of the Pod's own is left alone.
    let own = pod_with("own", "plain", json!({}), json!({"name": "side"}));
    let own = cluster.create(own).await;
    assert_eq!(containers(&own), ["side"]);
    assert!(injected_list(&own).is_empty());

    cluster.restart_operator().await;
    cluster
        .eventually("all Pods are counted", async |c| {
            let status = status(c, "plain").await;
            let counts = (status.matched_pods, status.updated_pods);
            counts == (2, 2) && status.uninjected_pods == 1
        })
        .await;
}

/// The policy follows the set, and running Pods follow as ever.
#[kubewright_testing::test(nodes = 1)]
async fn a_newer_image_gets_into_the_policy_and_into_running_pods(cluster: Cluster) {
    if !runs_by_policy(&cluster).await {
        return;
    }
    active(&cluster, set("rolled", json!({}))).await;
    settled(&cluster, "rolled").await;
    is_injected(&cluster, "rolled").await;
    running(&cluster, [pod("a", "rolled"), pod("b", "rolled")]).await;
    change(&cluster, "rolled", json!({})).await;
    cluster
        .eventually("both Pods are updated and ready", async |c| {
            let status = status(c, "rolled").await;
            newer(c).await == 2 && status.updated_ready_pods == 2
        })
        .await;
    cluster
        .eventually("the policy has the newer image", async |c| {
            let policy = c.get::<MutatingAdmissionPolicy>("sidecarset.rolled").await;
            json!(policy).to_string().contains(NEWER)
        })
        .await;
}

/// Plain or not: the set says so, and the policy comes and goes.
#[kubewright_testing::test(nodes = 1)]
async fn a_set_that_is_not_plain_stays_with_the_webhook(cluster: Cluster) {
    if !runs_by_policy(&cluster).await {
        return;
    }
    let volumes = json!([{"name": "v", "emptyDir": {}}]);
    active(&cluster, set("turns", json!({"volumes": volumes}))).await;
    assert_eq!(why(&cluster, "turns").await, "NotPlain");
    assert!(!has_policy(&cluster, "turns").await);

    let patch = |volumes: Value| json!({"spec": {"volumes": volumes}});
    cluster
        .patch::<SidecarSet>("turns", patch(Value::Null))
        .await;
    settled(&cluster, "turns").await;
    is_injected(&cluster, "turns").await;
    assert!(has_policy(&cluster, "turns").await);

    cluster.patch::<SidecarSet>("turns", patch(volumes)).await;
    cluster
        .eventually("the policy is gone", async |c| {
            why(c, "turns").await == "NotPlain" && !has_policy(c, "turns").await
        })
        .await;
    is_injected(&cluster, "turns").await;
}

#[kubewright_testing::test(nodes = 1)]
async fn a_policy_that_somebody_deletes_comes_back_and_goes_with_its_set(cluster: Cluster) {
    if !runs_by_policy(&cluster).await {
        return;
    }
    known(&cluster, set("owned", json!({}))).await;
    settled(&cluster, "owned").await;
    cluster
        .delete::<MutatingAdmissionPolicyBinding>("sidecarset.owned")
        .await;
    cluster
        .eventually("it is bound again", async |c| {
            let name = "sidecarset.owned";
            let binding = c.get::<MutatingAdmissionPolicyBinding>(name).await;
            binding.is_some()
        })
        .await;
    cluster.delete::<SidecarSet>("owned").await;
    cluster
        .eventually_within(COLLECTED, "the policy goes with the set", async |c| {
            !has_policy(c, "owned").await
        })
        .await;
}

/// The set is looked after all the same: it has a status, and its Pods get the sidecar.
#[kubewright_testing::test(nodes = 1)]
async fn a_policy_that_is_refused_leaves_its_set_to_the_webhook(cluster: Cluster) {
    if !runs_by_policy(&cluster).await {
        return;
    }
    let fault = Fault::invalid().on(Verb::Patch, "mutatingadmissionpolicies");
    let refused = cluster.inject(fault);
    active(&cluster, set("refused", json!({}))).await;
    cluster.met(&refused).await;
    cluster
        .eventually("the set says why", async |c| {
            why(c, "refused").await == "Refused"
        })
        .await;
    assert!(!has_policy(&cluster, "refused").await);
}

/// A right that is missing stops no set, and is looked for again.
#[kubewright_testing::test(nodes = 1)]
async fn policies_that_may_not_be_read_are_asked_for_again(cluster: Cluster) {
    if !runs_by_policy(&cluster).await {
        return;
    }
    let fault = Fault::refused(403, "injected by a test");
    let denied = cluster.inject(fault.on(Verb::List, "mutatingadmissionpolicies"));
    known(&cluster, set("denied", json!({}))).await;
    cluster.met(&denied).await;
    change(&cluster, "denied", json!({})).await;
    settled(&cluster, "denied").await;
}

#[test]
fn policies_are_granted_only_where_they_are_made() {
    let may_write = |operator: Operator| {
        let rules = operator.description().rules();
        let group = "admissionregistration.k8s.io";
        let mut rules = rules.iter();
        rules.any(|rule| rule.allows("create", group, "mutatingadmissionpolicies"))
    };
    assert!(may_write(by_policy()));
    assert!(!may_write(operator()));
}
