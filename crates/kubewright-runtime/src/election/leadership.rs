//! Whether this process leads.

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Whether this process leads now. Clones share the state.
///
/// The end of a term is known beforehand and moves with each renewal, so that a term ends without
/// a notification.
#[derive(Clone, Debug)]
pub struct Leadership {
    state: Option<watch::Receiver<ElectionState>>,
}

/// A term of leadership, from taking the Lease to losing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term(pub(super) u64);

impl Term {
    /// The number of the term; the first is 1.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// The last known state of an election.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ElectionState {
    /// The number of terms of this process that have begun.
    pub(super) terms: u64,
    /// The end of the current term; `None` when this process does not lead.
    pub(super) until: Option<Instant>,
    /// The holder of the Lease.
    pub(super) holder: Option<String>,
    /// The error of the last attempt.
    pub(super) last_error: Option<String>,
}

impl ElectionState {
    fn term(&self) -> Option<Term> {
        let is_leading = self.until.is_some_and(|until| Instant::now() < until);
        is_leading.then_some(Term(self.terms))
    }
}

impl Leadership {
    /// The leadership of a process without an election: it always leads, in its first term.
    pub fn without_election() -> Self {
        Self { state: None }
    }

    pub(super) fn elected(state: watch::Receiver<ElectionState>) -> Self {
        Self { state: Some(state) }
    }

    /// The current term; `None` while this process does not lead.
    pub fn term(&self) -> Option<Term> {
        match &self.state {
            None => Some(Term(1)),
            Some(state) => state.borrow().term(),
        }
    }

    /// Whether this process leads.
    pub fn is_leading(&self) -> bool {
        self.term().is_some()
    }

    /// Whether there is an election.
    pub fn is_elected(&self) -> bool {
        self.state.is_some()
    }

    /// The holder of the Lease that this process last saw; `None` without an election.
    pub fn holder(&self) -> Option<String> {
        self.state.as_ref()?.borrow().holder.clone()
    }

    /// The error of the last attempt to take or renew the Lease; `None` when it succeeded.
    pub fn last_error(&self) -> Option<String> {
        self.state.as_ref()?.borrow().last_error.clone()
    }

    /// Returns when this process leads. Never returns after the elector has ended.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn gained(&self) -> Term {
        let Some(state) = &self.state else {
            return Term(1);
        };
        let mut state = state.clone();
        loop {
            if let Some(term) = state.borrow_and_update().term() {
                return term;
            }
            if state.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Returns when `term` is over, at the latest when it ends without a renewal.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn lost(&self, term: Term) {
        let Some(state) = &self.state else {
            return std::future::pending().await;
        };
        let mut state = state.clone();
        loop {
            let until = {
                let now = state.borrow_and_update();
                match now.until {
                    Some(until) if now.term() == Some(term) => until,
                    _ => return,
                }
            };
            tokio::select! {
                () = sleep_until(until) => {}
                changed = state.changed() => if changed.is_err() {
                    // The elector has ended: there is no further renewal.
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

    use super::{ElectionState, Leadership, Term};

    fn leading(terms: u64, seconds: u64) -> ElectionState {
        ElectionState {
            terms,
            until: Some(Instant::now() + Duration::from_secs(seconds)),
            ..ElectionState::default()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn term_without_renewal_ends_by_itself() {
        let (sender, receiver) = watch::channel(ElectionState::default());
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
    async fn older_term_is_over_while_a_newer_one_lasts() {
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
    async fn process_without_election_always_leads() {
        let alone = Leadership::without_election();
        assert_eq!(alone.gained().await, Term(1));
        assert!(alone.is_leading());
        assert_eq!(alone.holder(), None);
    }
}
