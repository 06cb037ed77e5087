//! An operator of some namespaces.

use kubewright::NamespaceSet;
use kubewright::prelude::*;
use kubewright_testing::Cluster;

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
