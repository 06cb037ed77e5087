//! An informer that reads namespaces one by one.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::task::Poll;

use futures_util::future::BoxFuture;
use kube::Client;
use tokio_util::sync::CancellationToken;

use super::sink::InformerSink;
use crate::NamespaceSet;
use crate::reflector::{InformerSpec, Reflector, ReflectorOptions};

/// Runs one reflector for each namespace of a set that can change.
pub(super) struct NamespacedReflectors {
    pub(super) client: Client,
    pub(super) spec: InformerSpec,
    pub(super) options: ReflectorOptions,
    pub(super) sink: InformerSink,
}

impl NamespacedReflectors {
    /// Reads the namespaces of the set until `stop`: starts a reflector for each namespace that is
    /// added, and removes the objects of each namespace that leaves the set.
    pub(super) async fn run(self, namespaces: NamespaceSet, stop: CancellationToken) {
        let mut changes = namespaces.subscribe();
        let mut running: BTreeMap<String, BoxFuture<'static, ()>> = BTreeMap::new();
        loop {
            let desired = changes.borrow_and_update().clone();
            let removed: Vec<String> = running
                .keys()
                .filter(|name| !desired.contains(*name))
                .cloned()
                .collect();
            for name in removed {
                // Dropped first, so that it adds no more objects.
                running.remove(&name);
                self.sink.remove_namespace(&name);
            }
            for name in desired {
                let start = || self.reflect(&name, &stop);
                running.entry(name.clone()).or_insert_with(start);
            }
            self.sink.sync_if_complete();
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                changed = changes.changed() => if changed.is_err() {
                    // The set can no longer change: no owner is left, the store's filter included.
                    stop.cancelled().await;
                    break;
                },
                () = poll_all(&mut running) => {}
            }
        }
        drop(running);
        self.sink.stop();
    }

    fn reflect(&self, namespace: &str, stop: &CancellationToken) -> BoxFuture<'static, ()> {
        let spec = InformerSpec {
            namespace: Some(namespace.to_owned()),
            ..self.spec.clone()
        };
        let reflector = Reflector::new(self.client.clone(), spec, self.options.clone());
        let mut sink = self.sink.for_namespace(namespace);
        let stop = stop.clone();
        Box::pin(async move { reflector.run(&mut sink, &stop).await })
    }
}

/// Polls all reflectors and never returns. A reflector ends only when it is stopped.
async fn poll_all(running: &mut BTreeMap<String, BoxFuture<'static, ()>>) {
    poll_fn(|cx| {
        running.retain(|_, reflector| reflector.as_mut().poll(cx).is_pending());
        Poll::<()>::Pending
    })
    .await;
}
