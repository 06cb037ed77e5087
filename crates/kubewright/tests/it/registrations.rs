//! What a registration may say of a kind, and what a reconcile function then can do, on a cluster.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

use http::{Request, Response};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Namespace, Node};
use k8s_openapi::api::events::v1::Event as StoredEvent;
use kubewright::context::WriteResult;
use kubewright::controller::{only, projection, resource_of};
use kubewright::election::{ElectionOptions, LeaderElection};
use kubewright::kube::Client;
use kubewright::kube::client::Body;
use kubewright::kube::core::DynamicObject;
use kubewright::prelude::*;
use kubewright::queue::{Backoff, Priority, QueueOptions};
use kubewright::{Event, Failure, List, ObjectKey, RunOptions, Verb, kind_of, owner};
use kubewright_testing::Cluster;
use serde_json::json;

/// Tells what its controller sees.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "tests.kubewright.dev", version = "v1", kind = "Census")]
#[kube(namespaced, plural = "censuses", status = "CensusStatus")]
struct CensusSpec {}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
struct CensusStatus {
    #[serde(default)]
    seen: Vec<String>,
}

fn census(name: &str) -> Census {
    Census::new(name, CensusSpec {})
}

fn map(name: &str, label: &str, color: &str) -> ConfigMap {
    let map = json!({
        "metadata": {"name": name, "labels": {"kind": label}}, "data": {"color": color},
    });
    serde_json::from_value(map).expect("a ConfigMap")
}

async fn seen(cluster: &Cluster, name: &str) -> Vec<String> {
    let census = cluster.get::<Census>(name).await;
    let status = census.and_then(|census| census.status);
    status.unwrap_or_default().seen
}

/// The names, in order.
fn names(maps: &List<ConfigMap>) -> Vec<String> {
    maps.iter().map(|map| map.name_any()).collect()
}

fn by_color() -> Operator {
    async fn reconcile(_: Arc<Census>, cx: Context<Census>) -> Result<Outcome> {
        let mut red = names(&cx.by_index::<ConfigMap>("color", "red")?);
        let mut paint = names(&cx.matching::<ConfigMap>("kind in (paint)")?);
        red.sort();
        paint.sort();
        let unknown = cx.by_index::<ConfigMap>("size", "1").map(drop);
        let unknown = unknown.err().map(|error| error.to_string());
        let unknown = unknown.unwrap_or_default();
        let seen = vec![
            red.join(" "),
            paint.join(" "),
            unknown.contains(".index(\"size\", ..)").to_string(),
        ];
        cx.status(|status| status.seen = seen).await?;
        Ok(Outcome::done())
    }
    let maps = kind::<ConfigMap>().index("color", |map| {
        let color = map.data.as_ref().and_then(|data| data.get("color"));
        color.cloned().into_iter().collect()
    });
    Operator::new("colors").controller(Controller::new(reconcile).watches(maps, enqueue::all()))
}

#[kubewright_testing::test]
async fn objects_are_found_by_an_index_and_by_their_labels(cluster: Cluster) {
    cluster.run(by_color).await;
    cluster.apply(census("all")).await;
    cluster.apply(map("a", "paint", "red")).await;
    cluster.apply(map("b", "paint", "blue")).await;
    cluster.apply(map("c", "cloth", "red")).await;
    cluster
        .eventually("all of them found", async |c| {
            seen(c, "all").await == ["a c", "a b", "true"]
        })
        .await;
    cluster.apply(map("a", "paint", "green")).await;
    cluster
        .eventually("one that is no longer red", async |c| {
            seen(c, "all").await == ["c", "a b", "true"]
        })
        .await;
    // Both look into all namespaces, as a list does.
    let elsewhere = format!("{}-elsewhere", cluster.namespace());
    let metadata = json!({"metadata": {"name": elsewhere}});
    let made: Namespace = serde_json::from_value(metadata).expect("a Namespace");
    cluster.create(made).await;
    let there = cluster.in_namespace(&elsewhere);
    there.apply(map("d", "paint", "red")).await;
    cluster
        .eventually("one elsewhere, too", async |c| {
            seen(c, "all").await == ["c d", "a b d", "true"]
        })
        .await;
}

