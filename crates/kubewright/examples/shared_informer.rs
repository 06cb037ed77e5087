//! One watch for many: an informer with an index, two handlers of which one comes late, and a
//! replay.

use kubewright::controller::resource_of;
use kubewright::kube::Client;
use kubewright::prelude::*;
use kubewright_runtime::cache::View;
use kubewright_runtime::client::{connect, load_config};
use kubewright_runtime::informer::{InformerSpec, Informers, Notification, Subscription};

/// What the handlers have heard, and what the index has found.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) first: Vec<String>,
    pub(crate) late: Vec<String>,
    pub(crate) replayed: usize,
    pub(crate) red: Vec<String>,
    pub(crate) is_shared: bool,
}

/// Hears of changes up to the end of the first state.
async fn first_state(subscription: &mut Subscription) -> Vec<String> {
    let mut heard = Vec::new();
    while let Some(notice) = subscription.next().await {
        match notice {
            Notification::Change(event) => heard.push(event.key.name().to_owned()),
            _ => break,
        }
    }
    heard.sort();
    heard
}

/// Follows the ConfigMaps of a namespace that carry the label `color`.
pub(crate) async fn listen(client: Client, namespace: &str) -> Result<Heard> {
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
    let mut heard = Heard::default();
    let mut subscription = view.informer().subscribe();
    heard.first = first_state(&mut subscription).await;
    // Who asks for the same shares the watch; who comes late hears of what is there.
    let again = informers.get(&spec);
    heard.is_shared = informers.all().len() == 1;
    heard.late = first_state(&mut again.subscribe()).await;
    subscription.replay();
    while heard.replayed < heard.first.len() && subscription.next().await.is_some() {
        heard.replayed += 1;
    }
    let red = view.by_index("color", "red")?;
    heard.red = red.iter().map(|map| map.name_any()).collect();
    view.informer().store().remove_index("color");
    informers.shutdown().await;
    Ok(heard)
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what the example shows")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = connect(load_config(None).await?, "shared-informer-example")?;
    let namespace = client.default_namespace().to_owned();
    println!(
        "{:?}",
        listen(client, &namespace)
            .await
            .map_err(|one| one.to_string())?
    );
    Ok(())
}
