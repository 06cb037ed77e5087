//! Memcached and Guestbook, the samples of other projects' tutorials, on a cluster.

use kubewright::prelude::*;
use kubewright_testing::Cluster;

use crate::example_code::{guestbook, memcached};

#[kubewright_testing::test(nodes = 1)]
async fn memcached_has_the_replicas_of_its_spec(cluster: Cluster) {
    cluster.run(memcached::operator).await;
    let cache = |size| {
        let container_port = memcached::default_port();
        let spec = memcached::MemcachedSpec {
            size,
            container_port,
        };
        memcached::Memcached::new("cache", spec)
    };
    let message = async |cluster: &Cluster| {
        let cache = cluster.get::<memcached::Memcached>("cache").await;
        let status = cache.and_then(|cache| cache.status);
        let conditions = status.map(|status| status.conditions).unwrap_or_default();
        let available = conditions
            .into_iter()
            .find(|condition| condition.status == "True");
        available.map(|condition| condition.message)
    };
    cluster.apply(cache(2)).await;
    cluster
        .eventually("two available replicas", async |c| {
            message(c).await.as_deref() == Some("2 of 2 are available")
        })
        .await;
    cluster.apply(cache(3)).await;
    cluster
        .eventually("a third replica", async |c| {
            message(c).await.as_deref() == Some("3 of 3 are available")
        })
        .await;
    assert_eq!(cluster.list::<Pod>().await.len(), 3);
}

#[kubewright_testing::test(nodes = 1)]
async fn guestbook_has_one_active_pod_and_standbys(cluster: Cluster) {
    cluster.run(guestbook::operator).await;
    let book = |size| {
        let spec = guestbook::GuestbookSpec {
            size,
            config_map_name: "settings".to_owned(),
            alias: guestbook::Alias::Phone,
        };
        guestbook::Guestbook::new("book", spec)
    };
    let status = async |cluster: &Cluster| {
        let book = cluster.get::<guestbook::Guestbook>("book").await;
        book.and_then(|book| book.status).unwrap_or_default()
    };
    cluster.apply(book(3)).await;
    cluster
        .eventually("one active Pod and two standbys", async |c| {
            let status = status(c).await;
            status.active == "book-0" && status.standby == ["book-1", "book-2"]
        })
        .await;
    cluster.apply(book(1)).await;
    cluster
        .eventually("one Pod", async |c| {
            status(c).await.standby.is_empty() && c.list::<Pod>().await.len() == 1
        })
        .await;
}
