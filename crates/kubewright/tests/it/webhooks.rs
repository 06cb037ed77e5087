//! Webhooks as they are registered, and what is refused when an operator is built.

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
    let mut described = Operator::new("op").webhook(webhook).description().webhooks;
    described.remove(0)
}

#[test]
fn a_webhook_is_for_create_and_update_unless_it_says_otherwise() {
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

/// Also while the operator is down.
#[test]
fn nobody_is_asked_whether_a_finalizer_may_be_taken_away() {
    let names = |webhook| -> Vec<String> {
        let conditions = described(webhook).conditions;
        conditions.into_iter().map(|one| one.name).collect()
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
fn paths_and_names_follow_from_the_kind() {
    let webhook = described(Webhook::mutates(same).on_failure(FailurePolicy::Ignore));
    assert_eq!(webhook.path, "/mutate--v1-pod");
    assert_eq!(webhook.name, "mpod-v1.op.core");
    assert_eq!(webhook.exemption, Exemption::SystemNamespaces);
    assert_eq!(webhook.failure_policy, FailurePolicy::Ignore);
}

#[test]
fn what_a_webhook_reads_is_granted() {
    let operator = Operator::new("op").webhook(Webhook::mutates(same).reads(kind::<Node>()));
    let rules = operator.description().rules();
    assert!(rules.iter().any(|rule| rule.allows("watch", "", "nodes")));
    assert!(!rules.iter().any(|rule| rule.allows("patch", "", "nodes")));
}

/// What `run` and `manifests` refuse is told by `start`, too.
pub(crate) fn refused(operator: Operator) -> Error {
    started(operator).expect_err("it starts")
}

pub(crate) fn started(operator: Operator) -> Result<Running, Error> {
    let nowhere = tower::service_fn(async |_: http::Request<kube::client::Body>| {
        Ok::<_, std::convert::Infallible>(http::Response::new(kube::client::Body::empty()))
    });
    let client = kube::Client::new(nowhere, "default");
    operator.start(client, Default::default())
}

#[tokio::test]
async fn what_the_api_server_would_not_take_is_refused_when_the_operator_starts() {
    let one = || Webhook::validates(nothing);
    for (operator, wanted) in [
        (
            Operator::new("op").webhook(one()).webhook(one()),
            "register webhook /validate--v1-pod twice: join the functions, or give one another \
             .path(..)",
        ),
        (
            Operator::new("op").webhook(one().objects("app in")),
            "select by \"app in\" in webhook /validate--v1-pod",
        ),
        (
            Operator::new("op").webhook(one().objects("size>5")),
            "select by \"size>5\" in webhook /validate--v1-pod",
        ),
        (
            Operator::new("op").webhook(one().timeout(Duration::from_secs(31))),
            "wait 31s for webhook /validate--v1-pod: use 1 to 30 seconds",
        ),
        (
            Operator::new("op").webhook(one().path("x y")),
            "serve a webhook under \"x y\": begin with '/' and use letters, digits, '-' and '_'",
        ),
        (
            Operator::new("op").webhook(one().when("a", " ")),
            "register webhook /validate--v1-pod: one of its expressions is empty",
        ),
        (
            Operator::new("op").webhook(one().when("a", "true").when("a", "false")),
            "register webhook /validate--v1-pod: two of its conditions have one name; give each \
             another",
        ),
        (
            Operator::new("op").webhook(one().when("not-finalizing", "true")),
            "register webhook /validate--v1-pod: a condition has the name not-finalizing, which \
             one of ours has; give it another",
        ),
        (
            Operator::new("op").webhook((0..64).fold(one(), |webhook, place| {
                webhook.when(format!("c{place}"), "true")
            })),
            "register webhook /validate--v1-pod: it has more than 63 conditions; join some of \
             them with &&",
        ),
    ] {
        assert_eq!(refused(operator).to_string(), wanted);
    }
}

#[tokio::test]
async fn what_a_reader_has_no_use_for_is_refused_when_the_operator_starts() {
    let urgent = kind::<Node>().priority(Priority(5));
    for (nodes, option, on) in [
        (
            kind::<Node>().when(changed::labels()),
            ".when(..)",
            ".reads(..), which wakes nobody",
        ),
        (urgent, ".priority(..)", ".reads(..), which wakes nobody"),
        (
            kind::<Node>().namespace("web"),
            ".namespace(..)",
            "a kind that is in none",
        ),
    ] {
        let webhook = Webhook::validates(nothing).reads(nodes);
        assert_eq!(
            refused(Operator::new("op").webhook(webhook)).to_string(),
            format!(
                "read Node in webhook /validate--v1-pod: {option} has no effect on {on}; leave \
                 it out"
            )
        );
    }
}

#[tokio::test]
async fn a_webhook_that_could_stop_every_pod_is_refused_with_the_reason() {
    let everywhere = || Webhook::mutates(same).exempt(Exemption::Nothing);
    let why = refused(Operator::new("op").webhook(everywhere())).to_string();
    assert_eq!(
        why,
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
