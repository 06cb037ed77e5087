//! Streams that enqueue keys in addition to watched objects: the second argument of
//! [`Controller::source`](crate::Controller::source).

use std::time::Duration;

use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

/// Returns a stream with an item per period.
///
/// With [`enqueue::all`](super::enqueue::all) every object is reconciled that often, also without a
/// change. Missed ticks are not repeated.
pub fn every(period: Duration) -> impl Stream<Item = ()> + Send {
    // An interval of zero would panic.
    let period = period.max(Duration::from_millis(1));
    unfold(None, move |timer| async move {
        // Created when the controller runs: an operator is described outside of a runtime too.
        let mut timer = timer.unwrap_or_else(|| {
            let mut timer = interval_at(Instant::now() + period, period);
            timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
            timer
        });
        timer.tick().await;
        Some(((), Some(timer)))
    })
}

/// Returns a channel from a task of the operator to a controller: the sender, and the stream of its
/// items.
///
/// At most `capacity` items are buffered; beyond that `send` waits and `try_send` fails. The stream
/// ends when the last sender is dropped.
///
/// # Panics
///
/// If `capacity` is 0.
pub fn channel<T: Send + 'static>(
    capacity: usize,
) -> (mpsc::Sender<T>, impl Stream<Item = T> + Send) {
    let (sender, receiver) = mpsc::channel(capacity);
    let stream = unfold(receiver, |mut receiver: mpsc::Receiver<T>| async move {
        Some((receiver.recv().await?, receiver))
    });
    (sender, stream)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::time::Duration;

    use futures_util::StreamExt as _;
    use tokio::time::Instant;

    use super::{channel, every};

    #[tokio::test(start_paused = true)]
    async fn timer_first_ticks_one_period_after_the_start() {
        let mut ticks = pin!(every(Duration::from_secs(60)));
        let start = Instant::now();
        ticks.next().await;
        ticks.next().await;
        assert_eq!(start.elapsed(), Duration::from_secs(120));
    }

    #[tokio::test]
    async fn channel_ends_with_its_last_sender() {
        let (sender, items) = channel(2);
        let mut items = pin!(items);
        sender.send(7).await.unwrap();
        drop(sender);
        assert_eq!(items.next().await, Some(7));
        assert_eq!(items.next().await, None);
    }
}
