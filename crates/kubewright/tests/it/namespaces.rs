//! The namespaces that an operator is restricted to, and its own namespace.

use k8s_openapi::api::core::v1::Namespace;
use kubewright::prelude::*;
use kubewright::{NamespaceSet, RunOptions};
use kubewright_testing::Cluster;
use parking_lot::Mutex;

use crate::example_code::some_namespaces::{Form, FormSpec, operator};

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
async fn operator_works_only_in_its_namespaces_which_can_change(cluster: Cluster) {
    let own = cluster.namespace().to_owned();
    let other = format!("{own}-other");
    cluster.create(namespace(&other)).await;
    let in_other = cluster.in_namespace(&other);
    let namespaces = NamespaceSet::new([&own, &other].map(String::as_str));
    let (registered, changed) = (namespaces.clone(), namespaces.clone());
    // Its roles are those of both namespaces; it starts with one.
    cluster.run(move || operator(registered.clone())).await;
    changed.remove(&other);
    let form = |name: &str| Form::new(name, FormSpec {});
    cluster.apply(form("first")).await;
    in_other.apply(form("other")).await;
    cluster
        .eventually("the form in the first namespace", async |c| {
            known(c, "first").await == Some(1)
        })
        .await;
    in_other
        .consistently(
            Duration::from_secs(2),
            "the other namespace is not reconciled",
            async |c| known(c, "other").await.is_none(),
        )
        .await;
    changed.add(&other);
    in_other
        .eventually("the form in the other namespace", async |c| {
            known(c, "other").await == Some(2)
        })
        .await;
    changed.remove(&own);
    in_other.apply(form("second")).await;
    in_other
        .eventually(
            "the forms of the first namespace to be dropped",
            async |c| known(c, "second").await == Some(2),
        )
        .await;
}

/// Records its own namespace for each Form.
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
async fn context_has_the_own_namespace_of_the_operator(cluster: Cluster) {
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let recorded = Arc::clone(&seen);
    cluster.run(move || whereabouts(&recorded)).await;
    cluster.apply(Form::new("form", FormSpec {})).await;
    cluster
        .eventually("the form is seen", async |_| !seen.lock().is_empty())
        .await;
    cluster.stop_operator().await;
    // The namespace of its manifests, not that of the form.
    assert!(seen.lock().iter().all(|name| name == "whereabouts-system"));
    seen.lock().clear();
    let options = RunOptions {
        clock: cluster.clock(),
        namespace: Some("another".to_owned()),
        ..RunOptions::default()
    };
    let running = whereabouts(&seen)
        .start(cluster.client(), options)
        .expect("it starts");
    cluster
        .eventually("the form is seen again", async |_| !seen.lock().is_empty())
        .await;
    running.stop().await;
    assert!(seen.lock().iter().all(|name| name == "another"));
}
