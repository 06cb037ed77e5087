//! Policies: rules that the API server follows by itself.

use k8s_openapi::api::core::v1::Node;
use kube::Api;
use kube::api::PostParams;
use kubewright::Policy;
use kubewright::description::{Exemption, PolicyDescription, WebhookDescription};
use kubewright::policy::{MissingParameter, PolicyAction, PolicyEffect};
use kubewright::prelude::*;
use kubewright::webhook::{Change, FailurePolicy, Findings, Operation, Reinvocation};
use kubewright_testing::Cluster;
use serde_json::{Value, json};

use crate::shown::policies;
use crate::webhooks::{refused, started};

fn config_map(name: &str, labels: Value) -> ConfigMap {
    let map = json!({"metadata": {"name": name, "labels": labels}});
    serde_json::from_value(map).expect("a ConfigMap")
}

/// What the API server says to a ConfigMap that names no team, which may be only tried out.
async fn try_nameless(
    cluster: &Cluster,
    dry_run: bool,
) -> Result<ConfigMap, Box<kube::core::Status>> {
    let maps: Api<ConfigMap> = Api::namespaced(cluster.client(), cluster.namespace());
    let params = PostParams {
        dry_run,
        ..PostParams::default()
    };
    let nameless = config_map("nameless", json!({"guarded": "yes"}));
    match maps.create(&params, &nameless).await {
        Ok(made) => Ok(made),
        Err(kube::Error::Api(status)) => Err(status),
        Err(other) => unreachable!("the server answers: {other:?}"),
    }
}

/// What the API server says to a ConfigMap that names no team; one that does is kept, one that
/// is not guarded is let be.
async fn said_of_a_guarded_one(cluster: &Cluster) -> String {
    let nameless = try_nameless(cluster, false).await;
    let status = nameless.expect_err("it is refused");
    assert_eq!(status.code, 422, "{status:?}");

    let labels = json!({"guarded": "yes", "team": "a"});
    let made = cluster.create(config_map("named", labels)).await;
    assert_eq!(made.immutable, Some(true));
    let other = cluster.create(config_map("other", json!({}))).await;
    assert_eq!(other.immutable, None);
    status.message
}

#[kubewright_testing::test]
async fn policies_act_while_the_operator_is_down(cluster: Cluster) {
    cluster.run(policies::operator).await;
    cluster.stop_operator().await;
    let said = said_of_a_guarded_one(&cluster).await;
    let policy = "ValidatingAdmissionPolicy 'guard.labelled' with binding 'guard.labelled'";
    let wanted = format!("{policy} denied request: name the team");
    assert!(said.contains(&wanted), "{said}");
}

#[kubewright_testing::test]
async fn webhooks_do_the_same_where_no_policies_are_served(cluster: Cluster) {
    let older = || policies::operator().without_policies().expect("stand-ins");
    cluster.run(older).await;
    // A real server follows the policies of the test before for a moment longer.
    cluster
        .eventually("no policy acts", async |c| {
            let tried = try_nameless(c, true).await;
            tried.is_err_and(|status| !status.message.contains("AdmissionPolicy"))
        })
        .await;
    let said = said_of_a_guarded_one(&cluster).await;
    assert!(said.contains("metadata.labels[team]"), "{said}");
}

#[test]
fn a_policy_is_for_create_and_update_and_spares_the_system_unless_it_says_otherwise() {
    let operator = Operator::new("guard")
        .policy(Policy::validates::<Pod>("usual").rule("true", "no"))
        .policy(
            Policy::mutates::<Pod>("unusual")
                .patch("[]")
                .on(Operation::Create)
                .on_failure(FailurePolicy::Ignore)
                .exempt(Exemption::Nothing)
                .reinvoke(Reinvocation::IfNeeded)
                .parameter::<ConfigMap>("limits", MissingParameter::Allow),
        );
    let described = operator.description().policies;
    let [usual, unusual]: [PolicyDescription; 2] = described.try_into().expect("two");
    assert_eq!(usual.name, "guard.usual");
    assert_eq!(usual.operations, [Operation::Create, Operation::Update]);
    assert_eq!(usual.exemption, Exemption::SystemNamespaces);
    assert_eq!(usual.failure_policy, FailurePolicy::Fail);
    assert!(
        matches!(&usual.effect, PolicyEffect::Validating { actions, .. }
            if *actions == [PolicyAction::Deny])
    );
    assert_eq!(unusual.operations, [Operation::Create]);
    assert_eq!(unusual.exemption, Exemption::Nothing);
    assert_eq!(unusual.failure_policy, FailurePolicy::Ignore);
    let parameter = unusual.parameter.expect("a parameter");
    assert_eq!(parameter.resource.kind.kind, "ConfigMap");
}

