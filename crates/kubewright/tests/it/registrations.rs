//! Options of registrations, and what a reconcile function can do with them, on a cluster.

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

/// An object whose status lists what its controller sees.
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

/// Returns the names in order.
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
        let error = unknown.err().map(|error| error.to_string());
        let seen = vec![
            red.join(" "),
            paint.join(" "),
            error
                .unwrap_or_default()
                .contains(".index(\"size\", ..)")
                .to_string(),
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
async fn objects_are_found_by_index_and_by_labels(cluster: Cluster) {
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
        .eventually(
            "the object that is no longer red to be missing",
            async |c| seen(c, "all").await == ["c", "a b", "true"],
        )
        .await;
    // Both search all namespaces, like a list.
    let other = format!("{}-other", cluster.namespace());
    let namespace = json!({"metadata": {"name": other}});
    let namespace: Namespace = serde_json::from_value(namespace).expect("a Namespace");
    cluster.create(namespace).await;
    let in_other = cluster.in_namespace(&other);
    in_other.apply(map("d", "paint", "red")).await;
    cluster
        .eventually("the object in the other namespace, too", async |c| {
            seen(c, "all").await == ["c d", "a b d", "true"]
        })
        .await;
}

fn of_a_dynamic_kind() -> Operator {
    fn names(maps: &List<DynamicObject>) -> String {
        let mut names: Vec<_> = maps.iter().map(|map| map.name_any()).collect();
        names.sort();
        names.join(" ")
    }
    async fn reconcile(_: Arc<Census>, cx: Context<Census>) -> Result<Outcome> {
        let resource = resource_of::<ConfigMap>();
        let maps = cx.of(&resource);
        let unknown = maps.by_index("size", "1").map(drop);
        let error = unknown.err().map(|error| error.to_string());
        let seen = vec![
            names(&maps.by_index("color", "red")?),
            names(&maps.matching("kind=paint")?),
            error.unwrap_or_default(),
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
async fn objects_of_a_dynamic_kind_are_found_by_index_and_by_labels(cluster: Cluster) {
    cluster.run(of_a_dynamic_kind).await;
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
async fn selection_by_fields_and_namespace_excludes_other_objects(cluster: Cluster) {
    let namespace = cluster.namespace().to_owned();
    let other = format!("{namespace}-other");
    let object = json!({"metadata": {"name": other}});
    let object: Namespace = serde_json::from_value(object).expect("a Namespace");
    cluster.create(object).await;
    let in_other = cluster.in_namespace(&other);
    in_other.apply(map("chosen", "", "blue")).await;
    cluster.apply(map("other", "", "red")).await;
    cluster.run(move || chosen(&namespace)).await;
    cluster.apply(census("all")).await;
    cluster.apply(map("chosen", "", "red")).await;
    cluster
        .eventually("the selected object", async |c| {
            seen(c, "all").await == ["chosen red"]
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
    // Changes of its own status do not enqueue it either.
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
async fn transform_removes_fields_before_they_are_cached(cluster: Cluster) {
    let secret = |name: &str| {
        let secret = json!({"metadata": {"name": name}, "data": {"password": "MTIzNA=="}});
        serde_json::from_value::<Secret>(secret).expect("a Secret")
    };
    cluster.run(without_data).await;
    let mut annotated = census("one");
    let notes = annotated.metadata.annotations.get_or_insert_default();
    notes.insert("note".to_owned(), "of another client".to_owned());
    cluster.apply(annotated).await;
    cluster
        .eventually("no Secret", async |c| {
            seen(c, "one").await == ["None None 0"]
        })
        .await;
    // A Secret of another name enqueues another census.
    cluster.create(secret("two")).await;
    cluster.create(secret("one")).await;
    cluster
        .eventually("the Secret, in the cache without its data", async |c| {
            seen(c, "one").await == ["Some(false) Some(true) 0"]
        })
        .await;
    // The predicate filters deletions out.
    cluster.delete::<Secret>("one").await;
    cluster
        .consistently(Duration::from_secs(2), "no further reconcile", async |c| {
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
        let (ledger, result) = cx
            .create_or_patch(&empty, |ledger| {
                owner::set_owner(&*census, ledger)?;
                let data = ledger.data.get_or_insert_default();
                data.entry(name.clone()).or_insert_with(|| "0".to_owned());
                Ok(())
            })
            .await?;
        if result == WriteResult::Unchanged {
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
async fn several_objects_own_one_object_together(cluster: Cluster) {
    cluster.run(ledger).await;
    for name in ["a", "b", "c"] {
        cluster.apply(census(name)).await;
    }
    let all_have_pages = async |cluster: &Cluster| {
        for name in ["a", "b", "c"] {
            if seen(cluster, name).await != ["a", "b", "c"] {
                return false;
            }
        }
        true
    };
    cluster.eventually("a page for each", all_have_pages).await;
    let ledger = cluster.get::<ConfigMap>("ledger").await.expect("a ledger");
    assert_eq!(ledger.owner_references().len(), 3);
    assert!(owner::controller_of(&ledger).is_none());
    // Another client removes a page and changes another one.
    let patch = json!({"data": {"a": null, "b": "7"}});
    cluster.patch::<ConfigMap>("ledger", patch).await;
    cluster
        .eventually(
            "the removed page again, and the changed page unchanged",
            async |c| {
                let ledger = c.get::<ConfigMap>("ledger").await;
                let data = ledger.and_then(|ledger| ledger.data).unwrap_or_default();
                data.get("a").is_some_and(|page| page == "0")
                    && data.get("b").is_some_and(|page| page == "7")
            },
        )
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
async fn event_can_regard_another_object(cluster: Cluster) {
    cluster.run(readers).await;
    cluster.apply(map("other", "bill", "")).await;
    cluster.apply(map("once-upon-a-time", "tale", "")).await;
    cluster.apply(census("ada")).await;
    cluster
        .eventually("both events", async |c| {
            let events = c.list::<StoredEvent>().await;
            let regarding = |reason: &str| {
                events
                    .iter()
                    .filter(|event| event.reason.as_deref() == Some(reason))
                    .filter_map(|event| event.regarding.clone()?.name)
                    .collect::<Vec<_>>()
            };
            regarding("Read") == ["once-upon-a-time"] && regarding("Reading") == ["ada"]
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
async fn patch_changes_one_field_of_an_object_of_another_client(cluster: Cluster) {
    cluster.run(stamps).await;
    cluster.apply(census("letter")).await;
    let secret = json!({
        "metadata": {"name": "letter", "annotations": {"from": "ada"}},
        "data": {"text": "aGVsbG8="},
    });
    let secret: Secret = serde_json::from_value(secret).expect("a Secret");
    cluster.create(secret).await;
    cluster
        .eventually("the stamp and the existing annotation", async |c| {
            let secret = c.get::<Secret>("letter").await;
            let annotations = secret.map(|secret| secret.annotations().clone());
            annotations
                .unwrap_or_default()
                .into_iter()
                .collect::<Vec<_>>()
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
        let mut copy = Secret::clone(&secret);
        // The namespace of the census is the default.
        copy.metadata.namespace = None;
        let patched = cx.patch(&copy, stamp).await?;
        copy.metadata.uid = None;
        let failed = cx.patch(&copy, stamp).await.err();
        let error = failed.map(|error| error.to_string()).unwrap_or_default();
        let seen = vec![
            patched.is_some().to_string(),
            error.contains("it has no uid").to_string(),
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
async fn patch_of_an_object_without_uid_fails(cluster: Cluster) {
    cluster.run(unread).await;
    cluster.apply(census("letter")).await;
    let secret = json!({"metadata": {"name": "letter"}});
    let secret: Secret = serde_json::from_value(secret).expect("a Secret");
    cluster.create(secret).await;
    cluster
        .eventually("one patch and one error", async |c| {
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
async fn keys_have_the_priority_of_the_kind_that_enqueued_them(cluster: Cluster) {
    cluster.run(alarms).await;
    cluster.stop_operator().await;
    // Another copy leads, so the queue of this one fills.
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
    let running = alarms()
        .start(cluster.client(), options)
        .expect("it starts");
    running.ready().await;
    let waiting = || running.controllers()[0].queue_metrics().depth;
    cluster.apply(census("a")).await;
    cluster
        .eventually("one key in the queue", async |_| {
            waiting() == BTreeMap::from([(Priority::NORMAL, 1)])
        })
        .await;
    cluster.apply(map("fire", "alarm", "red")).await;
    cluster
        .eventually("the key with the higher priority", async |_| {
            waiting() == BTreeMap::from([(Priority(7), 1)])
        })
        .await;
    running.stop().await;
}

/// Counts its calls and fails; the backoff is an hour.
fn failing(count: &Arc<AtomicU32>) -> Operator {
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
    Operator::new("failing").controller(Controller::new(reconcile).queue(queue))
}

#[kubewright_testing::test]
async fn failed_key_is_retried_after_the_backoff_of_the_queue(cluster: Cluster) {
    let count = Arc::<AtomicU32>::default();
    let counter = Arc::clone(&count);
    cluster.run(move || failing(&counter)).await;
    cluster.apply(census("one")).await;
    cluster
        .eventually("the first call", async |_| {
            count.load(Ordering::SeqCst) == 1
        })
        .await;
    cluster
        .consistently(Duration::from_secs(5), "no second call", async |_| {
            count.load(Ordering::SeqCst) == 1
        })
        .await;
}

fn of_open_censuses() -> Operator {
    async fn reconcile(census: Arc<Census>, cx: Context<Census>) -> Result<Outcome> {
        let all = cx.list::<Census>()?;
        let mut seen: Vec<_> = all.iter().map(|census| census.name_any()).collect();
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
async fn controller_reconciles_only_the_selected_objects_of_its_kind(cluster: Cluster) {
    let open = |name: &str, is_open: &str| {
        let mut census = census(name);
        census.metadata.labels = Some([("open".to_owned(), is_open.to_owned())].into());
        census
    };
    cluster.run(of_open_censuses).await;
    cluster.apply(open("closed", "no")).await;
    cluster.apply(open("first", "yes")).await;
    cluster
        .eventually("the open census alone", async |c| {
            seen(c, "first").await == ["first", "1"]
        })
        .await;
    cluster
        .consistently(
            Duration::from_secs(2),
            "no status of the closed census",
            async |c| seen(c, "closed").await.is_empty(),
        )
        .await;
    cluster.apply(open("first", "no")).await;
    cluster.apply(open("closed", "yes")).await;
    cluster
        .eventually("the census that matches now", async |c| {
            seen(c, "closed").await == ["closed", "1"]
        })
        .await;
}

const DEBOUNCE: Duration = Duration::from_secs(2);

fn of_debounced_censuses() -> Operator {
    async fn reconcile(census: Arc<Census>, cx: Context<Census>) -> Result<Outcome> {
        cx.status(|status| status.seen = vec![census.name_any()])
            .await?;
        Ok(Outcome::done())
    }
    let debounced = kind::<Census>().debounce(DEBOUNCE);
    Operator::new("debounced").controller(Controller::new(reconcile).select(debounced))
}

#[kubewright_testing::test]
async fn selection_of_the_own_kind_can_have_a_debounce_time(cluster: Cluster) {
    cluster.run(of_debounced_censuses).await;
    let start = tokio::time::Instant::now();
    cluster.apply(census("late")).await;
    cluster
        .eventually("the status after the debounce time", async |c| {
            seen(c, "late").await == ["late"]
        })
        .await;
    assert!(start.elapsed() >= DEBOUNCE, "{:?}", start.elapsed());
}

#[tokio::test]
async fn invalid_selection_of_the_own_kind_is_an_error() {
    async fn reconcile(_: Arc<DynamicObject>, _: Context<DynamicObject>) -> Result<Outcome> {
        Ok(Outcome::done())
    }
    let error_of = |selection| {
        let controller = Controller::of(resource_of::<Node>(), reconcile).select(selection);
        let unreachable = tower::service_fn(async |_: Request<Body>| {
            Err::<Response<Body>, _>("connection refused")
        });
        let client = Client::new(unreachable, "default");
        let operator = Operator::new("none").controller(controller);
        let started = operator.start(client, RunOptions::default());
        started.map(drop).expect_err("an error").to_string()
    };
    let other = error_of(kind_of(resource_of::<Pod>()));
    assert!(other.contains(".select(..) of another kind"), "{other}");
    let namespaced = error_of(kind_of(resource_of::<Node>()).namespace("web"));
    assert!(namespaced.contains(".namespace(..)"), "{namespaced}");
    let invalid = error_of(kind_of(resource_of::<Node>()).labels("a=("));
    assert!(invalid.contains("a=("), "{invalid}");
}

/// A ConfigMap with one key of its data.
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

fn by_projection() -> Operator {
    async fn reconcile(_: Arc<Census>, cx: Context<Census>) -> Result<Outcome> {
        let informer = cx.informer::<Colored>()?;
        let mut seen = Vec::new();
        for map in cx.list::<Colored>()?.iter() {
            let key = ObjectKey::new(map.metadata.namespace.as_deref(), &map.name_any());
            let record = informer.store().get(&key);
            let cached = record.map(|record| record.to_value()["data"].to_string());
            let color = map.data.as_ref().and_then(|data| data.color.clone());
            seen.push(format!("{color:?} of {}", cached.unwrap_or_default()));
        }
        cx.status(|status| status.seen = seen).await?;
        Ok(Outcome::done())
    }
    let colored = projection::<Colored>().labels("kind=paint");
    Operator::new("parts").controller(Controller::new(reconcile).watches(colored, enqueue::all()))
}

#[kubewright_testing::test]
async fn projection_caches_only_the_fields_of_its_struct(cluster: Cluster) {
    let mut paint = map("wall", "paint", "white");
    let data = paint.data.get_or_insert_default();
    data.insert("recipe".to_owned(), "a long one".to_owned());
    cluster.apply(paint).await;
    cluster.run(by_projection).await;
    cluster.apply(census("all")).await;
    cluster
        .eventually("the color and no other field", async |c| {
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
async fn controller_on_every_replica_does_not_wait_for_the_lease(cluster: Cluster) {
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
    let running = on_each_copy()
        .start(cluster.client(), options)
        .expect("it starts");
    running.ready().await;
    let runs = || {
        let controllers = running.controllers().iter();
        controllers
            .map(|controller| controller.metrics().successes)
            .collect::<Vec<_>>()
    };
    cluster.apply(census("one")).await;
    cluster
        .eventually("a run of the second controller", async |_| runs() == [0, 1])
        .await;
    cluster
        .consistently(
            Duration::from_secs(30),
            "no run of the first controller",
            async |_| runs()[0] == 0,
        )
        .await;
    assert!(!running.leadership().is_leading());
    running.stop().await;
}
