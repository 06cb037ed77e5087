//! How a client behaves towards an API server: so many requests a second, again when the server is
//! busy, and no longer than a deadline.

use kubewright::kube::Client;
use kubewright::kube::api::{Api, ListParams};
use kubewright::prelude::*;
use kubewright::{Manners, RateLimit};
use kubewright_runtime::client::{connect, load_config};
use tokio::time::Instant;

/// Five requests at once and then ten a second; a server that is busy is asked twice more. No
/// answer takes longer than five seconds, all waits included.
pub(crate) const MODEST: Manners = Manners {
    limit: Some(RateLimit {
        per_second: 10.0,
        burst: 5,
    }),
    retries: 2,
    patience: Duration::from_secs(5),
};

/// Asks eight times for what is in `namespace`, and says how long that took.
pub(crate) async fn ask(client: Client, namespace: &str) -> Result<Duration> {
    // Whoever shares this client, or a clone of it, shares the limit.
    let maps: Api<ConfigMap> = Api::namespaced(MODEST.guard(client), namespace);
    let start = Instant::now();
    for _ in 0..8 {
        maps.list(&ListParams::default()).await?;
    }
    Ok(start.elapsed())
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what the example shows")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = connect(load_config(None).await?, "manners-example")?;
    let namespace = client.default_namespace().to_owned();
    let took = ask(client, &namespace).await;
    let took = took.map_err(|one| one.to_string())?;
    println!("eight requests took {took:?}");
    Ok(())
}
