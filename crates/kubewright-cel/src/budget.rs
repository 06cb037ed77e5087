//! Limits what the evaluation of expressions may cost.

use kubewright_core::interrupt;

use crate::error::EvaluationError;

/// The limits of k8s.io/apiserver/pkg/apis/cel, in steps of this crate: of a single expression, of
/// all expressions about one object, and of all match conditions of one webhook or policy.
const PER_EXPRESSION: u64 = 1_000_000;
const PER_OBJECT: u64 = 10_000_000;
const MATCH_CONDITIONS: u64 = 2_500_000;
/// How many bytes of a string cost one step.
const BYTES_PER_STEP: usize = 10;
/// How many steps pass between two checks for an interrupt.
const INTERRUPT_INTERVAL: u64 = 10_000;

/// The message of Kubernetes when all expressions about one object together cost too much.
pub const OUT_OF_BUDGET: &str = "validation failed due to running out of cost budget, no further \
                                 validation rules will be run";

/// What the evaluation of expressions may still cost.
///
/// The unit is a step of this crate's evaluator: one for each node of an expression, more for
/// strings and lists by their length. It is not the unit of Kubernetes, whose
/// [estimate](crate::Program::cost) is exact.
#[derive(Clone, Debug)]
pub struct Budget {
    /// What is left for all expressions.
    total: u64,
    /// What is left for the current expression.
    expression: u64,
    /// What is left until the next check for an interrupt.
    until_interrupt_check: u64,
}

/// The budget of all expressions about one object.
impl Default for Budget {
    fn default() -> Self {
        Self {
            total: PER_OBJECT,
            expression: PER_EXPRESSION,
            until_interrupt_check: INTERRUPT_INTERVAL,
        }
    }
}

impl Budget {
    /// The budget of all match conditions of one webhook or policy for one request.
    pub fn for_match_conditions() -> Self {
        Self {
            total: MATCH_CONDITIONS,
            ..Self::default()
        }
    }

    /// Whether nothing is left for further expressions.
    pub fn is_exhausted(&self) -> bool {
        self.total == 0
    }

    /// Starts the next expression with its own limit.
    pub(crate) fn start_expression(&mut self) {
        self.expression = PER_EXPRESSION.min(self.total);
    }

    /// What is left for the current expression, to be restored with [`Self::resume`] after an
    /// expression that is evaluated inside of it.
    pub(crate) fn suspend(&self) -> u64 {
        self.expression
    }

    /// Continues the expression that was suspended.
    pub(crate) fn resume(&mut self, left: u64) {
        self.expression = left.min(self.total);
    }

    /// Charges one step.
    pub(crate) fn step(&mut self) -> Result<(), EvaluationError> {
        self.charge(1)
    }

    /// Charges the traversal of that many bytes.
    pub fn charge_bytes(&mut self, count: usize) -> Result<(), EvaluationError> {
        self.charge_items(count / BYTES_PER_STEP)
    }

    /// Charges the traversal of that many items.
    pub(crate) fn charge_items(&mut self, count: usize) -> Result<(), EvaluationError> {
        self.charge(u64::try_from(count).unwrap_or(u64::MAX).saturating_add(1))
    }

    fn charge(&mut self, cost: u64) -> Result<(), EvaluationError> {
        match self.until_interrupt_check.checked_sub(cost) {
            Some(left) => self.until_interrupt_check = left,
            None => {
                self.until_interrupt_check = INTERRUPT_INTERVAL;
                if interrupt::is_requested() {
                    self.total = 0;
                    return Err(EvaluationError::BudgetExceeded);
                }
            }
        }
        self.total = self.total.saturating_sub(cost);
        match self.expression.checked_sub(cost) {
            Some(left) => {
                self.expression = left;
                Ok(())
            }
            None => {
                self.expression = 0;
                Err(EvaluationError::BudgetExceeded)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, PER_EXPRESSION};
    use crate::EvaluationError;

    #[test]
    fn an_expression_has_its_own_limit_within_that_of_the_object() {
        let mut budget = Budget::default();
        budget.start_expression();
        let all = usize::try_from(PER_EXPRESSION).unwrap();
        assert!(budget.charge_items(all - 1).is_ok());
        assert_eq!(budget.step(), Err(EvaluationError::BudgetExceeded));
        budget.start_expression();
        assert!(budget.step().is_ok());
        for _ in 0..10 {
            budget.start_expression();
            budget.charge_items(all).unwrap_err();
        }
        assert!(budget.is_exhausted());
    }

    #[test]
    fn match_conditions_have_the_budget_of_two_and_a_half_expressions() {
        let mut budget = Budget::for_match_conditions();
        let all = usize::try_from(PER_EXPRESSION).unwrap();
        for is_exhausted in [false, false, true] {
            budget.start_expression();
            budget.charge_items(all).unwrap_err();
            assert_eq!(budget.is_exhausted(), is_exhausted);
        }
    }
}
