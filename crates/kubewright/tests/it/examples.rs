//! The examples, each on a cluster: embedded, or real with `KUBEWRIGHT_TEST_CLUSTER=real`.

use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use kubewright::ObjectKey;
use kubewright::controller::resource_of;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::example_code::{
    builtin_status, closure, dynamic_kind, error_type, external_source, finalizer, informer,
    live_read, projection, rules, state, timer, two_kinds, unowned_apply,
};

#[kubewright_testing::test]
async fn controller_with_state_numbers_its_objects(cluster: Cluster) {
    cluster.run(state::operator).await;
    let greeting = |name: &str| {
        let spec = state::GreetingSpec {
            name: name.to_owned(),
        };
        state::Greeting::new(name, spec)
    };
    let text = async |cluster: &Cluster, name: &str| {
        let greeting = cluster.get::<state::Greeting>(name).await;
        greeting
            .and_then(|greeting| greeting.status)
            .map(|status| status.text)
    };
    cluster.apply(greeting("ada")).await;
    cluster
        .eventually("a first greeting", async |c| {
            text(c, "ada")
                .await
                .is_some_and(|text| text.ends_with("number 1."))
        })
        .await;
    cluster.delete::<state::Greeting>("ada").await;
    cluster
        .eventually("the first to be deleted", async |c| {
            c.get::<state::Greeting>("ada").await.is_none()
        })
        .await;
    // The deletion is processed before a later creation.
    cluster.apply(greeting("bob")).await;
    cluster
        .eventually("the released number", async |c| {
            text(c, "bob").await.as_deref() == Some("Welcome, bob! You are number 1.")
        })
        .await;
}

#[kubewright_testing::test]
async fn error_type_determines_when_to_retry(cluster: Cluster) {
    cluster.run(error_type::operator).await;
    let share =
        |name: &str, gigabytes| error_type::Share::new(name, error_type::ShareSpec { gigabytes });
    let granted = async |cluster: &Cluster, name: &str| {
        let share = cluster.get::<error_type::Share>(name).await;
        share
            .and_then(|share| share.status)
            .map(|status| status.granted)
    };
    cluster.apply(share("large", 80)).await;
    cluster
        .eventually("the first share", async |c| {
            granted(c, "large").await == Some(80)
        })
        .await;
    cluster.apply(share("small", 30)).await;
    cluster.apply(share("empty", 0)).await;
    cluster.apply(share("large", 70)).await;
    cluster
        .eventually("the second share, once there is space", async |c| {
            granted(c, "small").await == Some(30)
        })
        .await;
    assert_eq!(granted(&cluster, "empty").await, None);
    cluster.delete::<error_type::Share>("small").await;
    cluster.apply(share("empty", 1)).await;
    cluster
        .eventually("the share that was empty", async |c| {
            granted(c, "empty").await == Some(1)
        })
        .await;
}

#[kubewright_testing::test]
async fn finalizer_cleans_up_objects_without_an_owner(cluster: Cluster) {
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
    let notice = cluster.get::<finalizer::Notice>("hours").await;
    let finalizers = notice.map(|notice| notice.finalizers().to_vec());
    assert_eq!(
        finalizers,
        Some(vec!["examples.kubewright.dev/board".to_owned()])
    );
    cluster.delete::<finalizer::Notice>("hours").await;
    cluster
        .eventually("both to be deleted", async |c| {
            let notice = c.get::<finalizer::Notice>("hours").await;
            notice.is_none() && board.get::<ConfigMap>(&shown).await.is_none()
        })
        .await;
}

#[kubewright_testing::test]
async fn two_kinds_of_one_operator_depend_on_each_other(cluster: Cluster) {
    cluster.run(two_kinds::operator).await;
    let fleet = |ships| two_kinds::Fleet::new("blue", two_kinds::FleetSpec { ships });
    cluster.apply(fleet(3)).await;
    cluster
        .eventually("a log for each ship", async |c| {
            let maps = c.list::<ConfigMap>().await;
            let logs = maps
                .iter()
                .filter(|map| map.name_any().starts_with("blue-"));
            logs.count() == 3
        })
        .await;
    cluster.apply(fleet(1)).await;
    cluster
        .eventually("one ship at sea", async |c| {
            let fleet = c.get::<two_kinds::Fleet>("blue").await;
            let status = fleet.and_then(|fleet| fleet.status);
            let at_sea = status.map(|status| status.at_sea);
            at_sea == Some(1) && c.list::<two_kinds::Ship>().await.len() == 1
        })
        .await;
    assert!(cluster.get::<ConfigMap>("blue-1-log").await.is_some());
}

