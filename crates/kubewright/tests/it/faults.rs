//! Faults that an operator must survive, on a cluster.

use kubewright::prelude::*;
use kubewright::{ObjectKey, Verb};
use kubewright_testing::Cluster;

use crate::example_code::{finalizer, two_kinds};

/// Waits for ships and their logs. A watch that failed several times while the server was down is
/// retried after up to a minute.
async fn wait_for_ships(cluster: &Cluster, ships: usize) {
    let timeout = Duration::from_secs(120);
    cluster
        .eventually_within(
            timeout,
            format!("{ships} ships and their logs"),
            async |c| {
                let maps = c.list::<ConfigMap>().await;
                let names = maps.iter().map(|map| map.name_any());
                names.filter(|name| name.starts_with("blue-")).count() == ships
            },
        )
        .await;
}

/// Restarts the server twice: during work and while idle.
#[kubewright_testing::test(needs = [Restarts])]
async fn restart_of_the_api_server_stops_no_work_and_no_watch(cluster: Cluster) {
    let fleet = |ships| two_kinds::Fleet::new("blue", two_kinds::FleetSpec { ships });
    cluster.run(two_kinds::operator).await;
    cluster.apply(fleet(4)).await;
    cluster.restart_server().await;
    wait_for_ships(&cluster, 4).await;
    cluster.restart_server().await;
    cluster.apply(fleet(6)).await;
    wait_for_ships(&cluster, 6).await;
}

/// Two controllers of one kind, each of which owns one field of a shared object.
fn rivals() -> Operator {
    let share = |field: &'static str| {
        move |map: Arc<ConfigMap>, cx: Context<ConfigMap>| async move {
            if map.name_any() != "plan" {
                return Ok(Outcome::done());
            }
            let shared = ConfigMap {
                metadata: ObjectMeta {
                    name: Some("shared".to_owned()),
                    ..ObjectMeta::default()
                },
                data: Some([(field.to_owned(), "kept".to_owned())].into()),
                ..ConfigMap::default()
            };
            cx.apply(&shared).unowned().await?;
            Ok(Outcome::done())
        }
    };
    let writes = [Verb::Create, Verb::Patch];
    Operator::new("rivals")
        .controller(
            Controller::new(share("left"))
                .named("left")
                .watches(kind::<ConfigMap>(), enqueue::all())
                .writes(kind::<ConfigMap>(), writes),
        )
        .controller(
            Controller::new(share("right"))
                .named("right")
                .watches(kind::<ConfigMap>(), enqueue::all())
                .writes(kind::<ConfigMap>(), writes),
        )
}

#[kubewright_testing::test]
async fn two_controllers_of_one_kind_do_not_conflict(cluster: Cluster) {
    cluster.run(rivals).await;
    let plan = ConfigMap {
        metadata: ObjectMeta {
            name: Some("plan".to_owned()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    };
    cluster.apply(plan).await;
    let shared = async |cluster: &Cluster| {
        let shared = cluster.get::<ConfigMap>("shared").await;
        let data = shared.as_ref().and_then(|map| map.data.clone());
        let version = shared.and_then(|map| map.metadata.resource_version);
        (data.unwrap_or_default().len(), version)
    };
    cluster
        .eventually("both fields", async |c| shared(c).await.0 == 2)
        .await;
    let settled = shared(&cluster).await;
    cluster
        .consistently(Duration::from_secs(3), "no further write", async |c| {
            shared(c).await == settled
        })
        .await;
}

#[kubewright_testing::test]
async fn deletion_while_the_operator_is_down_is_cleaned_up_after_its_restart(cluster: Cluster) {
    cluster.run(finalizer::operator).await;
    let spec = finalizer::NoticeSpec {
        text: "closed on Sunday".to_owned(),
    };
    cluster.apply(finalizer::Notice::new("hours", spec)).await;
    let key = ObjectKey::namespaced(cluster.namespace(), "hours");
    let shown = finalizer::name_on_board(&key);
    let board = cluster.in_namespace("default");
    board
        .eventually("the notice on the board", async |c| {
            c.get::<ConfigMap>(&shown).await.is_some()
        })
        .await;
    cluster.stop_operator().await;
    cluster.delete::<finalizer::Notice>("hours").await;
    assert!(cluster.get::<finalizer::Notice>("hours").await.is_some());
    cluster.run(finalizer::operator).await;
    cluster
        .eventually("both to be deleted", async |c| {
            let notice = c.get::<finalizer::Notice>("hours").await;
            notice.is_none() && board.get::<ConfigMap>(&shown).await.is_none()
        })
        .await;
}
