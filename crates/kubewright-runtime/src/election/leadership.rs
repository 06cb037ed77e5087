use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Whether this process leads now; cloning shares it.
///
/// Leading has an end that is known beforehand and moves with each renewal, so that nobody has to
/// be told for it to be over.
#[derive(Clone, Debug)]
pub struct Leadership {
    standing: Option<watch::Receiver<Standing>>,
}

/// A time of leading, from having taken the Lease to having lost it: the first, the second, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term(pub(super) u64);

impl Term {
    /// Its number, from 1 on.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// What an elector has last found out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    /// How many terms have begun.
    pub(super) terms: u64,
    /// Until when it leads; none when it does not.
    pub(super) until: Option<Instant>,
    /// Who has the Lease.
    pub(super) holder: Option<String>,
    /// Why the last try failed.
    pub(super) problem: Option<String>,
}

impl Standing {
    fn term(&self) -> Option<Term> {
        let is_leading = self.until.is_some_and(|until| Instant::now() < until);
        is_leading.then_some(Term(self.terms))
    }
}

impl Leadership {
    /// Of a process that has no rivals: it always leads, in its first term.
    pub fn unrivalled() -> Self {
        Self { standing: None }
    }

    pub(super) fn elected(standing: watch::Receiver<Standing>) -> Self {
        Self {
            standing: Some(standing),
        }
    }

    /// The present term; none while somebody else leads, or nobody.
    pub fn term(&self) -> Option<Term> {
        match &self.standing {
            None => Some(Term(1)),
            Some(standing) => standing.borrow().term(),
        }
    }

    /// Whether this process leads.
    pub fn is_leading(&self) -> bool {
        self.term().is_some()
    }

    /// Whether there is an election at all.
    pub fn is_elected(&self) -> bool {
        self.standing.is_some()
    }

    /// Who has the Lease, as far as this process has seen; none without an election.
    pub fn holder(&self) -> Option<String> {
        self.standing.as_ref()?.borrow().holder.clone()
    }

    /// Why the Lease could not be asked for the last time; none when it could.
    pub fn problem(&self) -> Option<String> {
        self.standing.as_ref()?.borrow().problem.clone()
    }

    /// Returns when this process leads. It never does once the elector has ended.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn gained(&self) -> Term {
        let Some(standing) = &self.standing else {
            return Term(1);
        };
        let mut standing = standing.clone();
        loop {
            if let Some(term) = standing.borrow_and_update().term() {
                return term;
            }
            if standing.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Returns when `term` is over, at the latest when its time is up without a renewal.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn lost(&self, term: Term) {
        let Some(standing) = &self.standing else {
            return std::future::pending().await;
        };
        let mut standing = standing.clone();
        loop {
            let until = {
                let now = standing.borrow_and_update();
                match (now.term() == Some(term), now.until) {
                    (true, Some(until)) => until,
                    _ => return,
                }
            };
            tokio::select! {
                () = sleep_until(until) => {}
                changed = standing.changed() => if changed.is_err() {
                    // Nobody renews any more.
                    return sleep_until(until).await;
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::watch;
    use tokio::time::Instant;

    use super::{Leadership, Standing, Term};

    fn leading(terms: u64, seconds: u64) -> Standing {
        Standing {
            terms,
            until: Some(Instant::now() + Duration::from_secs(seconds)),
            ..Standing::default()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_term_that_nobody_renews_ends_by_itself() {
        let (sender, receiver) = watch::channel(Standing::default());
        let leadership = Leadership::elected(receiver);
        assert!(!leadership.is_leading());
        sender.send_replace(leading(1, 10));
        let start = Instant::now();
        let term = leadership.gained().await;
        tokio::time::advance(Duration::from_secs(4)).await;
        sender.send_replace(leading(1, 10));
        leadership.lost(term).await;
        assert_eq!(start.elapsed(), Duration::from_secs(14));
        assert!(!leadership.is_leading());
    }

    #[tokio::test(start_paused = true)]
    async fn another_term_is_not_the_same_one() {
        let (sender, receiver) = watch::channel(leading(2, 10));
        let leadership = Leadership::elected(receiver);
        leadership.lost(Term(1)).await;
        assert_eq!(leadership.gained().await, Term(2));
        drop(sender);
        let start = Instant::now();
        leadership.lost(Term(2)).await;
        assert_eq!(start.elapsed(), Duration::from_secs(10));
    }

    #[tokio::test]
    async fn without_rivals_one_always_leads() {
        let alone = Leadership::unrivalled();
        assert_eq!(alone.gained().await, Term(1));
        assert!(alone.is_leading());
        assert_eq!(alone.holder(), None);
    }
}
