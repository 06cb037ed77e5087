use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use futures_util::future::BoxFuture;
use kube::Client;
use tokio_util::sync::CancellationToken;

use super::InformerSpec;
use super::feed::Feed;
use crate::NamespaceSet;
use crate::reflector::{Reflector, ReflectorOptions};

/// An informer that reads namespaces one by one, those of a set that may change.
pub(super) struct Parts {
    pub(super) client: Client,
    pub(super) spec: InformerSpec,
    pub(super) options: ReflectorOptions,
    pub(super) feed: Feed,
}

impl Parts {
    /// Follows the namespaces of the set until `stop`: those that come are read, those that go
    /// are forgotten.
    pub(super) async fn follow(self, namespaces: NamespaceSet, stop: CancellationToken) {
        let mut changes = namespaces.subscribe();
        let mut followed: BTreeMap<String, BoxFuture<'static, ()>> = BTreeMap::new();
        loop {
            let wanted = changes.borrow_and_update().clone();
            let gone: Vec<String> = followed
                .keys()
                .filter(|name| !wanted.contains(*name))
                .cloned()
                .collect();
            for name in gone {
                // Dropped first, so that it brings nothing more.
                followed.remove(&name);
                self.feed.leave(&name);
            }
            for name in wanted {
                let following = || self.one(&name, &stop);
                followed.entry(name.clone()).or_insert_with(following);
            }
            self.feed.sync_if_complete();
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                changed = changes.changed() => if changed.is_err() {
                    // Nobody can change them any more, not even through the store's filter.
                    stop.cancelled().await;
                    break;
                },
                () = poll_all(&mut followed) => {}
            }
        }
        drop(followed);
        self.feed.stop();
    }

    fn one(&self, namespace: &str, stop: &CancellationToken) -> BoxFuture<'static, ()> {
        let spec = InformerSpec {
            namespace: Some(namespace.to_owned()),
            ..self.spec.clone()
        };
        let reflector = Reflector::new(self.client.clone(), spec, self.options.clone());
        self.feed.expect(namespace);
        let mut feed = Feed {
            shared: Arc::clone(&self.feed.shared),
            part: Some(namespace.to_owned()),
        };
        let stop = stop.clone();
        Box::pin(async move { reflector.run(&mut feed, &stop).await })
    }
}

/// Lets all of them go on; they end only when they are stopped.
async fn poll_all(followed: &mut BTreeMap<String, BoxFuture<'static, ()>>) {
    poll_fn(|cx| {
        let mut ended = Vec::new();
        for (name, following) in followed.iter_mut() {
            if following.as_mut().poll(cx).is_ready() {
                ended.push(name.clone());
            }
        }
        followed.retain(|name, _| !ended.contains(name));
        Poll::<()>::Pending
    })
    .await;
}