fn of_a_late_kind() -> Operator {
    fn names(maps: &List<DynamicObject>) -> String {
        let mut names: Vec<_> = maps.iter().map(|map| map.name_any()).collect();
        names.sort();
        names.join(" ")
    }
    async fn reconcile(_: Arc<Census>, cx: Context<Census>) -> Result<Outcome> {
        let maps = resource_of::<ConfigMap>();
        let maps = cx.of(&maps);
        let unknown = maps.by_index("size", "1").map(drop);
        let unknown = unknown.err().map(|error| error.to_string());
        let seen = vec![
            names(&maps.by_index("color", "red")?),
            names(&maps.matching("kind=paint")?),
            unknown.unwrap_or_default(),
        ];
        cx.status(|status| status.seen = seen).await?;
        Ok(Outcome::done())
    }
    let maps = kind_of(resource_of::<ConfigMap>()).index("color", |map| {
        let color = map.data["data"]["color"].as_str();
        color.map(str::to_owned).into_iter().collect()
    });
    Operator::new("shades").controller(Controller::new(reconcile).watches(maps, enqueue::all()))
}

#[kubewright_testing::test]
async fn objects_of_a_kind_known_at_run_time_are_found_alike(cluster: Cluster) {
    cluster.run(of_a_late_kind).await;
    cluster.apply(census("all")).await;
    cluster.apply(map("a", "paint", "red")).await;
    cluster.apply(map("b", "paint", "blue")).await;
    cluster.apply(map("c", "cloth", "red")).await;
    let unknown = "look ConfigMap up by \"size\" in controller \"census\": add .index(\"size\", ..) \
                   to its kind_of(..)";
    cluster
        .eventually("all of them found", async |c| {
            seen(c, "all").await == ["a c", "a b", unknown]
        })
        .await;
}

fn chosen(namespace: &str) -> Operator {
    async fn reconcile(_: Arc<Census>, cx: Context<Census>) -> Result<Outcome> {
        let maps = cx.list::<ConfigMap>()?;
        let seen = maps.iter().map(|map| {
            let color = map.data.as_ref().and_then(|data| data.get("color"));
            format!("{} {}", map.name_any(), color.cloned().unwrap_or_default())
        });
        let seen = seen.collect();
        cx.status(|status| status.seen = seen).await?;
        Ok(Outcome::done())
    }
    let maps = kind::<ConfigMap>()
        .fields("metadata.name!=other,metadata.name!=kube-root-ca.crt")
        .namespace(namespace);
    Operator::new("chosen").controller(Controller::new(reconcile).watches(maps, enqueue::all()))
}

#[kubewright_testing::test]
async fn only_objects_with_such_fields_in_that_namespace_are_read(cluster: Cluster) {
    let namespace = cluster.namespace().to_owned();
    let elsewhere = format!("{namespace}-elsewhere");
    let metadata = json!({"metadata": {"name": elsewhere}});
    let made: Namespace = serde_json::from_value(metadata).expect("a Namespace");
    cluster.create(made).await;
    let there = cluster.in_namespace(&elsewhere);
    there.apply(map("chosen", "", "there")).await;
    cluster.apply(map("other", "", "here")).await;
    cluster.run(move || chosen(&namespace)).await;
    cluster.apply(census("all")).await;
    cluster.apply(map("chosen", "", "here")).await;
    cluster
        .eventually("the chosen one", async |c| {
            seen(c, "all").await == ["chosen here"]
        })
        .await;
}

fn without_data() -> Operator {
    async fn reconcile(census: Arc<Census>, cx: Context<Census>) -> Result<Outcome> {
        let name = census.name_any();
        let cached = cx.get::<Secret>(&name)?;
        let cached = cached.map(|secret| secret.data.is_some());
        let live = cx.live().get::<Secret>(&name).await?;
        let live = live.map(|secret| secret.data.is_some());
        let notes = census.annotations().len();
        let seen = vec![format!("{cached:?} {live:?} {notes}")];
        cx.status(|status| status.seen = seen).await?;
        Ok(Outcome::done())
    }
    let secrets = kind::<Secret>().when(!only::deleted());
    // Its own status wakes it neither.
    let controller = Controller::new(reconcile).when(changed::generation());
    Operator::new("hidden")
        .controller(controller.watches(secrets, enqueue::same_name()))
        .transform(kind::<Secret>(), |secret| {
            secret.as_object_mut().map(|fields| fields.remove("data"));
        })
        .transform_others(|object| {
            let metadata = object["metadata"].as_object_mut();
            metadata.map(|fields| fields.remove("annotations"));
        })
}