#[tokio::test]
async fn what_the_api_server_would_not_take_is_refused_when_the_operator_starts() {
    let judges = || Policy::validates::<Pod>("p").rule("true", "no");
    let changes = || Policy::mutates::<Pod>("p").patch("[]");
    let with_judge =
        |policy| Operator::new("guard").policy::<kubewright::policy::Validation>(policy);
    let with_change =
        |policy| Operator::new("guard").policy::<kubewright::policy::Mutation>(policy);
    for (operator, wanted) in [
        (
            with_judge(judges()).policy(changes()),
            "register policy \"p\" twice: give one of them another name",
        ),
        (
            with_judge(judges().objects("app in")),
            "select by \"app in\" in policy \"p\"",
        ),
        (
            with_judge(Policy::validates::<Pod>("p")),
            "register policy \"p\": it has no rule; add .rule(expression, message)",
        ),
        (
            with_judge(judges().rule(" ", "no")),
            "register policy \"p\": one of its expressions is empty",
        ),
        (
            with_judge(judges().rule("true", "two\nlines")),
            "register policy \"p\": the message of a rule is one line of text",
        ),
        (
            with_judge(
                judges()
                    .action(PolicyAction::Deny)
                    .action(PolicyAction::Warn),
            ),
            "register policy \"p\": who is refused need not be warned; take one of \
             PolicyAction::Deny and PolicyAction::Warn",
        ),
        (
            with_change(Policy::mutates::<Pod>("p")),
            "register policy \"p\": it changes nothing; add .patch(expression)",
        ),
        (
            with_change(changes().on(Operation::Delete)),
            "register policy \"p\": what is deleted cannot be changed; leave Operation::Delete out",
        ),
        (
            with_change(changes().when("a", "true").when("a", "false")),
            "register policy \"p\": two of its conditions have one name; give each another",
        ),
        (
            with_change(
                Policy::mutates::<Node>("p")
                    .patch("[]")
                    .parameter::<ConfigMap>("c", MissingParameter::Deny),
            ),
            "register policy \"p\": its objects are in no namespace, where its parameter would be \
             looked for; take a parameter of a kind that is in none",
        ),
    ] {
        assert_eq!(refused(operator).to_string(), wanted);
    }
    let unnamed = Policy::mutates::<Pod>("My Policy").patch("[]");
    let unnamed = refused(with_change(unnamed)).to_string();
    assert!(
        unnamed.starts_with("name a policy \"My Policy\""),
        "{unnamed}"
    );
}

#[tokio::test]
async fn a_policy_that_could_stop_every_pod_is_refused_with_the_reason() {
    let everywhere = || {
        Policy::validates::<Pod>("wide")
            .rule("true", "no")
            .exempt(Exemption::Nothing)
    };
    assert_eq!(
        refused(Operator::new("guard").policy(everywhere())).to_string(),
        "register policy \"wide\" for the Pods of all namespaces with FailurePolicy::Fail: where \
         an expression has no value no Pod could start, not even the operator's own; leave \
         .exempt(..) out, choose Pods with .objects(..) or .namespaces(..), or use \
         .on_failure(FailurePolicy::Ignore)"
    );
    for narrower in [
        everywhere().exempt(Exemption::SystemNamespaces),
        everywhere().objects("app=web"),
        everywhere().namespaces("team=a"),
        everywhere().on_failure(FailurePolicy::Ignore),
    ] {
        let started = started(Operator::new("guard").policy(narrower));
        assert!(started.is_ok(), "{started:?}");
    }
}

/// Three of one kind and effect, the last of which says itself what it is for.
#[tokio::test]
async fn a_webhook_that_stands_in_is_for_what_its_policy_is_for() {
    let policy = |name: &str, webhook: Webhook| {
        Policy::validates::<ConfigMap>(name)
            .rule("true", "no")
            .stand_in(webhook)
            .on(Operation::Create)
            .objects("guarded")
            .namespaces("team=a")
            .exempt(Exemption::Nothing)
            .on_failure(FailurePolicy::Ignore)
    };
    let webhook = || Webhook::validates(|_: &Change<ConfigMap>, _: &mut Findings| {});
    let own = webhook()
        .on(Operation::Update)
        .objects("own")
        .exempt(Exemption::SystemNamespaces)
        .on_failure(FailurePolicy::Fail)
        .path("/own");
    let operator = Operator::new("guard")
        .policy(policy("one", webhook()))
        .policy(policy("two", webhook()))
        .policy(policy("three", own));
    let operator = operator.without_policies().expect("stand-ins");
    let webhooks = operator.description().webhooks;
    let told = |field: fn(&WebhookDescription) -> String| -> Vec<String> {
        webhooks.iter().map(field).collect()
    };
    assert_eq!(
        told(|one| one.path.clone()),
        [
            "/validate--v1-configmap/one",
            "/validate--v1-configmap/two",
            "/own"
        ]
    );
    assert_eq!(
        told(|one| one.name.clone()),
        [
            "one.vconfigmap-v1.guard.core",
            "two.vconfigmap-v1.guard.core",
            "three.vconfigmap-v1.guard.core"
        ]
    );
    assert_eq!(
        told(|one| one.objects.to_string()),
        ["guarded", "guarded", "own"]
    );
    assert!(
        told(|one| one.namespaces.to_string())
            .iter()
            .all(|one| one == "team=a")
    );
    let [one, _, three] = &webhooks[..] else {
        panic!("three webhooks: {webhooks:?}");
    };
    assert_eq!(one.operations, [Operation::Create]);
    assert_eq!(one.exemption, Exemption::Nothing);
    assert_eq!(one.failure_policy, FailurePolicy::Ignore);
    assert_eq!(three.operations, [Operation::Update]);
    assert_eq!(three.exemption, Exemption::SystemNamespaces);
    assert_eq!(three.failure_policy, FailurePolicy::Fail);
    let started = started(operator);
    assert!(started.is_ok(), "{started:?}");
}

#[test]
fn a_policy_without_a_webhook_cannot_be_done_without() {
    let operator = Operator::new("guard").policy(Policy::mutates::<Pod>("marked").patch("[]"));
    let error = operator.without_policies().expect_err("nothing stands in");
    assert_eq!(
        error.to_string(),
        "do without policy \"marked\": no webhook stands in for it; add .stand_in(Webhook::..) \
         to it, or leave --no-policies out"
    );
}
