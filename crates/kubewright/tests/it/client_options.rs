//! Limits of clients, dry runs, strict fields, one namespace, retries on conflict, filters.

use std::sync::atomic::{AtomicU32, Ordering};

use http::{Request, Response};
use k8s_openapi::api::core::v1::Node;
use kubewright::Verb;
use kubewright::client::{Blocked, ClientLimits, Namespaced, RequestFilter, with_layer};
use kubewright::controller::resource_of;
use kubewright::kube::Client;
use kubewright::kube::api::{Api, DeleteParams, ListParams, PostParams};
use kubewright::kube::client::Body;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::json;
use tokio::time::Instant;

use crate::example_code::{client_limits, dry_run};

/// A client of the cluster that gets 429 for the first `rejected` requests; and the number of its
/// requests.
fn overloaded(cluster: &Cluster, rejected: u32) -> (Client, Arc<AtomicU32>) {
    let requests = Arc::new(AtomicU32::new(0));
    let (counted, client) = (Arc::clone(&requests), cluster.client());
    let service = tower::service_fn(move |request: Request<Body>| {
        let number = counted.fetch_add(1, Ordering::SeqCst);
        let client = client.clone();
        async move {
            if number >= rejected {
                return client.send(request).await;
            }
            let response = Response::builder().status(429).header("retry-after", "1");
            Ok(response.body(Body::empty()).expect("a response"))
        }
    });
    let namespace = cluster.namespace().to_owned();
    (Client::new(service, namespace), requests)
}

#[kubewright_testing::test]
async fn client_sends_no_faster_than_its_rate_limit(cluster: Cluster) {
    let took = client_limits::list_eight_times(&cluster.client(), cluster.namespace()).await;
    let took = took.expect("eight responses");
    // A burst of five; the eighth request is the third that waits for a tenth of a second.
    assert!(took >= Duration::from_millis(300), "{took:?}");
}

#[kubewright_testing::test]
async fn overloaded_server_is_retried_after_the_delay_it_sets(cluster: Cluster) {
    let (client, requests) = overloaded(&cluster, 2);
    let took = client_limits::list_eight_times(&client, cluster.namespace()).await;
    let took = took.expect("eight responses");
    assert!(took >= Duration::from_secs(2), "{took:?}");
    assert_eq!(requests.load(Ordering::SeqCst), 8 + 2);
    // The number of retries is limited.
    let (client, requests) = overloaded(&cluster, u32::MAX);
    let error = client_limits::list_eight_times(&client, cluster.namespace()).await;
    error.expect_err("overloaded for longer");
    assert_eq!(requests.load(Ordering::SeqCst), 1 + 2);
}

#[kubewright_testing::test]
async fn timeout_covers_all_retries(cluster: Cluster) {
    let limits = ClientLimits {
        timeout: Duration::from_millis(1500),
        ..client_limits::LIMITS
    };
    let (client, _) = overloaded(&cluster, u32::MAX);
    let maps: Api<ConfigMap> = Api::namespaced(limits.wrap(&client), cluster.namespace());
    let start = Instant::now();
    let error = maps.list(&ListParams::default()).await;
    let error = error.expect_err("no response in time");
    assert!(error.to_string().contains("timed out after"), "{error}");
    assert!(start.elapsed() >= Duration::from_millis(1500));
    assert!(start.elapsed() < Duration::from_secs(4));
}

#[kubewright_testing::test]
async fn dry_run_stores_and_deletes_nothing(cluster: Cluster) {
    let client = dry_run::strict(cluster.client(), cluster.namespace());
    let dry = dry_run::dry_run(&client);
    let opened = dry_run::open_and_close(dry.clone(), "savings").await;
    let account = opened.expect("it would work");
    assert!(account.metadata.uid.is_some());
    let managed_fields = account.metadata.managed_fields.unwrap_or_default();
    let managers = managed_fields.into_iter().filter_map(|entry| entry.manager);
    assert_eq!(managers.collect::<Vec<_>>(), ["accountant"]);
    assert!(cluster.get::<ConfigMap>("savings").await.is_none());
    let account = json!({"metadata": {"name": "kept"}});
    let account: ConfigMap = serde_json::from_value(account).expect("a ConfigMap");
    cluster.create(account).await;
    let accounts: Api<ConfigMap> = Api::default_namespaced(dry);
    let (delete, all) = (DeleteParams::default(), ListParams::default());
    let deleted = accounts.delete("kept", &delete).await;
    deleted.expect("it would be deleted");
    let deleted = accounts.delete_collection(&delete, &all).await;
    deleted.expect("all would be deleted");
    assert!(cluster.get::<ConfigMap>("kept").await.is_some());
    // Without the dry run.
    let opened = dry_run::open_and_close(client, "savings").await;
    opened.expect("it works");
    assert!(cluster.get::<ConfigMap>("savings").await.is_none());
}

#[kubewright_testing::test]
async fn strict_client_rejects_an_unknown_field(cluster: Cluster) {
    let client = dry_run::strict(cluster.client(), cluster.namespace());
    let post = || {
        let path = format!("/api/v1/namespaces/{}/configmaps", cluster.namespace());
        let body = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "typo"}, "dta": {},
        });
        http::Request::post(path)
            .header("content-type", "application/json")
            .body(body.to_string().into_bytes())
            .expect("a request")
    };
    let error = client.request::<ConfigMap>(post()).await;
    let error = error.expect_err("an unknown field").to_string();
    assert!(error.contains("unknown field \"dta\""), "{error}");
    let lenient = cluster.client().request::<ConfigMap>(post()).await;
    lenient.expect("only a warning");
}

