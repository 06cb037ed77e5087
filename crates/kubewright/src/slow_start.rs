//! Batches of growing size, which stop when the API server rejects a write.

use futures_util::future::join_all;
use kubewright_runtime::write::WriteError;

use crate::{Failure, Result};

/// Calls `work` for each item: for one first, then for two at once, for four, and so on.
///
/// When the API server rejects a write, the rest of its batch still runs and no further batch
/// starts: the server would reject the other items for the same reason, such as a quota. Another
/// failure, such as a name that is taken, concerns one item and stops no other. Returns the first
/// failure.
///
/// ```
/// # async fn example() {
/// use kubewright::slow_start;
///
/// let result = slow_start(0..100, |number| async move {
///     if number == 5 { Err("the sixth is broken".into()) } else { Ok(()) }
/// })
/// .await;
/// assert!(result.is_err());
/// # }
/// ```
///
/// # Cancel safety
///
/// If the future is dropped, the current batch is cancelled and no further one starts.
pub async fn slow_start<T, F, Fut>(items: impl IntoIterator<Item = T>, work: F) -> Result<()>
where
    F: Fn(T) -> Fut,
    Fut: Future<Output = Result<()>>,
{
    let mut items = items.into_iter().peekable();
    let mut size = 1;
    let mut result = Ok(());
    while items.peek().is_some() {
        let batch = items.by_ref().take(size).map(&work);
        let results = join_all(batch).await;
        let is_rejected = results
            .iter()
            .any(|result| result.as_ref().is_err_and(is_rejected_write));
        result = results.into_iter().fold(result, Result::and);
        if is_rejected {
            break;
        }
        size *= 2;
    }
    result
}

fn is_rejected_write(failure: &Failure) -> bool {
    failure.cause().is::<WriteError>()
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use kubewright_runtime::write::WriteError;

    use super::slow_start;
    use crate::Result;

    fn rejected() -> Result<()> {
        Err(WriteError::Invalid {
            what: "apply".to_owned(),
            why: "no quota".to_owned(),
        }
        .into())
    }

    #[tokio::test]
    async fn batches_double_in_size() {
        let (running, sizes) = (Cell::new(0), RefCell::new(Vec::new()));
        slow_start(0..10, |_| async {
            running.set(running.get() + 1);
            tokio::task::yield_now().await;
            sizes.borrow_mut().push(running.replace(0));
            Ok(())
        })
        .await
        .unwrap();
        let mut sizes = sizes.into_inner();
        sizes.retain(|size| *size > 0);
        assert_eq!(sizes, [1, 2, 4, 3]);
    }

    #[tokio::test]
    async fn rejected_write_stops_after_its_batch_and_other_failures_do_not() {
        let started = RefCell::new(Vec::new());
        let result = slow_start(0..10, |number| {
            started.borrow_mut().push(number);
            std::future::ready(match number {
                0 => Err("taken".into()),
                3 => rejected(),
                _ => Ok(()),
            })
        })
        .await;
        assert_eq!(result.unwrap_err().to_string(), "taken");
        assert_eq!(*started.borrow(), [0, 1, 2, 3, 4, 5, 6]);
    }
}
