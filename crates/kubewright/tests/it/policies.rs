//! Policies: rules that the API server evaluates itself.

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

use crate::example_code::policies;
use crate::webhooks::{error_of, started};

fn config_map(name: &str, labels: Value) -> ConfigMap {
    let map = json!({"metadata": {"name": name, "labels": labels}});
    serde_json::from_value(map).expect("a ConfigMap")
}

/// Creates a guarded ConfigMap without the label `team`.
async fn create_nameless(
    cluster: &Cluster,
    params: &PostParams,
) -> Result<ConfigMap, Box<kube::core::Status>> {
    let maps: Api<ConfigMap> = Api::namespaced(cluster.client(), cluster.namespace());
    let nameless = config_map("nameless", json!({"guarded": "yes"}));
    match maps.create(params, &nameless).await {
        Ok(created) => Ok(created),
        Err(kube::Error::Api(status)) => Err(status),
        Err(other) => unreachable!("the server responds: {other:?}"),
    }
}

/// Returns the message of the denial of a ConfigMap without a team. One with a team becomes immutable,
/// and one that is not guarded is unchanged.
async fn denial_of_guarded(cluster: &Cluster) -> String {
    let nameless = create_nameless(cluster, &PostParams::default()).await;
    let status = nameless.expect_err("it is denied");
    assert_eq!(status.code, 422, "{status:?}");

    let labels = json!({"guarded": "yes", "team": "a"});
    let named = cluster.create(config_map("named", labels)).await;
    assert_eq!(named.immutable, Some(true));
    let other = cluster.create(config_map("other", json!({}))).await;
    assert_eq!(other.immutable, None);
    status.message
}

#[kubewright_testing::test]
async fn policies_are_enforced_while_the_operator_is_down(cluster: Cluster) {
    cluster.run(policies::operator).await;
    cluster.stop_operator().await;
    let message = denial_of_guarded(&cluster).await;
    let policy = "ValidatingAdmissionPolicy 'guard.labelled' with binding 'guard.labelled'";
    let expected = format!("{policy} denied request: name the team");
    assert!(message.contains(&expected), "{message}");
}

#[kubewright_testing::test]
async fn fallback_webhooks_replace_policies(cluster: Cluster) {
    let operator = || policies::operator().without_policies().expect("fallbacks");
    cluster.run(operator).await;
    // A real server enforces the policies of the test before for a moment longer.
    let dry_run = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    cluster
        .eventually("no policy is enforced", async |c| {
            let created = create_nameless(c, &dry_run).await;
            created.is_err_and(|status| !status.message.contains("AdmissionPolicy"))
        })
        .await;
    let message = denial_of_guarded(&cluster).await;
    assert!(message.contains("metadata.labels[team]"), "{message}");
}

#[test]
fn policy_defaults_to_create_and_update_and_exempts_system_namespaces() {
    let operator = Operator::new("guard")
        .policy(Policy::validates::<Pod>("default").rule("true", "no"))
        .policy(
            Policy::mutates::<Pod>("custom")
                .patch("[]")
                .on(Operation::Create)
                .on_failure(FailurePolicy::Ignore)
                .exempt(Exemption::Nothing)
                .reinvoke(Reinvocation::IfNeeded)
                .parameter::<ConfigMap>("limits", MissingParameter::Allow),
        );
    let described = operator.description().policies;
    let [default, custom]: [PolicyDescription; 2] = described.try_into().expect("two");
    assert_eq!(default.name, "guard.default");
    assert_eq!(default.operations, [Operation::Create, Operation::Update]);
    assert_eq!(default.exemption, Exemption::SystemNamespaces);
    assert_eq!(default.failure_policy, FailurePolicy::Fail);
    assert!(
        matches!(&default.effect, PolicyEffect::Validating { actions, .. }
            if *actions == [PolicyAction::Deny])
    );
    assert_eq!(custom.operations, [Operation::Create]);
    assert_eq!(custom.exemption, Exemption::Nothing);
    assert_eq!(custom.failure_policy, FailurePolicy::Ignore);
    let parameter = custom.parameter.expect("a parameter");
    assert_eq!(parameter.resource.kind.kind, "ConfigMap");
}

