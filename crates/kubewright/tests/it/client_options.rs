//! Clients with manners, and clients that are kept to something, on a cluster.

use std::sync::atomic::{AtomicU32, Ordering};

use http::{Request, Response};
use kubewright::kube::Client;
use kubewright::kube::api::{Api, DeleteParams, ListParams, PostParams};
use kubewright::kube::client::Body;
use kubewright::prelude::*;
use kubewright::{Blocked, Guard, Namespaced, guarded, resource_of};
use kubewright_testing::Cluster;
use serde_json::json;
use tokio::time::Instant;

use crate::shown::{careful_client, manners};

/// The cluster's client, whose server says so many times that it is busy for a second; and how
/// often it was asked.
fn busy(cluster: &Cluster, times: u32) -> (Client, Arc<AtomicU32>) {
    let asked = Arc::new(AtomicU32::new(0));
    let (counted, client) = (Arc::clone(&asked), cluster.client());
    let service = tower::service_fn(move |request: Request<Body>| {
        let number = counted.fetch_add(1, Ordering::SeqCst);
        let client = client.clone();
        async move {
            if number >= times {
                return client.send(request).await;
            }
            let busy = Response::builder().status(429).header("retry-after", "1");
            Ok(busy.body(Body::empty()).expect("a response"))
        }
    });
    let namespace = cluster.namespace().to_owned();
    (Client::new(service, namespace), asked)
}

#[kubewright_testing::test]
async fn a_client_with_manners_asks_no_faster_than_agreed(cluster: Cluster) {
    let took = manners::ask(cluster.client(), cluster.namespace()).await;
    let took = took.expect("eight answers");
    // Five at once; the eighth is the third that waits for a tenth of a second.
    assert!(took >= Duration::from_millis(300), "{took:?}");
}

#[kubewright_testing::test]
async fn a_busy_server_is_asked_again_when_it_said(cluster: Cluster) {
    let (client, asked) = busy(&cluster, 2);
    let took = manners::ask(client, cluster.namespace()).await;
    let took = took.expect("eight answers");
    assert!(took >= Duration::from_secs(2), "{took:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 8 + 2);
    // One that is busy for longer than we ask again is not asked for ever.
    let (client, asked) = busy(&cluster, u32::MAX);
    let error = manners::ask(client, cluster.namespace()).await;
    error.expect_err("too busy");
    assert_eq!(asked.load(Ordering::SeqCst), 1 + 2);
}

#[kubewright_testing::test]
async fn nobody_waits_longer_than_the_deadline(cluster: Cluster) {
    let manners = kubewright::Manners {
        patience: Duration::from_millis(1500),
        ..manners::MODEST
    };
    let (client, _) = busy(&cluster, u32::MAX);
    let maps: Api<ConfigMap> = Api::namespaced(manners.guard(client), cluster.namespace());
    let start = Instant::now();
    let error = maps.list(&ListParams::default()).await;
    let error = error.expect_err("no answer in time");
    assert!(error.to_string().contains("timed out after"), "{error}");
    assert!(start.elapsed() >= Duration::from_millis(1500));
    assert!(start.elapsed() < Duration::from_secs(4));
}

#[kubewright_testing::test]
async fn a_rehearsal_stores_and_deletes_nothing(cluster: Cluster) {
    let client = careful_client::careful(cluster.client(), cluster.namespace());
    let dry = careful_client::rehearsal(client.clone());
    let opened = careful_client::open_and_close(dry.clone(), "savings").await;
    let opened = opened.expect("it would work");
    assert!(opened.metadata.uid.is_some());
    let managers = opened.metadata.managed_fields.unwrap_or_default();
    let managers = managers.into_iter().filter_map(|one| one.manager);
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
    // The same for real.
    let opened = careful_client::open_and_close(client, "savings").await;
    opened.expect("it works");
    assert!(cluster.get::<ConfigMap>("savings").await.is_none());
}

#[kubewright_testing::test]
async fn a_strict_client_does_not_write_a_field_too_many(cluster: Cluster) {
    let client = careful_client::careful(cluster.client(), cluster.namespace());
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
    let refused = client.request::<ConfigMap>(post()).await;
    let refused = refused.expect_err("a field too many").to_string();
    assert!(refused.contains("unknown field \"dta\""), "{refused}");
    let lenient = cluster.client().request::<ConfigMap>(post()).await;
    lenient.expect("only a warning");
}

#[kubewright_testing::test]
async fn a_client_for_one_namespace_leaves_the_others_alone(cluster: Cluster) {
    let nodes = resource_of::<Node>();
    let client = Namespaced::new(cluster.namespace()).and(nodes);
    let client = client.guard(cluster.client());
    let here: Api<ConfigMap> = Api::default_namespaced(client.clone());
    here.list(&ListParams::default()).await.expect("its own");
    let nodes: Api<Node> = Api::all(client.clone());
    nodes.list(&ListParams::default()).await.expect("named");
    for elsewhere in [
        Api::<ConfigMap>::namespaced(client.clone(), "kube-system"),
        Api::<ConfigMap>::all(client),
    ] {
        let error = elsewhere.list(&ListParams::default()).await;
        let error = error.expect_err("not its own");
        assert!(
            error.to_string().contains("is for the namespace"),
            "{error}"
        );
    }
}

#[kubewright_testing::test]
async fn a_change_survives_those_of_others(cluster: Cluster) {
    let account = json!({"metadata": {"name": "wages"}, "data": {"balance": "10"}});
    let account: ConfigMap = serde_json::from_value(account).expect("a ConfigMap");
    cluster.create(account).await;
    let client = careful_client::careful(cluster.client(), cluster.namespace());
    // Between the first read and the first write somebody else pays in.
    let (rival, meddled) = (cluster.client(), Arc::new(AtomicU32::new(0)));
    let (sender, count) = (client.clone(), Arc::clone(&meddled));
    let namespace = cluster.namespace().to_owned();
    let place = namespace.clone();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (sender, rival, place) = (sender.clone(), rival.clone(), place.clone());
        let is_first =
            request.method() == http::Method::PUT && count.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            if is_first {
                let accounts: Api<ConfigMap> = Api::namespaced(rival, &place);
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
    let balance = careful_client::pay_in(client, "wages", 7).await;
    assert_eq!(balance.expect("paid in"), 107);
    assert_eq!(meddled.load(Ordering::SeqCst), 2);
}

/// Lets nothing be deleted.
#[derive(Clone)]
struct Keeper;

impl Guard for Keeper {
    type Noted = ();

    fn before(&self, request: &mut Request<Body>) -> Result<(), Blocked> {
        match request.method() == http::Method::DELETE {
            true => Err(Blocked::new("nothing is deleted here")),
            false => Ok(()),
        }
    }
}

#[kubewright_testing::test]
async fn a_guard_of_the_users_own_stops_requests(cluster: Cluster) {
    let account = json!({"metadata": {"name": "kept"}});
    let account: ConfigMap = serde_json::from_value(account).expect("a ConfigMap");
    cluster.create(account).await;
    let client = guarded(&cluster.client(), Keeper);
    let accounts: Api<ConfigMap> = Api::namespaced(client, cluster.namespace());
    accounts.get("kept").await.expect("it is there");
    let deleted = accounts.delete("kept", &DeleteParams::default()).await;
    let error = deleted.map(drop).expect_err("a guard");
    assert!(Blocked::is_cause_of(&error), "{error}");
    assert!(cluster.get::<ConfigMap>("kept").await.is_some());
}
