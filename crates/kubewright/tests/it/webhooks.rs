//! The registration of webhooks, and the errors of invalid ones.

use std::time::Duration;

use k8s_openapi::api::core::v1::Node;
use kubewright::description::Exemption;
use kubewright::prelude::*;
use kubewright::queue::Priority;
use kubewright::webhook::{Admission, Change, Denied, FailurePolicy, Findings, Operation};
use kubewright::{Error, Policy, Running};

fn nothing(_: &Change<Pod>, _: &mut Findings) {}

async fn same(pod: Pod, _: Admission) -> Result<Pod, Denied> {
    Ok(pod)
}

fn described(webhook: Webhook) -> kubewright::description::WebhookDescription {
    let mut webhooks = Operator::new("op").webhook(webhook).description().webhooks;
    webhooks.remove(0)
}

#[test]
fn webhook_defaults_to_create_and_update() {
    use Operation::{Create, Delete, Update};
    let of = |webhook| described(webhook).operations;
    assert_eq!(of(Webhook::validates(nothing)), [Create, Update]);
    assert_eq!(of(Webhook::mutates(same).on(Create)), [Create]);
    let all = Webhook::validates(nothing)
        .on(Create)
        .on(Update)
        .on(Delete)
        .on(Delete);
    assert_eq!(of(all), [Create, Update, Delete]);
}

/// Finalizers can then be removed while the operator is down.
#[test]
fn webhooks_and_policies_exclude_the_removal_of_finalizers() {
    let names = |webhook| -> Vec<String> {
        let conditions = described(webhook).conditions;
        conditions
            .into_iter()
            .map(|condition| condition.name)
            .collect()
    };
    assert_eq!(names(Webhook::validates(nothing)), ["not-finalizing"]);
    assert_eq!(
        names(Webhook::mutates(same).when("small", "true")),
        ["not-finalizing", "small"]
    );
    let creates = Webhook::validates(nothing).on(Operation::Create);
    assert_eq!(names(creates.when("small", "true")), ["small"]);
    let policy = Policy::validates::<Pod>("p").rule("true", "no");
    let policies = Operator::new("op").policy(policy).description().policies;
    assert_eq!(policies[0].conditions[0].name, "not-finalizing");
}

#[test]
fn paths_and_names_are_derived_from_the_kind() {
    let webhook = described(Webhook::mutates(same).on_failure(FailurePolicy::Ignore));
    assert_eq!(webhook.path, "/mutate--v1-pod");
    assert_eq!(webhook.name, "mpod-v1.op.core");
    assert_eq!(webhook.exemption, Exemption::SystemNamespaces);
    assert_eq!(webhook.failure_policy, FailurePolicy::Ignore);
}

#[test]
fn kinds_that_a_webhook_reads_are_granted() {
    let operator = Operator::new("op").webhook(Webhook::mutates(same).reads(kind::<Node>()));
    let rules = operator.description().rules();
    assert!(rules.iter().any(|rule| rule.allows("watch", "", "nodes")));
    assert!(!rules.iter().any(|rule| rule.allows("patch", "", "nodes")));
}

/// Returns the error of an invalid operator; `run` and `manifests` have the same checks.
pub(crate) fn error_of(operator: Operator) -> Error {
    started(operator).expect_err("it starts")
}

pub(crate) fn started(operator: Operator) -> Result<Running, Error> {
    let empty = tower::service_fn(async |_: http::Request<kube::client::Body>| {
        Ok::<_, std::convert::Infallible>(http::Response::new(kube::client::Body::empty()))
    });
    let client = kube::Client::new(empty, "default");
    operator.start(client, Default::default())
}

#[tokio::test]
async fn invalid_webhook_is_an_error_at_the_start() {
    let webhook = || Webhook::validates(nothing);
    for (operator, expected) in [
        (
            Operator::new("op").webhook(webhook()).webhook(webhook()),
            "register webhook /validate--v1-pod twice: join the functions, or set .path(..) \
             of one of them",
        ),
        (
            Operator::new("op").webhook(webhook().objects("app in")),
            "select by \"app in\" in webhook /validate--v1-pod",
        ),
        (
            Operator::new("op").webhook(webhook().objects("size>5")),
            "select by \"size>5\" in webhook /validate--v1-pod",
        ),
        (
            Operator::new("op").webhook(webhook().timeout(Duration::from_secs(31))),
            "set timeout 31s of webhook /validate--v1-pod: use 1 to 30 seconds",
        ),
        (
            Operator::new("op").webhook(webhook().path("x y")),
            "serve a webhook under \"x y\": begin with '/' and use letters, digits, '-' and '_'",
        ),
        (
            Operator::new("op").webhook(webhook().when("a", " ")),
            "register webhook /validate--v1-pod: one of its expressions is empty",
        ),
        (
            Operator::new("op").webhook(webhook().when("a", "true").when("a", "false")),
            "register webhook /validate--v1-pod: two of its conditions have the same name; \
             rename one of them",
        ),
        (
            Operator::new("op").webhook(webhook().when("not-finalizing", "true")),
            "register webhook /validate--v1-pod: a condition has the name not-finalizing, which \
             is reserved for one that is always added; rename it",
        ),
        (
            Operator::new("op").webhook((0..64).fold(webhook(), |webhook, number| {
                webhook.when(format!("c{number}"), "true")
            })),
            "register webhook /validate--v1-pod: it has more than 63 conditions; join some of \
             them with &&",
        ),
    ] {
        assert_eq!(error_of(operator).to_string(), expected);
    }
}

#[tokio::test]
async fn option_without_effect_on_reads_is_an_error() {
    let prioritized = kind::<Node>().priority(Priority(5));
    for (nodes, option, registration) in [
        (
            kind::<Node>().when(changed::labels()),
            ".when(..)",
            ".reads(..), which enqueues nothing",
        ),
        (
            prioritized,
            ".priority(..)",
            ".reads(..), which enqueues nothing",
        ),
        (
            kind::<Node>().namespace("web"),
            ".namespace(..)",
            "a cluster-scoped kind",
        ),
    ] {
        let webhook = Webhook::validates(nothing).reads(nodes);
        assert_eq!(
            error_of(Operator::new("op").webhook(webhook)).to_string(),
            format!(
                "read Node in webhook /validate--v1-pod: {option} has no effect on \
                 {registration}; leave it out"
            )
        );
    }
}

#[tokio::test]
async fn webhook_that_could_stop_all_pods_is_an_error() {
    let everywhere = || Webhook::mutates(same).exempt(Exemption::Nothing);
    let error = error_of(Operator::new("op").webhook(everywhere())).to_string();
    assert_eq!(
        error,
        "register webhook /mutate--v1-pod for the Pods of all namespaces with \
         FailurePolicy::Fail: while the operator is down no Pod could start, not even its own; \
         leave .exempt(..) out, choose Pods with .objects(..) or .namespaces(..), or use \
         .on_failure(FailurePolicy::Ignore)"
    );
    for narrower in [
        Webhook::mutates(same),
        everywhere().objects("inject=yes"),
        everywhere().namespaces("team=a"),
        everywhere().on_failure(FailurePolicy::Ignore),
    ] {
        let started = started(Operator::new("op").webhook(narrower));
        assert!(started.is_ok(), "{started:?}");
    }
}