#[kubewright_testing::test]
async fn a_transform_keeps_out_of_the_cache_what_nobody_reads(cluster: Cluster) {
    let secret = |name: &str| {
        let secret = json!({"metadata": {"name": name}, "data": {"password": "MTIzNA=="}});
        serde_json::from_value::<Secret>(secret).expect("a Secret")
    };
    cluster.run(without_data).await;
    let mut noted = census("one");
    let notes = noted.metadata.annotations.get_or_insert_default();
    notes.insert("note".to_owned(), "for somebody else".to_owned());
    cluster.apply(noted).await;
    cluster
        .eventually("no Secret", async |c| {
            seen(c, "one").await == ["None None 0"]
        })
        .await;
    // One of another name wakes another.
    cluster.create(secret("two")).await;
    cluster.create(secret("one")).await;
    cluster
        .eventually("the Secret, in the cache without its data", async |c| {
            seen(c, "one").await == ["Some(false) Some(true) 0"]
        })
        .await;
    // A deletion wakes nobody, as the registration says.
    cluster.delete::<Secret>("one").await;
    cluster
        .consistently(Duration::from_secs(2), "nobody looks", async |c| {
            seen(c, "one").await == ["Some(false) Some(true) 0"]
        })
        .await;
}

fn ledger() -> Operator {
    async fn reconcile(census: Arc<Census>, cx: Context<Census>) -> Result<Outcome> {
        let name = census.name_any();
        let metadata = ObjectMeta {
            name: Some("ledger".to_owned()),
            ..ObjectMeta::default()
        };
        let empty = ConfigMap {
            metadata,
            ..ConfigMap::default()
        };
        let (ledger, done) = cx
            .create_or_patch(&empty, |ledger| {
                owner::set_owner(&*census, ledger)?;
                let data = ledger.data.get_or_insert_default();
                data.entry(name.clone()).or_insert_with(|| "0".to_owned());
                Ok(())
            })
            .await?;
        if done == WriteResult::Unchanged {
            let seen = ledger.data.unwrap_or_default().into_keys().collect();
            cx.status(|status| status.seen = seen).await?;
        }
        Ok(Outcome::done())
    }
    Operator::new("ledgers").controller(
        Controller::new(reconcile)
            .watches(kind::<ConfigMap>(), enqueue::owners())
            .writes(kind::<ConfigMap>(), [Verb::Get, Verb::Create, Verb::Patch])
            .workers(4),
    )
}

#[kubewright_testing::test]
async fn several_keep_one_object_together_and_all_of_them_look_after_it(cluster: Cluster) {
    cluster.run(ledger).await;
    for name in ["a", "b", "c"] {
        cluster.apply(census(name)).await;
    }
    let all_know = async |cluster: &Cluster| {
        for name in ["a", "b", "c"] {
            if seen(cluster, name).await != ["a", "b", "c"] {
                return false;
            }
        }
        true
    };
    cluster.eventually("a page for each", all_know).await;
    let ledger = cluster.get::<ConfigMap>("ledger").await.expect("a ledger");
    assert_eq!(ledger.owner_references().len(), 3);
    assert!(owner::controller_of(&ledger).is_none());
    // Somebody tears a page out and writes on another.
    let torn = json!({"data": {"a": null, "b": "7"}});
    cluster.patch::<ConfigMap>("ledger", torn).await;
    cluster
        .eventually("the page again, and the other as it was left", async |c| {
            let ledger = c.get::<ConfigMap>("ledger").await;
            let data = ledger.and_then(|ledger| ledger.data).unwrap_or_default();
            data.get("a").is_some_and(|page| page == "0")
                && data.get("b").is_some_and(|page| page == "7")
        })
        .await;
}

fn readers() -> Operator {
    async fn reconcile(census: Arc<Census>, cx: Context<Census>) -> Result<Outcome> {
        for tale in &cx.list::<ConfigMap>()? {
            let note = format!("{} has read it", census.name_any());
            cx.event_about(&tale, Event::normal("Read", note));
            cx.event(Event::normal("Reading", tale.name_any()));
        }
        Ok(Outcome::done())
    }
    let tales = kind::<ConfigMap>().labels("kind=tale");
    let controller = Controller::new(reconcile).watches(tales, enqueue::all());
    Operator::new("readers").controller(controller.events())
}