#[kubewright_testing::test]
async fn namespaced_client_is_denied_other_namespaces(cluster: Cluster) {
    let nodes = resource_of::<Node>();
    let client = Namespaced::new(cluster.namespace()).and(nodes);
    let client = client.wrap(&cluster.client());
    let own: Api<ConfigMap> = Api::default_namespaced(client.clone());
    own.list(&ListParams::default()).await.expect("its own");
    let nodes: Api<Node> = Api::all(client.clone());
    nodes.list(&ListParams::default()).await.expect("named");
    for other in [
        Api::<ConfigMap>::namespaced(client.clone(), "kube-system"),
        Api::<ConfigMap>::all(client),
    ] {
        let error = other.list(&ListParams::default()).await;
        let error = error.expect_err("another namespace");
        assert!(
            error.to_string().contains("restricted to the namespace"),
            "{error}"
        );
    }
}

#[kubewright_testing::test]
async fn conflicting_update_is_retried(cluster: Cluster) {
    let account = json!({"metadata": {"name": "wages"}, "data": {"balance": "10"}});
    let account: ConfigMap = serde_json::from_value(account).expect("a ConfigMap");
    cluster.create(account).await;
    let client = dry_run::strict(cluster.client(), cluster.namespace());
    // Another client writes between the first read and the first write.
    let (rival, puts) = (cluster.client(), Arc::new(AtomicU32::new(0)));
    let (sender, count) = (client.clone(), Arc::clone(&puts));
    let namespace = cluster.namespace().to_owned();
    let request_namespace = namespace.clone();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (sender, rival) = (sender.clone(), rival.clone());
        let namespace = request_namespace.clone();
        let is_first =
            request.method() == http::Method::PUT && count.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            if is_first {
                let accounts: Api<ConfigMap> = Api::namespaced(rival, &namespace);
                let mut account = accounts.get("wages").await?;
                let data = account.data.get_or_insert_default();
                data.insert("balance".to_owned(), "100".to_owned());
                accounts
                    .replace("wages", &PostParams::default(), &account)
                    .await?;
            }
            sender.send(request).await
        }
    });
    let client = Client::new(service, namespace);
    let balance = dry_run::pay_in(client, "wages", 7).await;
    assert_eq!(balance.expect("paid in"), 107);
    assert_eq!(puts.load(Ordering::SeqCst), 2);
}

/// Blocks deletes.
#[derive(Clone)]
struct NoDeletes;

impl RequestFilter for NoDeletes {
    type RequestState = ();

    fn before(&self, request: &mut Request<Body>) -> Result<(), Blocked> {
        if request.method() == http::Method::DELETE {
            return Err(Blocked::new("this client does not delete"));
        }
        Ok(())
    }
}

#[kubewright_testing::test]
async fn filter_of_the_user_blocks_requests(cluster: Cluster) {
    let account = json!({"metadata": {"name": "kept"}});
    let account: ConfigMap = serde_json::from_value(account).expect("a ConfigMap");
    cluster.create(account).await;
    let client = with_layer(&cluster.client(), NoDeletes.layer());
    let accounts: Api<ConfigMap> = Api::namespaced(client, cluster.namespace());
    accounts.get("kept").await.expect("the account");
    let deleted = accounts.delete("kept", &DeleteParams::default()).await;
    let error = deleted.map(drop).expect_err("a blocked request");
    assert!(Blocked::is_cause_of(&error), "{error}");
    assert!(cluster.get::<ConfigMap>("kept").await.is_some());
}

/// Counts the requests that pass the layers of an operator.
#[derive(Clone, Default)]
struct Counter(Arc<AtomicU32>);

impl RequestFilter for Counter {
    type RequestState = ();

    fn before(&self, _: &mut Request<Body>) -> Result<(), Blocked> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

async fn label(map: Arc<ConfigMap>, cx: Context<ConfigMap>) -> Result<Outcome> {
    let labeled = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": map.name_any(), "labels": {"seen": "yes"}},
    });
    let labeled: ConfigMap = serde_json::from_value(labeled)?;
    cx.apply(&labeled).unowned().await?;
    Ok(Outcome::done())
}

#[kubewright_testing::test]
async fn requests_of_an_operator_pass_its_client_layers(cluster: Cluster) {
    let (outer, inner) = (Counter::default(), Counter::default());
    let layers = (outer.clone(), NoDeletes, inner.clone());
    cluster
        .run(move || {
            let (outer, no_deletes, inner) = layers.clone();
            Operator::new("layered")
                .controller(Controller::new(label).writes(kind::<ConfigMap>(), [Verb::Patch]))
                .client_layer(outer.layer())
                .client_layer(no_deletes.layer())
                .client_layer(inner.layer())
        })
        .await;
    let map = json!({"metadata": {"name": "a"}});
    let map: ConfigMap = serde_json::from_value(map).expect("a ConfigMap");
    cluster.create(map).await;
    cluster
        .eventually("a labeled ConfigMap", async |c| {
            let map = c.get::<ConfigMap>("a").await;
            map.is_some_and(|map| map.labels().contains_key("seen"))
        })
        .await;
    let sent = outer.0.load(Ordering::SeqCst);
    assert!(sent >= 2, "a list and an apply: {sent}");
    assert_eq!(inner.0.load(Ordering::SeqCst), sent);
}
