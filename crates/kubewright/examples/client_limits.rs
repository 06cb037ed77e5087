//! A client with limits: requests per second, retries when the server is overloaded, and a timeout.

use kubewright::client::{ClientLimits, RateLimit, connect, load_config};
use kubewright::kube::Client;
use kubewright::kube::api::{Api, ListParams};
use kubewright::prelude::*;
use tokio::time::Instant;

/// Ten requests per second after a burst of five, two retries, and five seconds for each response
/// with all its retries.
pub(crate) const LIMITS: ClientLimits = ClientLimits {
    rate_limit: Some(RateLimit {
        per_second: 10.0,
        burst: 5,
    }),
    retries: 2,
    timeout: Duration::from_secs(5),
};

/// Lists the ConfigMaps of `namespace` eight times, and returns how long that took.
pub(crate) async fn list_eight_times(client: &Client, namespace: &str) -> Result<Duration> {
    // Clones of the wrapped client share the rate limit.
    let maps: Api<ConfigMap> = Api::namespaced(LIMITS.wrap(client), namespace);
    let start = Instant::now();
    for _ in 0..8 {
        maps.list(&ListParams::default()).await?;
    }
    Ok(start.elapsed())
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what the example shows")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = connect(load_config(None).await?, "client-limits-example")?;
    let namespace = client.default_namespace().to_owned();
    let took = list_eight_times(&client, &namespace).await;
    let took = took.map_err(|error| error.to_string())?;
    println!("eight requests took {took:?}");
    Ok(())
}