#[kubewright_testing::test]
async fn unowned_apply_keeps_the_fields_of_other_managers(cluster: Cluster) {
    let namespace = cluster.namespace().to_owned();
    let patch = json!({"metadata": {"labels": {"region": "north"}}});
    cluster.patch::<Namespace>(&namespace, patch).await;
    cluster.run(unowned_apply::operator).await;
    let spec = unowned_apply::TeamSpec {
        contact: "web@ex.io".to_owned(),
    };
    cluster.apply(unowned_apply::Team::new("web", spec)).await;
    let labels = async |cluster: &Cluster| {
        let namespace = cluster.get::<Namespace>(&namespace).await;
        namespace
            .map(|namespace| namespace.labels().clone())
            .unwrap_or_default()
    };
    let both = async |cluster: &Cluster| {
        let labels = labels(cluster).await;
        let label = |name: &str| labels.get(name).map(String::as_str);
        (label("team"), label("region")) == (Some("web"), Some("north"))
    };
    cluster.eventually("both labels", both).await;
    let patch = json!({"metadata": {"labels": {"team": null}}});
    cluster.patch::<Namespace>(&namespace, patch).await;
    cluster.eventually("the label again", both).await;
}

#[kubewright_testing::test]
async fn dynamic_kind_is_read_and_written(cluster: Cluster) {
    cluster
        .run(|| dynamic_kind::operator(resource_of::<Service>()))
        .await;
    for name in ["one", "two"] {
        cluster.apply(service(name, "ClusterIP")).await;
    }
    cluster
        .eventually("both to be counted", async |c| {
            let services = c.list::<Service>().await;
            let is_counted = |service: &Service| {
                let count = service.annotations().get("examples.kubewright.dev/count");
                count.map(String::as_str) == Some("2")
            };
            services.len() == 2 && services.iter().all(is_counted)
        })
        .await;
}

#[kubewright_testing::test]
async fn http_request_triggers_a_reconcile(cluster: Cluster) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("its address").to_string();
    drop(listener);
    let bind_address = address.clone();
    cluster
        .run(move || external_source::operator(&bind_address))
        .await;
    cluster
        .apply(external_source::Bell::new(
            "door",
            external_source::BellSpec {},
        ))
        .await;
    for _ in 0..2 {
        ring(&address, &format!("/{}/door", cluster.namespace())).await;
    }
    cluster
        .eventually("two rings", async |c| {
            let bell = c.get::<external_source::Bell>("door").await;
            bell.and_then(|bell| bell.status).map(|status| status.rings) == Some(2)
        })
        .await;
}

async fn ring(address: &str, path: &str) {
    let mut stream = TcpStream::connect(address)
        .await
        .expect("the operator listens");
    let request = format!("POST {path} HTTP/1.1\r\nhost: bells\r\ncontent-length: 0\r\n\r\n");
    stream
        .write_all(request.as_bytes())
        .await
        .expect("a request");
    let mut response = String::new();
    stream
        .read_to_string(&mut response)
        .await
        .expect("a response");
    assert!(response.starts_with("HTTP/1.1 202"), "{response}");
}

#[kubewright_testing::test]
async fn live_read_gives_each_ticket_a_unique_number(cluster: Cluster) {
    cluster.run(live_read::operator).await;
    for name in ["a", "b", "c"] {
        let ticket = live_read::Ticket::new(name, live_read::TicketSpec {});
        cluster.apply(ticket).await;
    }
    cluster
        .eventually("three numbers", async |c| {
            let tickets = c.list::<live_read::Ticket>().await;
            let mut numbers: Vec<_> = tickets
                .iter()
                .filter_map(|ticket| ticket.status.as_ref()?.number)
                .collect();
            numbers.sort_unstable();
            numbers == [1, 2, 3]
        })
        .await;
}

#[kubewright_testing::test]
async fn status_of_a_built_in_kind_is_written(cluster: Cluster) {
    cluster.run(builtin_status::operator).await;
    cluster.apply(service("inner", "ClusterIP")).await;
    cluster.apply(service("outer", "LoadBalancer")).await;
    let address = async |cluster: &Cluster, name: &str| {
        let service = cluster.get::<Service>(name).await?;
        let ingress = service.status?.load_balancer?.ingress?;
        ingress.first()?.ip.clone()
    };
    cluster
        .eventually("an address", async |c| {
            let address = address(c, "outer").await;
            address.is_some_and(|ip| ip.starts_with("203.0.113."))
        })
        .await;
    assert_eq!(address(&cluster, "inner").await, None);
}

