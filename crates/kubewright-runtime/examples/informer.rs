//! An informer in ten lines: the names of all Pods of the cluster.

use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use kubewright_core::{Kind, Resource, Scope};
use kubewright_runtime::cache::View;
use kubewright_runtime::client::{connect, load_config};
use kubewright_runtime::informer::{InformerSpec, Informers};

type Error = Box<dyn std::error::Error + Send + Sync>;

/// Returns the names of all Pods from the cache.
pub(crate) async fn pods(client: Client) -> Result<Vec<String>, Error> {
    let pods = Resource::new(Kind::new("", "v1", "Pod"), "pods", Scope::Namespaced);
    let informers = Informers::new(client, Default::default());
    let informer = informers.get(&InformerSpec::all(pods));
    informer.synced().await?;
    let view = View::<Pod>::new(informer);
    let pods = view.list();
    let names = pods
        .iter()
        .filter_map(|pod| pod.metadata.name.clone())
        .collect();
    informers.shutdown().await;
    Ok(names)
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "the output of the example")]
async fn main() -> Result<(), Error> {
    let client = connect(load_config(None).await?, "informer-example")?;
    println!("{}", pods(client).await?.join("\n"));
    Ok(())
}