#[tokio::test]
async fn invalid_policy_is_an_error_at_the_start() {
    let validates = || Policy::validates::<Pod>("p").rule("true", "no");
    let mutates = || Policy::mutates::<Pod>("p").patch("[]");
    let with_validation =
        |policy| Operator::new("guard").policy::<kubewright::policy::Validation>(policy);
    let with_mutation =
        |policy| Operator::new("guard").policy::<kubewright::policy::Mutation>(policy);
    for (operator, expected) in [
        (
            with_validation(validates()).policy(mutates()),
            "register policy \"p\" twice: give one of them another name",
        ),
        (
            with_validation(validates().objects("app in")),
            "select by \"app in\" in policy \"p\"",
        ),
        (
            with_validation(Policy::validates::<Pod>("p")),
            "register policy \"p\": it has no rule; add .rule(expression, message)",
        ),
        (
            with_validation(validates().rule(" ", "no")),
            "register policy \"p\": one of its expressions is empty",
        ),
        (
            with_validation(validates().rule("true", "two\nlines")),
            "register policy \"p\": the message of a rule is one line of text",
        ),
        (
            with_validation(
                validates()
                    .action(PolicyAction::Deny)
                    .action(PolicyAction::Warn),
            ),
            "register policy \"p\": a denied request needs no warning; use one of \
             PolicyAction::Deny and PolicyAction::Warn",
        ),
        (
            with_mutation(Policy::mutates::<Pod>("p")),
            "register policy \"p\": it changes nothing; add .patch(expression)",
        ),
        (
            with_mutation(mutates().on(Operation::Delete)),
            "register policy \"p\": a deleted object cannot be changed; leave Operation::Delete out",
        ),
        (
            with_mutation(mutates().when("a", "true").when("a", "false")),
            "register policy \"p\": two of its conditions have the same name; rename one of them",
        ),
        (
            with_mutation(
                Policy::mutates::<Node>("p")
                    .patch("[]")
                    .parameter::<ConfigMap>("c", MissingParameter::Deny),
            ),
            "register policy \"p\": its objects are cluster-scoped, but its parameter is in the \
             namespace of the object; use a parameter of a cluster-scoped kind",
        ),
    ] {
        assert_eq!(error_of(operator).to_string(), expected);
    }
    let unnamed = Policy::mutates::<Pod>("My Policy").patch("[]");
    let error = error_of(with_mutation(unnamed)).to_string();
    assert!(error.starts_with("name a policy \"My Policy\""), "{error}");
}

#[tokio::test]
async fn policy_that_could_stop_all_pods_is_an_error() {
    let everywhere = || {
        Policy::validates::<Pod>("wide")
            .rule("true", "no")
            .exempt(Exemption::Nothing)
    };
    assert_eq!(
        error_of(Operator::new("guard").policy(everywhere())).to_string(),
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

/// Three policies of one kind and effect. The fallback of the last has its own scope.
#[tokio::test]
async fn fallback_webhook_defaults_to_the_scope_of_its_policy() {
    let policy = |name: &str, webhook: Webhook| {
        Policy::validates::<ConfigMap>(name)
            .rule("true", "no")
            .fallback(webhook)
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
    let operator = operator.without_policies().expect("fallbacks");
    let webhooks = operator.description().webhooks;
    let each = |field: fn(&WebhookDescription) -> String| -> Vec<String> {
        webhooks.iter().map(field).collect()
    };
    assert_eq!(
        each(|webhook| webhook.path.clone()),
        [
            "/validate--v1-configmap/one",
            "/validate--v1-configmap/two",
            "/own"
        ]
    );
    assert_eq!(
        each(|webhook| webhook.name.clone()),
        [
            "one.vconfigmap-v1.guard.core",
            "two.vconfigmap-v1.guard.core",
            "three.vconfigmap-v1.guard.core"
        ]
    );
    assert_eq!(
        each(|webhook| webhook.objects.to_string()),
        ["guarded", "guarded", "own"]
    );
    assert!(
        each(|webhook| webhook.namespaces.to_string())
            .iter()
            .all(|namespaces| namespaces == "team=a")
    );
    let [first, _, third] = &webhooks[..] else {
        panic!("three webhooks: {webhooks:?}");
    };
    assert_eq!(first.operations, [Operation::Create]);
    assert_eq!(first.exemption, Exemption::Nothing);
    assert_eq!(first.failure_policy, FailurePolicy::Ignore);
    assert_eq!(third.operations, [Operation::Update]);
    assert_eq!(third.exemption, Exemption::SystemNamespaces);
    assert_eq!(third.failure_policy, FailurePolicy::Fail);
    let started = started(operator);
    assert!(started.is_ok(), "{started:?}");
}

#[test]
fn policy_without_a_fallback_cannot_be_replaced() {
    let operator = Operator::new("guard").policy(Policy::mutates::<Pod>("marked").patch("[]"));
    let error = operator.without_policies().expect_err("no fallback");
    assert_eq!(
        error.to_string(),
        "replace policy \"marked\" by a webhook: it has no fallback; add .fallback(Webhook::..) \
         to it, or leave --no-policies out"
    );
}
