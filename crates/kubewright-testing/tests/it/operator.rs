//! Operators under test: their runs, and how they fail a test.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::Api;
use kube::api::{ListParams, ObjectMeta, Patch, PatchParams, PostParams};
use kubewright::Verb;
use kubewright::prelude::*;
use kubewright::webhook::{Change, Findings};
use kubewright_testing::{Cluster, ClusterChoice, TestCase};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A page of text, published as a ConfigMap.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Site", namespaced)]
pub(crate) struct SiteSpec {
    text: String,
}

fn operator() -> Operator {
    Operator::new("sites").controller(Controller::new(reconcile).owns(kind::<ConfigMap>()))
}

async fn reconcile(site: Arc<Site>, cx: Context<Site>) -> Result<Outcome> {
    cx.apply(&page(&site, &site.spec.text)).await?;
    Ok(Outcome::done())
}

fn page(site: &Site, text: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: site.metadata.name.clone(),
            ..ObjectMeta::default()
        },
        data: Some([("index.html".to_owned(), text.to_owned())].into()),
        ..ConfigMap::default()
    }
}

fn site(text: &str) -> Site {
    let spec = SiteSpec {
        text: text.to_owned(),
    };
    Site::new("home", spec)
}

async fn text(cluster: &Cluster) -> Option<String> {
    let page = cluster.get::<ConfigMap>("home").await?;
    page.data?.remove("index.html")
}

#[kubewright_testing::test]
async fn operator_runs_under_the_role_of_its_manifests(cluster: Cluster) {
    cluster.run(operator).await;
    cluster.apply(site("hello")).await;
    cluster
        .eventually("a page", async |c| {
            text(c).await.as_deref() == Some("hello")
        })
        .await;
}

fn check(change: &Change<Site>, findings: &mut Findings) {
    if change
        .object()
        .is_some_and(|site| site.spec.text.is_empty())
    {
        findings.required("spec.text", "");
    }
}

fn strict() -> Operator {
    operator().webhook(Webhook::validates(check))
}

#[kubewright_testing::test]
async fn webhook_of_this_process_is_called_by_the_cluster(cluster: Cluster) {
    cluster.run(strict).await;
    let sites: Api<Site> = Api::namespaced(cluster.client(), cluster.namespace());
    let created = sites.create(&PostParams::default(), &site("")).await;
    assert!(
        matches!(&created, Err(kube::Error::Api(status)) if status.code == 422),
        "{created:?}"
    );
    cluster.create(site("hello")).await;
}

/// Appends a letter at each call.
fn appending() -> Operator {
    let append = |site: &mut Site| site.spec.text.push('!');
    operator().webhook(Webhook::defaults(append))
}

#[test]
fn mutating_webhook_that_is_not_idempotent_fails_the_test() {
    let message = failure(async |cluster: Cluster| {
        cluster.run(appending).await;
        cluster.create(site("hello")).await;
    });
    assert!(message.contains("not idempotent"), "{message}");
}

/// Writes another text in each reconcile, so that each one triggers the next.
fn self_triggering() -> Operator {
    let runs = AtomicU32::new(0);
    let reconcile = move |site: Arc<Site>, cx: Context<Site>| {
        let run = runs.fetch_add(1, Ordering::Relaxed);
        async move {
            let page = page(&site, &format!("{} {run}", site.spec.text));
            cx.apply(&page).await?;
            Ok(Outcome::done())
        }
    };
    Operator::new("self-triggering")
        .controller(Controller::new(reconcile).owns(kind::<ConfigMap>()))
}

/// Writes with a client of kube instead of the context.
fn self_triggering_by_client() -> Operator {
    let runs = AtomicU32::new(0);
    let reconcile = move |site: Arc<Site>, cx: Context<Site>| {
        let run = runs.fetch_add(1, Ordering::Relaxed);
        async move {
            let namespace = site.metadata.namespace.clone().unwrap_or_default();
            let sites: Api<Site> = Api::namespaced(cx.client().clone(), &namespace);
            let labels = serde_json::json!({"metadata": {"labels": {"run": run.to_string()}}});
            let name = site.metadata.name.clone().unwrap_or_default();
            let patch = Patch::Merge(labels);
            sites.patch(&name, &PatchParams::default(), &patch).await?;
            Ok(Outcome::done())
        }
    };
    let controller = Controller::new(reconcile).writes(kind::<Site>(), [Verb::Patch]);
    Operator::new("self-triggering").controller(controller)
}

/// Requeues without a delay.
fn requeueing() -> Operator {
    let reconcile =
        async |_: Arc<Site>, _: Context<Site>| Ok(Outcome::requeue_after(Duration::ZERO));
    Operator::new("requeueing").controller(Controller::new(reconcile))
}

