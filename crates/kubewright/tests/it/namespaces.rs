//! An operator of some namespaces, and its own.

use k8s_openapi::api::core::v1::Namespace;
use kubewright::prelude::*;
use kubewright::{NamespaceSet, RunOptions};
use kubewright_testing::Cluster;
use parking_lot::Mutex;

use crate::shown::some_namespaces::{Form, FormSpec, operator};

fn namespace(name: &str) -> Namespace {
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        ..ObjectMeta::default()
    };
    Namespace {
        metadata,
        ..Namespace::default()
    }
}

async fn known(cluster: &Cluster, name: &str) -> Option<usize> {
    let form = cluster.get::<Form>(name).await?;
    Some(form.status?.known)
}

#[kubewright_testing::test]
async fn an_operator_works_in_its_namespaces_alone_and_they_can_change(cluster: Cluster) {
    let own = cluster.namespace().to_owned();
    let other = format!("{own}-other");
    cluster.create(namespace(&other)).await;
    let there = cluster.in_namespace(&other);
    let namespaces = NamespaceSet::new([&own, &other].map(String::as_str));
    let (held, changed) = (namespaces.clone(), namespaces.clone());
    // Its roles are those of both; it begins with one.
    cluster.run(move || operator(held.clone())).await;
    changed.remove(&other);
    let form = |name: &str| Form::new(name, FormSpec {});
    cluster.apply(form("here")).await;
    there.apply(form("there")).await;
    cluster
        .eventually("the form here", async |c| known(c, "here").await == Some(1))
        .await;
    there
        .consistently(Duration::from_secs(2), "nobody looks there", async |c| {
            known(c, "there").await.is_none()
        })
        .await;
    changed.add(&other);
    there
        .eventually("the form there", async |c| {
            known(c, "there").await == Some(2)
        })
        .await;
    changed.remove(&own);
    there.apply(form("second")).await;
    there
        .eventually("the forms here to be forgotten", async |c| {
            known(c, "second").await == Some(2)
        })
        .await;
}

/// Says where it runs for each Form that it sees.
fn whereabouts(seen: &Arc<Mutex<Vec<String>>>) -> Operator {
    let seen = Arc::clone(seen);
    Operator::new("whereabouts").controller(Controller::new(
        move |_: Arc<Form>, cx: Context<Form>| {
            seen.lock().push(cx.own_namespace().to_owned());
            async { Ok(Outcome::done()) }
        },
    ))
}

#[kubewright_testing::test]
async fn an_operator_knows_the_namespace_that_it_runs_in_itself(cluster: Cluster) {
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let told = Arc::clone(&seen);
    cluster.run(move || whereabouts(&told)).await;
    cluster.apply(Form::new("here", FormSpec {})).await;
    cluster
        .eventually("the form is seen", async |_| !seen.lock().is_empty())
        .await;
    cluster.stop_operator().await;
    // Where its manifests put it, and not where the form is.
    assert!(seen.lock().iter().all(|one| one == "whereabouts-system"));
    seen.lock().clear();
    let options = RunOptions {
        clock: cluster.clock(),
        namespace: Some("elsewhere".to_owned()),
        ..RunOptions::default()
    };
    let running = whereabouts(&seen).start(cluster.client(), options);
    let running = running.expect("it starts");
    cluster
        .eventually("the form is seen again", async |_| !seen.lock().is_empty())
        .await;
    running.stop().await;
    assert!(seen.lock().iter().all(|one| one == "elsewhere"));
}