#[kubewright_testing::test]
async fn an_event_may_be_about_another_object(cluster: Cluster) {
    cluster.run(readers).await;
    cluster.apply(map("other", "bill", "")).await;
    cluster.apply(map("once-upon-a-time", "tale", "")).await;
    cluster.apply(census("ada")).await;
    cluster
        .eventually("word of it", async |c| {
            let events = c.list::<StoredEvent>().await;
            let about = |reason: &str| {
                let told = events.iter();
                let told = told.filter(|one| one.reason.as_deref() == Some(reason));
                let about = told.filter_map(|one| one.regarding.clone()?.name);
                about.collect::<Vec<_>>()
            };
            about("Read") == ["once-upon-a-time"] && about("Reading") == ["ada"]
        })
        .await;
}

fn stamps() -> Operator {
    async fn reconcile(census: Arc<Census>, cx: Context<Census>) -> Result<Outcome> {
        if let Some(secret) = cx.get::<Secret>(&census.name_any())? {
            cx.patch(&secret, |secret| {
                let stamps = secret.metadata.annotations.get_or_insert_default();
                stamps.insert("stamped".to_owned(), "yes".to_owned());
                Ok(())
            })
            .await?;
        }
        Ok(Outcome::done())
    }
    Operator::new("stamps").controller(
        Controller::new(reconcile)
            .watches(kind::<Secret>(), enqueue::same_name())
            .writes(kind::<Secret>(), [Verb::Get, Verb::Patch]),
    )
}

#[kubewright_testing::test]
async fn an_object_of_somebody_else_is_changed_in_one_place(cluster: Cluster) {
    cluster.run(stamps).await;
    cluster.apply(census("letter")).await;
    let secret = json!({
        "metadata": {"name": "letter", "annotations": {"from": "ada"}},
        "data": {"text": "aGVsbG8="},
    });
    let secret: Secret = serde_json::from_value(secret).expect("a Secret");
    cluster.create(secret).await;
    cluster
        .eventually("the stamp beside what was there", async |c| {
            let secret = c.get::<Secret>("letter").await;
            let annotations = secret.map(|secret| secret.annotations().clone());
            let annotations = annotations.unwrap_or_default();
            annotations.into_iter().collect::<Vec<_>>()
                == [("from", "ada"), ("stamped", "yes")]
                    .map(|(key, value)| (key.to_owned(), value.to_owned()))
        })
        .await;
}

fn unread() -> Operator {
    fn stamp(secret: &mut Secret) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let stamps = secret.metadata.annotations.get_or_insert_default();
        stamps.insert("stamped".to_owned(), "yes".to_owned());
        Ok(())
    }
    async fn reconcile(census: Arc<Census>, cx: Context<Census>) -> Result<Outcome> {
        let Some(secret) = cx.get::<Secret>(&census.name_any())? else {
            return Ok(Outcome::done());
        };
        let mut secret = Secret::clone(&secret);
        // The census lends its own.
        secret.metadata.namespace = None;
        let done = cx.patch(&secret, stamp).await?;
        secret.metadata.uid = None;
        let refused = cx.patch(&secret, stamp).await.err();
        let refused = refused.map(|error| error.to_string()).unwrap_or_default();
        let seen = vec![
            done.is_some().to_string(),
            refused.contains("it has no uid").to_string(),
        ];
        cx.status(|status| status.seen = seen).await?;
        Ok(Outcome::done())
    }
    Operator::new("unread").controller(
        Controller::new(reconcile)
            .watches(kind::<Secret>(), enqueue::same_name())
            .writes(kind::<Secret>(), [Verb::Get, Verb::Patch]),
    )
}

#[kubewright_testing::test]
async fn only_an_object_that_was_read_is_patched(cluster: Cluster) {
    cluster.run(unread).await;
    cluster.apply(census("letter")).await;
    let secret = json!({"metadata": {"name": "letter"}});
    let secret: Secret = serde_json::from_value(secret).expect("a Secret");
    cluster.create(secret).await;
    cluster
        .eventually("one patched, one refused", async |c| {
            seen(c, "letter").await == ["true", "true"]
        })
        .await;
}

fn alarms() -> Operator {
    async fn reconcile(_: Arc<Census>, _: Context<Census>) -> Result<Outcome> {
        Ok(Outcome::done())
    }
    let alarms = kind::<ConfigMap>()
        .labels("kind=alarm")
        .priority(Priority(7));
    Operator::new("alarms")
        .leader_election(LeaderElection::default())
        .controller(Controller::new(reconcile).watches(alarms, enqueue::all()))
}

