//! The benchmark `queue` on the queue of our controllers.
//!
//! Everything stands at its default: metrics, priorities and ageing are always on.

use std::io::Write as _;
use std::process::ExitCode;

use kubewright_bench_subject::median;
use kubewright_core::ObjectKey;
use kubewright_runtime::queue::{Priority, Queue, Wish};
use tokio::runtime::Runtime;
use tokio::time::Instant;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PASSES: usize = 3;

fn main() -> ExitCode {
    let keys = std::env::args().find_map(|one| one.strip_prefix("--keys=")?.parse().ok());
    match run(keys.unwrap_or(400_000)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn run(count: usize) -> std::io::Result<()> {
    let runtime = Runtime::new()?;
    let keys: Vec<ObjectKey> = (0..count)
        .map(|key| ObjectKey::namespaced(&format!("ns-{}", key % 100), &format!("object-{key}")))
        .collect();
    for producers in [1, 8] {
        let passes: Vec<f64> = (0..PASSES)
            .map(|_| pass(&runtime, &keys, producers))
            .collect();
        let nanoseconds = median(&passes).unwrap_or_default();
        let line = format!("{{\"metric\":\"item_ns_{producers}\",\"value\":{nanoseconds}}}");
        writeln!(std::io::stdout(), "{line}")?;
    }
    Ok(())
}

/// Each key is added once, handed out once and done; nanoseconds a key.
fn pass(runtime: &Runtime, keys: &[ObjectKey], producers: usize) -> f64 {
    let queue = Queue::new();
    let start = Instant::now();
    std::thread::scope(|threads| {
        for part in keys.chunks(keys.len().div_ceil(producers)) {
            let queue = &queue;
            threads.spawn(move || produce(queue, part));
        }
        runtime.block_on(async {
            for _ in 0..keys.len() {
                if let Some(key) = queue.next().await {
                    queue.done(&key);
                }
            }
        });
    });
    let seconds = start.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "far fewer keys than that")]
    let keys = keys.len() as f64;
    seconds * 1e9 / keys
}

/// Every fourth key is one of the start, the others are changes.
fn produce(queue: &Queue, keys: &[ObjectKey]) {
    for (index, key) in keys.iter().enumerate() {
        let priority = match index % 4 {
            0 => Priority::INITIAL,
            _ => Priority::NORMAL,
        };
        let wish = Wish {
            priority: Some(priority),
            ..Wish::default()
        };
        queue.wish(key.clone(), wish);
    }
}