/// No virtual time passes in a loop: a wait for time would never end.
#[test]
fn reconcile_that_triggers_itself_fails_its_test_immediately() {
    type Make = fn() -> Operator;
    for (operator, write) in [
        (
            self_triggering as Make,
            "configmaps/home (data.index.html: \"hello ",
        ),
        (
            self_triggering_by_client,
            "sites/home (metadata.labels.run: \"",
        ),
        (requeueing, "the run requeues its key without a delay"),
    ] {
        let message = failure_on(None, async move |cluster: Cluster| {
            cluster.run(operator).await;
            cluster.apply(site("hello")).await;
            tokio::time::sleep(Duration::from_secs(3600)).await;
        });
        assert!(
            message.contains("/home by controller site triggers itself: 100 runs"),
            "{message}"
        );
        assert!(message.contains(write), "{message}");
    }
}

/// Two controllers that write different values to one field.
fn fighting() -> Operator {
    let writer = |text: &'static str| {
        let reconcile = move |site: Arc<Site>, cx: Context<Site>| async move {
            cx.apply(&page(&site, text)).await?;
            Ok(Outcome::done())
        };
        let controller = Controller::new(reconcile).owns(kind::<ConfigMap>());
        controller.named(text)
    };
    let fighting = Operator::new("fighting").controller(writer("tea"));
    fighting.controller(writer("coffee"))
}

/// Writes of the other controller trigger each reconcile, too. Only virtual time, which does not
/// pass, shows the loop.
#[test]
fn controllers_that_fight_over_a_field_fail_their_test() {
    let message = failure(async |cluster: Cluster| {
        cluster.run(fighting).await;
        cluster.apply(site("hello")).await;
        tokio::time::sleep(Duration::from_secs(3600)).await;
    });
    assert!(message.contains("does not settle: 10000 runs"), "{message}");
    assert!(
        message.contains("configmaps/home (as written before: something changes it in between)"),
        "{message}"
    );
}

#[test]
fn wait_ends_immediately_when_a_reconcile_triggers_itself() {
    let message = failure(async |cluster: Cluster| {
        cluster.run(self_triggering).await;
        cluster.apply(site("hello")).await;
        cluster
            .eventually("rest", async |c| text(c).await.as_deref() == Some("bye"))
            .await;
    });
    assert!(message.contains("triggers itself"), "{message}");
}

#[kubewright_testing::test]
async fn installed_operator_does_nothing_until_it_is_started(cluster: Cluster) {
    cluster.install(operator).await;
    cluster.apply(site("hello")).await;
    assert_eq!(text(&cluster).await, None);
    cluster.restart_operator().await;
    cluster
        .eventually("a page", async |c| text(c).await.is_some())
        .await;
}

#[kubewright_testing::test]
async fn restarted_operator_reconciles_objects_that_changed_meanwhile(cluster: Cluster) {
    cluster.run(operator).await;
    cluster.apply(site("one")).await;
    cluster
        .eventually("a page", async |c| text(c).await.as_deref() == Some("one"))
        .await;
    cluster.restart_operator().await;
    cluster.apply(site("two")).await;
    cluster
        .eventually("the new page", async |c| {
            text(c).await.as_deref() == Some("two")
        })
        .await;
}

/// An operator that lists a kind without permission, and ignores the error.
fn without_permission() -> Operator {
    operator().task("list", async |cx| {
        let secrets = Api::<Secret>::all(cx.client().clone());
        secrets.list(&ListParams::default()).await.ok();
        cx.stopping().await;
        Ok(())
    })
}

/// The message with which a test fails on the embedded cluster.
fn failure<R: kubewright_testing::TestOutcome>(body: impl AsyncFnOnce(Cluster) -> R) -> String {
    failure_on(Some(ClusterChoice::Embedded), body)
}

/// The message with which a test fails on a cluster; `None` is the cluster of the environment.
fn failure_on<R: kubewright_testing::TestOutcome>(
    cluster: Option<ClusterChoice>,
    body: impl AsyncFnOnce(Cluster) -> R,
) -> String {
    let case = TestCase {
        name: "it::operator::fails",
        cluster,
        nodes: 0,
        needs: &[],
    };
    let run = AssertUnwindSafe(|| drop(kubewright_testing::run(&case, body)));
    let panic = catch_unwind(run).expect_err("the test fails");
    let message = panic.downcast::<String>();
    message.map_or_else(|_| "no text".to_owned(), |text| *text)
}

async fn publishes(cluster: &Cluster) {
    cluster.run(without_permission).await;
    cluster.apply(site("hello")).await;
    cluster
        .eventually("a page", async |c| text(c).await.is_some())
        .await;
}

#[test]
fn forbidden_request_fails_the_test_although_the_operator_continues() {
    let message = failure(async |cluster| publishes(&cluster).await);
    assert!(
        message.contains("forbidden were: list secrets;"),
        "{message}"
    );
    assert!(message.contains("operator.rs"), "{message}");
}

#[test]
fn failure_of_the_test_itself_has_precedence() {
    let message = failure(async |cluster: Cluster| {
        publishes(&cluster).await;
        let namespace = cluster.namespace();
        assert!(namespace.is_empty(), "{namespace} is no good");
    });
    assert!(message.ends_with("is no good"), "{message}");
}
