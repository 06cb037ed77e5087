//! Where the work for a request is done.
//!
//! Small requests are served on the threads that read and write the connections. Whatever may take
//! longer than a few milliseconds is done on threads of its own, so that it delays no other request;
//! of the largest only a few at once, so that they leave processors to the others. Work ends when
//! its request does: when the client leaves, or when its time is up.

use std::sync::Arc;
use std::thread::available_parallelism;

use kubewright_core::{Verb, WebhookKind};
use kubewright_wire::status::Status;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::execute::ApiRequest;
use super::target::Target;
use crate::admission::policy;
use crate::interrupt;
use crate::server::Server;

/// From this size on, a body or a stored object is large.
const LARGE: usize = 64 * 1024;

/// The threads for requests that may take long.
#[derive(Clone, Debug)]
pub(crate) struct Workers {
    /// How many large requests are worked on at once.
    large: Arc<Semaphore>,
}

/// Where a request is worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Where it is received.
    Here,
    /// On a thread of its own.
    Aside,
    /// The same, when it is its turn.
    AsideInTurn,
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
    /// Does the work for a request.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the work is interrupted. A write has then happened whole or not at all.
    pub(super) async fn run<T>(
        &self,
        place: Place,
        work: impl Future<Output = Result<T, Status>> + Send + 'static,
    ) -> Result<T, Status>
    where
        T: Send + 'static,
    {
        // A runtime of one thread is a test's, which moves its time by itself.
        let is_aside = Handle::current().runtime_flavor() != RuntimeFlavor::CurrentThread;
        if place == Place::Here || !is_aside {
            return work.await;
        }
        let turn = match place {
            // The semaphore is never closed.
            Place::AsideInTurn => Arc::clone(&self.large).acquire_owned().await.ok(),
            Place::Here | Place::Aside => None,
        };
        let stop = CancellationToken::new();
        let _stops_when_dropped = stop.clone().drop_guard();
        let runtime = Handle::current();
        let thread = tokio::task::spawn_blocking(move || {
            // Until the work has really ended.
            let _turn = turn;
            interrupt::run(&stop, || runtime.block_on(stop.run_until_cancelled(work)))
        });
        match thread.await {
            Ok(Some(done)) => done,
            Ok(None) => Err(Status::internal("the request was interrupted")),
            Err(error) => {
                tracing::error!(%error, "the work for a request panicked");
                Err(Status::internal(
                    "the server panicked while it worked on the request",
                ))
            }
        }
    }
}

impl Place {
    /// Where the work for a request is done: by its size, by that of the object it is about, and by
    /// whether expressions are evaluated for it.
    pub(super) fn of(server: &Server, target: &Target, request: &ApiRequest) -> Self {
        match request.route.verb {
            Verb::Get | Verb::Watch => return Self::Here,
            Verb::List | Verb::DeleteCollection => return Self::Aside,
            _ => {}
        }
        let is_stored_large = || {
            let key = target.key(target.name.as_deref()?);
            let stored = server.store().get(&key)?;
            Some(stored.weight() >= LARGE)
        };
        if request.content.len() >= LARGE || is_stored_large().unwrap_or(false) {
            return Self::AsideInTurn;
        }
        let kinds = [WebhookKind::Mutating, WebhookKind::Validating];
        let is_ruled = target
            .served
            .custom()
            .is_some_and(|custom| custom.has_rules())
            || kinds.into_iter().any(|kind| policy::is_used(server, kind));
        match is_ruled {
            true => Self::Aside,
            false => Self::Here,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::mpsc;
    use std::task::Poll;
    use std::time::Duration;

    use kubewright_wire::status::Status;
    use tokio::time::timeout;

    use super::{Place, Workers};
    use crate::interrupt;

    /// Works until it is interrupted, and then says so.
    fn endless(ended: mpsc::Sender<()>) -> impl Future<Output = Result<(), Status>> {
        poll_fn(move |_| {
            while !interrupt::is_requested() {
                std::thread::yield_now();
            }
            // The test may have ended.
            ended.send(()).unwrap_or_default();
            Poll::Ready(Ok(()))
        })
    }

    async fn quick() -> Result<(), Status> {
        tokio::task::yield_now().await;
        Ok(())
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn work_that_never_ends_delays_nobody_and_ends_with_its_request() {
        let workers = Workers::default();
        let (ended, end) = mpsc::channel();
        let works = (0..20).map(|_| workers.run(Place::AsideInTurn, endless(ended.clone())));
        let works = futures_util::future::join_all(works);
        let others = async {
            for _ in 0..100 {
                workers.run(Place::Here, quick()).await.unwrap();
                workers.run(Place::Aside, quick()).await.unwrap();
            }
        };
        // The requests end when their client leaves.
        tokio::select! {
            _ = works => unreachable!("they never end"),
            () = others => {}
        }
        assert!(end.recv_timeout(Duration::from_secs(5)).is_ok());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn panic_in_the_work_is_a_failed_request() {
        let work = async { panic!("on purpose") };
        let done: Result<(), Status> = Workers::default().run(Place::Aside, work).await;
        assert_eq!(done.unwrap_err().code, 500);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn work_that_waits_is_dropped_with_its_request() {
        let work = std::future::pending::<Result<(), Status>>();
        let run = Workers::default();
        let run = run.run(Place::Aside, work);
        assert!(timeout(Duration::from_millis(10), run).await.is_err());
    }
}
