//! The work queue alone: a replaced delay, a key that fails twice, and a shutdown.

use std::time::Duration;

use kubewright_core::ObjectKey;
use kubewright_runtime::queue::{Added, Queue};

/// Processes keys until all are done, and returns them in the order in which they were handed out.
pub(crate) async fn run() -> Vec<String> {
    let queue = Queue::new();
    let (web, database) = (
        ObjectKey::namespaced("shop", "web"),
        ObjectKey::namespaced("shop", "database"),
    );
    queue.add_after(web.clone(), Duration::from_secs(60));
    // An event replaces the delay; a second event is merged into the same run.
    assert_eq!(queue.add(web.clone()), Added::ReplacedDelay);
    assert_eq!(queue.add(web), Added::Merged);
    queue.add(database);
    let mut handed_out = Vec::new();
    while let Some(key) = queue.next().await {
        handed_out.push(key.to_string());
        if key.name() == "database" && queue.failures(&key) < 2 {
            queue.add_rate_limited(key.clone()); // requeued after 5 ms, then 10 ms
        } else {
            queue.forget(&key);
        }
        queue.done(&key);
        if handed_out.len() == 4 {
            queue.shut_down();
        }
    }
    handed_out
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "the output of the example")]
async fn main() {
    println!("{}", run().await.join("\n"));
}