#[kubewright_testing::test]
async fn closure_is_a_reconcile_function(cluster: Cluster) {
    cluster.run(closure::operator).await;
    let namespace = cluster.namespace().to_owned();
    let patch = json!({"metadata": {"labels": {"welcome": "yes"}}});
    cluster.patch::<Namespace>(&namespace, patch).await;
    cluster
        .eventually("a greeting", async |c| {
            let greeting = c.get::<ConfigMap>("welcome").await;
            let text = greeting.and_then(|greeting| greeting.data?.get("text").cloned());
            text == Some(format!("Welcome to {namespace}!"))
        })
        .await;
}

#[kubewright_testing::test]
async fn informer_needs_no_operator(cluster: Cluster) {
    let pod = json!({
        "metadata": {"name": "alone"},
        "spec": {"containers": [{"name": "app", "image": "registry.k8s.io/pause:3.10"}]},
    });
    let pod: Pod = serde_json::from_value(pod).expect("a Pod");
    cluster.apply(pod).await;
    let names = informer::pods(cluster.client()).await.expect("a list");
    assert!(names.contains(&"alone".to_owned()), "{names:?}");
}

fn service(name: &str, kind: &str) -> Service {
    let service = json!({
        "metadata": {"name": name},
        "spec": {"type": kind, "ports": [{"port": 80}]},
    });
    serde_json::from_value(service).expect("a Service")
}

#[kubewright_testing::test]
async fn projection_reads_the_fields_of_its_struct(cluster: Cluster) {
    cluster.run(projection::operator).await;
    let labels = |name: &str, value: &str| Some([(name.to_owned(), value.to_owned())].into());
    let mut palette = projection::Palette::new("wall", projection::PaletteSpec {});
    palette.metadata.labels = labels("public", "yes");
    cluster.apply(palette).await;
    for (name, color) in [("one", "red"), ("two", "blue"), ("three", "red")] {
        let paint = ConfigMap {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                labels: labels("shelf", "paint"),
                ..ObjectMeta::default()
            },
            data: Some([("color".to_owned(), color.to_owned())].into()),
            ..ConfigMap::default()
        };
        cluster.apply(paint).await;
    }
    cluster
        .eventually("both colors", async |c| {
            let palette = c.get::<projection::Palette>("wall").await;
            let status = palette.and_then(|palette| palette.status);
            status.is_some_and(|status| status.colors == ["blue", "red"])
        })
        .await;
}

#[kubewright_testing::test]
async fn rules_in_a_definition_are_enforced_while_the_operator_is_down(cluster: Cluster) {
    cluster.run(rules::operator).await;
    cluster.stop_operator().await;
    let ladder = |name: &str, low: i32, material: &str| {
        let spec = rules::LadderSpec {
            low,
            high: 5,
            material: material.to_owned(),
        };
        rules::Ladder::new(name, spec)
    };
    let ladders: Api<rules::Ladder> = Api::namespaced(cluster.client(), cluster.namespace());
    let denied = |result: Result<rules::Ladder, kube::Error>| match result {
        Err(kube::Error::Api(status)) => (status.code, status.message),
        other => unreachable!("it was not denied: {other:?}"),
    };
    let options = PostParams::default();
    let created = ladders.create(&options, &ladder("steep", 9, "wood")).await;
    let (code, message) = denied(created);
    assert_eq!(code, 422, "{message}");
    assert!(message.contains("low must not be above high"), "{message}");
    cluster.create(ladder("valid", 1, "wood")).await;
    let steel = Patch::Merge(json!({"spec": {"material": "steel"}}));
    let options = PatchParams::default();
    let patched = ladders.patch("valid", &options, &steel).await;
    let (code, message) = denied(patched);
    assert_eq!(code, 422, "{message}");
    assert!(
        message.contains("the material cannot be changed"),
        "{message}"
    );
}

#[kubewright_testing::test(needs = [VirtualTime])]
async fn timer_triggers_a_reconcile_of_each_object(cluster: Cluster) {
    cluster.run(timer::operator).await;
    cluster
        .apply(timer::Clock::new("wall", timer::ClockSpec {}))
        .await;
    let shows = async |cluster: &Cluster| {
        let clock = cluster.get::<timer::Clock>("wall").await;
        let status = clock.and_then(|clock| clock.status);
        status.map(|status| status.shows).unwrap_or_default()
    };
    cluster
        .eventually("a first time", async |c| !shows(c).await.is_empty())
        .await;
    let first = shows(&cluster).await;
    cluster
        .consistently(Duration::from_secs(600), "ten minutes", async |_| true)
        .await;
    let later = shows(&cluster).await;
    assert_ne!(later, first);
    let now = cluster.clock().now();
    let minute = jiff::SignedDuration::from_mins(1);
    let recent = [now, now.checked_sub(minute).expect("a time")]
        .map(|time| time.strftime("%H:%M").to_string());
    assert!(recent.contains(&later), "{later} is not in {recent:?}");
}
