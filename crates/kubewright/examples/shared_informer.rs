//! A shared informer: one watch with an index, two subscriptions, one of which starts late, and a
//! replay.

use kubewright::client::{connect, load_config};
use kubewright::controller::resource_of;
use kubewright::kube::Client;
use kubewright::prelude::*;
use kubewright_runtime::cache::View;
use kubewright_runtime::informer::{InformerSpec, Informers, Notification, Subscription};

/// The events of the subscriptions, and the result of the index.
#[derive(Debug, Default)]
pub(crate) struct Received {
    pub(crate) first: Vec<String>,
    pub(crate) late: Vec<String>,
    pub(crate) replayed: usize,
    pub(crate) red: Vec<String>,
    pub(crate) is_shared: bool,
}

/// Returns the names of the initial objects.
async fn initial_names(subscription: &mut Subscription) -> Vec<String> {
    let mut names = Vec::new();
    while let Some(notification) = subscription.next().await {
        match notification {
            Notification::Change(event) => names.push(event.key.name().to_owned()),
            _ => break,
        }
    }
    names.sort();
    names
}

/// Subscribes to the ConfigMaps of a namespace that have the label `color`.
pub(crate) async fn subscribe(client: Client, namespace: &str) -> Result<Received> {
    let informers = Informers::new(client, Default::default());
    let spec = InformerSpec {
        namespace: Some(namespace.to_owned()),
        labels: "color".parse()?,
        ..InformerSpec::all(resource_of::<ConfigMap>())
    };
    let view = View::<ConfigMap>::new(informers.get(&spec));
    view.add_index("color", |map| {
        map.labels().get("color").cloned().into_iter().collect()
    });
    let mut received = Received::default();
    let mut subscription = view.informer().subscribe();
    received.first = initial_names(&mut subscription).await;
    // An equal spec shares the watch; a late subscription starts with the existing objects.
    let again = informers.get(&spec);
    received.is_shared = informers.all().len() == 1;
    received.late = initial_names(&mut again.subscribe()).await;
    subscription.replay();
    while received.replayed < received.first.len() && subscription.next().await.is_some() {
        received.replayed += 1;
    }
    let red = view.by_index("color", "red")?;
    received.red = red.iter().map(|map| map.name_any()).collect();
    view.informer().store().remove_index("color");
    informers.shutdown().await;
    Ok(received)
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what the example shows")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = connect(load_config(None).await?, "shared-informer-example")?;
    let namespace = client.default_namespace().to_owned();
    println!(
        "{:?}",
        subscribe(client, &namespace)
            .await
            .map_err(|error| error.to_string())?
    );
    Ok(())
}
