use super::problem::Fault;
use crate::interrupt;

/// How much a single expression may cost, and all expressions about one object together: the
/// numbers of k8s.io/apiserver/pkg/apis/cel, in steps of ours.
const ONE_CALL: u64 = 1_000_000;
const ONE_OBJECT: u64 = 10_000_000;
/// What all conditions of one webhook may cost together.
const CONDITIONS: u64 = 2_500_000;
/// How many bytes of text cost one step.
const BYTES_A_STEP: usize = 10;

/// How many steps are done before the next look at whether the work is still wanted.
const CHECK_INTERVAL: u64 = 10_000;

/// What is told when all expressions together cost too much.
pub(crate) const SPENT: &str = "validation failed due to running out of cost budget, no further \
                                validation rules will be run";

/// What is left to be spent on expressions.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    object: u64,
    call: u64,
    /// What may still be spent before it is looked whether anybody waits for the result.
    unchecked: u64,
}

/// What all expressions about one object may cost.
impl Default for Budget {
    fn default() -> Self {
        Self {
            object: ONE_OBJECT,
            call: ONE_CALL,
            unchecked: CHECK_INTERVAL,
        }
    }
}

impl Budget {
    /// What the conditions of a webhook may cost about one request.
    pub(crate) fn for_conditions() -> Self {
        Self {
            object: CONDITIONS,
            ..Self::default()
        }
    }

    /// Whether nothing is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.object == 0
    }

    /// The next expression begins.
    pub(super) fn start(&mut self) {
        self.call = ONE_CALL.min(self.object);
    }

    /// An expression begins inside of another; what the other has left comes back with
    /// [`Self::resume`].
    pub(super) fn suspend(&self) -> u64 {
        self.call
    }

    /// The other goes on.
    pub(super) fn resume(&mut self, left: u64) {
        self.call = left.min(self.object);
    }

    /// One step.
    pub(super) fn step(&mut self) -> Result<(), Fault> {
        self.spend(1)
    }

    /// What walking over that many bytes costs.
    pub(crate) fn bytes(&mut self, count: usize) -> Result<(), Fault> {
        self.items(count / BYTES_A_STEP)
    }

    /// What walking over that many items costs.
    pub(super) fn items(&mut self, count: usize) -> Result<(), Fault> {
        self.spend(u64::try_from(count).unwrap_or(u64::MAX).saturating_add(1))
    }

    fn spend(&mut self, cost: u64) -> Result<(), Fault> {
        match self.unchecked.checked_sub(cost) {
            Some(left) => self.unchecked = left,
            None => {
                self.unchecked = CHECK_INTERVAL;
                if interrupt::is_requested() {
                    self.object = 0;
                    return Err(Fault::Spent);
                }
            }
        }
        self.object = self.object.saturating_sub(cost);
        match self.call.checked_sub(cost) {
            Some(left) => {
                self.call = left;
                Ok(())
            }
            None => {
                self.call = 0;
                Err(Fault::Spent)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, ONE_CALL};
    use crate::cel::Fault;

    #[test]
    fn a_call_has_its_own_limit_within_that_of_the_object() {
        let mut budget = Budget::default();
        budget.start();
        let all = usize::try_from(ONE_CALL).unwrap();
        assert!(budget.items(all - 1).is_ok());
        assert!(matches!(budget.step(), Err(Fault::Spent)));
        budget.start();
        assert!(budget.step().is_ok());
        for _ in 0..10 {
            budget.start();
            budget.items(all).unwrap_err();
        }
        assert!(budget.is_spent());
    }

    #[test]
    fn conditions_have_two_calls_and_a_half() {
        let mut budget = Budget::for_conditions();
        let all = usize::try_from(ONE_CALL).unwrap();
        for is_spent in [false, false, true] {
            budget.start();
            budget.items(all).unwrap_err();
            assert_eq!(budget.is_spent(), is_spent);
        }
    }
}