#[kubewright_testing::test]
async fn what_an_urgent_kind_wakes_is_urgent(cluster: Cluster) {
    cluster.run(alarms).await;
    cluster.stop_operator().await;
    // Somebody else leads, so that what is to be done piles up.
    let lease = json!({
        "metadata": {"name": "alarms"},
        "spec": {"holderIdentity": "another", "leaseDurationSeconds": 3600},
    });
    let lease: Lease = serde_json::from_value(lease).expect("a Lease");
    cluster.create(lease).await;
    let options = RunOptions {
        clock: cluster.clock(),
        election: Some(ElectionOptions::new(cluster.namespace())),
        ..RunOptions::default()
    };
    let running = alarms().start(cluster.client(), options);
    let running = running.expect("it starts");
    running.ready().await;
    let waiting = || running.controllers()[0].queue_metrics().depth;
    cluster.apply(census("a")).await;
    cluster
        .eventually("one that waits", async |_| {
            waiting() == BTreeMap::from([(Priority::NORMAL, 1)])
        })
        .await;
    cluster.apply(map("fire", "alarm", "red")).await;
    cluster
        .eventually("the same, more urgent", async |_| {
            waiting() == BTreeMap::from([(Priority(7), 1)])
        })
        .await;
    running.stop().await;
}

/// Fails, waits for an hour, and counts how often it was called.
fn patient(count: &Arc<AtomicU32>) -> Operator {
    let count = Arc::clone(count);
    let hour = Duration::from_secs(3600);
    let queue = QueueOptions {
        backoff: Backoff {
            first: hour,
            longest: hour,
        },
        ..QueueOptions::default()
    };
    let reconcile = move |_: Arc<Census>, _: Context<Census>| {
        count.fetch_add(1, Ordering::SeqCst);
        async { Err::<Outcome, Failure>("not yet".into()) }
    };
    Operator::new("patient").controller(Controller::new(reconcile).queue(queue))
}

#[kubewright_testing::test]
async fn a_controller_that_fails_waits_as_long_as_its_queue_says(cluster: Cluster) {
    let count = Arc::<AtomicU32>::default();
    let counted = Arc::clone(&count);
    cluster.run(move || patient(&counted)).await;
    cluster.apply(census("one")).await;
    cluster
        .eventually("the first try", async |_| count.load(Ordering::SeqCst) == 1)
        .await;
    cluster
        .consistently(Duration::from_secs(5), "no other", async |_| {
            count.load(Ordering::SeqCst) == 1
        })
        .await;
}

fn of_open_ones() -> Operator {
    async fn reconcile(census: Arc<Census>, cx: Context<Census>) -> Result<Outcome> {
        let all = cx.list::<Census>()?;
        let mut seen: Vec<_> = all.iter().map(|one| one.name_any()).collect();
        seen.sort();
        let named = cx.by_index::<Census>("name", &census.name_any())?.len();
        seen.push(named.to_string());
        cx.status(|status| status.seen = seen).await?;
        Ok(Outcome::done())
    }
    let open = kind::<Census>()
        .labels("open=yes")
        .index("name", |census| vec![census.name_any()])
        .when(changed::labels());
    Operator::new("open").controller(Controller::new(reconcile).select(open))
}

#[kubewright_testing::test]
async fn a_controller_is_for_the_selected_objects_of_its_kind_alone(cluster: Cluster) {
    let open = |name: &str, is_open: &str| {
        let mut census = census(name);
        census.metadata.labels = Some([("open".to_owned(), is_open.to_owned())].into());
        census
    };
    cluster.run(of_open_ones).await;
    cluster.apply(open("closed", "no")).await;
    cluster.apply(open("first", "yes")).await;
    cluster
        .eventually("the open one alone", async |c| {
            seen(c, "first").await == ["first", "1"]
        })
        .await;
    cluster
        .consistently(Duration::from_secs(2), "nothing of the other", async |c| {
            seen(c, "closed").await.is_empty()
        })
        .await;
    cluster.apply(open("first", "no")).await;
    cluster.apply(open("closed", "yes")).await;
    cluster
        .eventually("the one that has come", async |c| {
            seen(c, "closed").await == ["closed", "1"]
        })
        .await;
}

