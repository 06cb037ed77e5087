use futures_util::future::join_all;
use kubewright_runtime::write::WriteError;

use crate::{Failure, Result};

/// Does `work` for each item: for one first, then for two at once, for four, and so on.
///
/// When the API server refuses one, the rest of its batch is still done and no further batch
/// begins: what it refuses once, such as for a quota, it would refuse again a hundred times. A
/// failure of another kind, such as a name that is taken, is about one item and holds up no other.
/// The first failure is the answer.
///
/// ```
/// # async fn example() {
/// use kubewright::slow_start;
///
/// let done = slow_start(0..100, |number| async move {
///     if number == 5 { Err("the sixth is broken".into()) } else { Ok(()) }
/// })
/// .await;
/// assert!(done.is_err());
/// # }
/// ```
///
/// # Cancel safety
///
/// Dropped, the batch under way ends where it is and no further one begins.
pub async fn slow_start<T, F, Fut>(items: impl IntoIterator<Item = T>, work: F) -> Result<()>
where
    F: Fn(T) -> Fut,
    Fut: Future<Output = Result<()>>,
{
    let mut items = items.into_iter().peekable();
    let mut size = 1;
    let mut done = Ok(());
    while items.peek().is_some() {
        let batch = items.by_ref().take(size).map(&work);
        let results = join_all(batch).await;
        let is_refused = results
            .iter()
            .any(|result| result.as_ref().is_err_and(is_write));
        done = results.into_iter().fold(done, Result::and);
        if is_refused {
            break;
        }
        size *= 2;
    }
    done
}

fn is_write(failure: &Failure) -> bool {
    failure.cause().is::<WriteError>()
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use kubewright_runtime::write::WriteError;

    use super::slow_start;
    use crate::Result;

    fn refusal() -> Result<()> {
        Err(WriteError::Invalid {
            what: "apply".to_owned(),
            why: "no quota".to_owned(),
        }
        .into())
    }

    #[tokio::test]
    async fn batches_double() {
        let (under_way, sizes) = (Cell::new(0), RefCell::new(Vec::new()));
        slow_start(0..10, |_| async {
            under_way.set(under_way.get() + 1);
            tokio::task::yield_now().await;
            sizes.borrow_mut().push(under_way.replace(0));
            Ok(())
        })
        .await
        .unwrap();
        let mut sizes = sizes.into_inner();
        sizes.retain(|size| *size > 0);
        assert_eq!(sizes, [1, 2, 4, 3]);
    }

    #[tokio::test]
    async fn a_refusal_ends_it_after_its_batch_and_other_failures_do_not() {
        let tried = RefCell::new(Vec::new());
        let done = slow_start(0..10, |number| {
            tried.borrow_mut().push(number);
            std::future::ready(match number {
                0 => Err("taken".into()),
                3 => refusal(),
                _ => Ok(()),
            })
        })
        .await;
        assert_eq!(done.unwrap_err().to_string(), "taken");
        assert_eq!(*tried.borrow(), [0, 1, 2, 3, 4, 5, 6]);
    }
}
