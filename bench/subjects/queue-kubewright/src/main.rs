//! The subject of the benchmark `queue` for kubewright: the work queue of its controllers.
//!
//! All options have their defaults: metrics, priorities and aging are always on.

use std::process::ExitCode;

use kubewright_bench_subject::{median, print_reading};
use kubewright_core::ObjectKey;
use kubewright_runtime::queue::{AddOptions, Finished, Priority, Queue};
use tokio::runtime::Runtime;
use tokio::time::Instant;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PASSES: usize = 3;

fn main() -> ExitCode {
    let keys = std::env::args().find_map(|argument| argument.strip_prefix("--keys=")?.parse().ok());
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
    let mut done = 0;
    for producers in [1, 8] {
        let mut nanoseconds = Vec::new();
        for _ in 0..PASSES {
            let pass = run_pass(&runtime, &keys, producers);
            nanoseconds.push(pass.nanoseconds);
            done += pass.done;
        }
        let median = median(&nanoseconds).unwrap_or_default();
        print_reading(&format!("item_ns_{producers}"), median)?;
    }
    print_reading("objects", f64::from(done))
}

/// The result of one pass.
struct Pass {
    /// Time per key.
    nanoseconds: f64,
    /// The number of keys.
    done: u32,
}

/// Adds each key once, gets it once and marks it as done.
fn run_pass(runtime: &Runtime, keys: &[ObjectKey], producers: usize) -> Pass {
    let queue = Queue::new();
    let start = Instant::now();
    let done = std::thread::scope(|threads| {
        for part in keys.chunks(keys.len().div_ceil(producers)) {
            let queue = &queue;
            threads.spawn(move || produce(queue, part));
        }
        runtime.block_on(work(&queue, keys.len()))
    });
    let seconds = start.elapsed().as_secs_f64();
    Pass {
        nanoseconds: seconds * 1e9 / f64::from(done.max(1)),
        done,
    }
}

/// Processes `count` keys as the workers of the controllers do after successful reconciles. Returns
/// how many were done.
async fn work(queue: &Queue, count: usize) -> u32 {
    let mut done = 0;
    let mut next = queue.next().await;
    for _ in 1..count {
        let Some(key) = next else { return done };
        next = queue.next_after(&key, Finished::Forget).await;
        done += 1;
    }
    if let Some(key) = next {
        queue.forget(&key);
        queue.done(&key);
        done += 1;
    }
    done
}

/// Adds the keys: every fourth one with the priority of an initial list, the others with that of a
/// change.
fn produce(queue: &Queue, keys: &[ObjectKey]) {
    for (index, key) in keys.iter().enumerate() {
        let priority = if index.is_multiple_of(4) {
            Priority::INITIAL
        } else {
            Priority::NORMAL
        };
        let options = AddOptions {
            priority: Some(priority),
            ..AddOptions::default()
        };
        queue.add_with(key.clone(), options);
    }
}