#[tokio::test]
async fn a_selection_that_is_none_is_refused() {
    async fn reconcile(_: Arc<DynamicObject>, _: Context<DynamicObject>) -> Result<Outcome> {
        Ok(Outcome::done())
    }
    let refusal = |selection| {
        let controller = Controller::of(resource_of::<Node>(), reconcile).select(selection);
        let nowhere =
            tower::service_fn(async |_: Request<Body>| Err::<Response<Body>, _>("nobody is there"));
        let client = Client::new(nowhere, "default");
        let started = Operator::new("none").controller(controller);
        let started = started.start(client, RunOptions::default());
        started.map(drop).expect_err("refused").to_string()
    };
    let other = refusal(kind_of(resource_of::<Pod>()));
    assert!(other.contains(".select(..) of another kind"), "{other}");
    let misplaced = refusal(kind_of(resource_of::<Node>()).namespace("web"));
    assert!(misplaced.contains(".namespace(..)"), "{misplaced}");
    let unreadable = refusal(kind_of(resource_of::<Node>()).labels("a=("));
    assert!(unreadable.contains("a=("), "{unreadable}");
}

/// One key of a ConfigMap's data.
#[derive(kubewright::kube::Resource, Clone, Debug, Serialize, Deserialize)]
#[resource(inherit = "ConfigMap")]
struct Colored {
    metadata: ObjectMeta,
    data: Option<Color>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Color {
    color: Option<String>,
}

fn by_part() -> Operator {
    async fn reconcile(_: Arc<Census>, cx: Context<Census>) -> Result<Outcome> {
        let informer = cx.informer::<Colored>()?;
        let mut seen = Vec::new();
        for map in cx.list::<Colored>()?.iter() {
            let key = ObjectKey::new(map.metadata.namespace.as_deref(), &map.name_any());
            let record = informer.store().get(&key);
            let kept = record.map(|record| record.to_value()["data"].to_string());
            let color = map.data.as_ref().and_then(|data| data.color.clone());
            seen.push(format!("{color:?} of {}", kept.unwrap_or_default()));
        }
        cx.status(|status| status.seen = seen).await?;
        Ok(Outcome::done())
    }
    let colored = projection::<Colored>().labels("kind=paint");
    Operator::new("parts").controller(Controller::new(reconcile).watches(colored, enqueue::all()))
}

#[kubewright_testing::test]
async fn a_part_of_a_kind_is_read_by_a_struct_of_the_users_own(cluster: Cluster) {
    let mut paint = map("wall", "paint", "white");
    let data = paint.data.get_or_insert_default();
    data.insert("recipe".to_owned(), "a long one".to_owned());
    cluster.apply(paint).await;
    cluster.run(by_part).await;
    cluster.apply(census("all")).await;
    cluster
        .eventually("the color and nothing else", async |c| {
            seen(c, "all").await == [r#"Some("white") of {"color":"white"}"#]
        })
        .await;
    cluster.apply(map("wall", "paint", "green")).await;
    cluster
        .eventually("the other color", async |c| {
            seen(c, "all").await == [r#"Some("green") of {"color":"green"}"#]
        })
        .await;
}

fn on_each_copy() -> Operator {
    async fn look(_: Arc<Census>, _: Context<Census>) -> Result<Outcome> {
        Ok(Outcome::done())
    }
    Operator::new("copies")
        .leader_election(LeaderElection::default())
        .controller(Controller::new(look).named("of-the-leader"))
        .controller(
            Controller::new(look)
                .named("of-every-copy")
                .on_every_replica(),
        )
}

#[kubewright_testing::test]
async fn what_works_on_every_replica_does_not_wait_for_the_lease(cluster: Cluster) {
    cluster.run(on_each_copy).await;
    cluster.stop_operator().await;
    let lease = json!({
        "metadata": {"name": "copies"},
        "spec": {"holderIdentity": "another", "leaseDurationSeconds": 3600},
    });
    let lease: Lease = serde_json::from_value(lease).expect("a Lease");
    cluster.create(lease).await;
    let options = RunOptions {
        clock: cluster.clock(),
        election: Some(ElectionOptions::new(cluster.namespace())),
        ..RunOptions::default()
    };
    let running = on_each_copy().start(cluster.client(), options);
    let running = running.expect("it starts");
    running.ready().await;
    let runs = || {
        let controllers = running.controllers().iter();
        let runs: Vec<_> = controllers.map(|one| one.metrics().successes).collect();
        runs
    };
    cluster.apply(census("one")).await;
    cluster
        .eventually("a run of the second", async |_| runs() == [0, 1])
        .await;
    cluster
        .consistently(Duration::from_secs(30), "none of the first", async |_| {
            runs()[0] == 0
        })
        .await;
    assert!(!running.leadership().is_leading());
    running.stop().await;
}
