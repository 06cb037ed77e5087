//! The benchmark `queue` on the queue of our controllers.
//!
//! Everything stands at its default: metrics, priorities and ageing are always on.

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
    let mut done = 0;
    for producers in [1, 8] {
        let mut passes = Vec::new();
        for _ in 0..PASSES {
            let pass = pass(&runtime, &keys, producers);
            passes.push(pass.nanoseconds);
            done += pass.done;
        }
        let nanoseconds = median(&passes).unwrap_or_default();
        print_reading(&format!("item_ns_{producers}"), nanoseconds)?;
    }
    print_reading("objects", f64::from(done))
}

/// What one pass did, and what it took.
struct Pass {
    /// A key.
    nanoseconds: f64,
    done: u32,
}

/// Each key is added once, handed out once and done.
fn pass(runtime: &Runtime, keys: &[ObjectKey], producers: usize) -> Pass {
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

/// Takes so many keys, as the workers of our controllers do after runs that went well; how many
/// were done.
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

/// Every fourth key is one of the start, the others are changes.
fn produce(queue: &Queue, keys: &[ObjectKey]) {
    for (index, key) in keys.iter().enumerate() {
        let priority = match index % 4 {
            0 => Priority::INITIAL,
            _ => Priority::NORMAL,
        };
        let options = AddOptions {
            priority: Some(priority),
            ..AddOptions::default()
        };
        queue.add_with(key.clone(), options);
    }
}
