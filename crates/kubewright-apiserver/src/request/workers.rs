//! The threads that requests run on.
//!
//! Small requests run on the threads that read and write connections. Requests that can take longer
//! than a few milliseconds run on blocking threads, so that they delay no other request. Only a few
//! of the largest run concurrently, so that processors are left for the others. Work stops when its
//! request ends: when the client disconnects, or at its timeout.

use std::sync::Arc;
use std::thread::available_parallelism;

use kubewright_core::interrupt::Interrupt;
use kubewright_wire::status::Status;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Runs the work of requests.
#[derive(Clone, Debug)]
pub(crate) struct Workers {
    /// Permits for large requests, of which only a few run at once.
    large: Arc<Semaphore>,
}

/// Where the work of a request runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// On the thread that received it.
    Inline,
    /// On a blocking thread.
    Offloaded,
    /// On a blocking thread, with a permit for large requests.
    OffloadedLarge,
}

impl Default for Workers {
    fn default() -> Self {
        let processors = available_parallelism().map_or(2, usize::from);
        Self {
            large: Arc::new(Semaphore::new(processors)),
        }
    }
}

impl Workers {
    /// Runs the work of a request.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the work is interrupted. A write has then happened completely or not at all.
    pub(crate) async fn run<T>(
        &self,
        place: Place,
        work: impl Future<Output = Result<T, Status>> + Send + 'static,
    ) -> Result<T, Status>
    where
        T: Send + 'static,
    {
        // Tests with paused time have a runtime with one thread.
        let is_offloaded = Handle::current().runtime_flavor() != RuntimeFlavor::CurrentThread;
        if place == Place::Inline || !is_offloaded {
            return work.await;
        }
        let permit = match place {
            // The semaphore is never closed.
            Place::OffloadedLarge => Arc::clone(&self.large).acquire_owned().await.ok(),
            Place::Inline | Place::Offloaded => None,
        };
        let (stop, interrupt) = (CancellationToken::new(), Interrupt::default());
        let _stops_when_dropped = StopOnDrop {
            stop: stop.clone(),
            interrupt: interrupt.clone(),
        };
        let runtime = Handle::current();
        let thread = tokio::task::spawn_blocking(move || {
            // Held until the work has ended.
            let _permit = permit;
            interrupt.scope(|| runtime.block_on(stop.run_until_cancelled(work)))
        });
        match thread.await {
            Ok(Some(done)) => done,
            Ok(None) => Err(Status::internal("the request was interrupted")),
            Err(error) => {
                tracing::error!(%error, "request panicked");
                Err(Status::internal(
                    "the server panicked while processing the request",
                ))
            }
        }
    }
}

/// Stops work when the future that waits for it is dropped: at its next await point, or where it
/// polls for an interrupt.
struct StopOnDrop {
    stop: CancellationToken,
    interrupt: Interrupt,
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.interrupt.request();
        self.stop.cancel();
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::mpsc;
    use std::task::Poll;
    use std::time::Duration;

    use kubewright_core::interrupt;
    use kubewright_wire::status::Status;
    use tokio::time::timeout;

    use super::{Place, Workers};

    /// Runs until it is interrupted, and reports that.
    fn endless(ended: mpsc::Sender<()>) -> impl Future<Output = Result<(), Status>> {
        poll_fn(move |_| {
            while !interrupt::is_requested() {
                std::thread::yield_now();
            }
            // The receiver is gone when the test has ended.
            ended.send(()).ok();
            Poll::Ready(Ok(()))
        })
    }

    async fn quick() -> Result<(), Status> {
        tokio::task::yield_now().await;
        Ok(())
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn endless_work_delays_no_other_request_and_stops_with_its_request() {
        let workers = Workers::default();
        let (ended, end) = mpsc::channel();
        let endless_work = futures_util::future::join_all(
            (0..20).map(|_| workers.run(Place::OffloadedLarge, endless(ended.clone()))),
        );
        let others = async {
            for _ in 0..100 {
                workers.run(Place::Inline, quick()).await.unwrap();
                workers.run(Place::Offloaded, quick()).await.unwrap();
            }
        };
        // Dropping the futures is what happens when clients disconnect.
        tokio::select! {
            _ = endless_work => unreachable!("endless work does not end by itself"),
            () = others => {}
        }
        assert!(end.recv_timeout(Duration::from_secs(5)).is_ok());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn panic_is_reported_as_500() {
        let work = async { panic!("on purpose") };
        let done: Result<(), Status> = Workers::default().run(Place::Offloaded, work).await;
        assert_eq!(done.unwrap_err().code, 500);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn waiting_work_is_dropped_with_its_request() {
        let work = std::future::pending::<Result<(), Status>>();
        let workers = Workers::default();
        let run = workers.run(Place::Offloaded, work);
        assert!(timeout(Duration::from_millis(10), run).await.is_err());
    }
}
