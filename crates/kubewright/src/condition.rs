//! Conditions of a status.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

/// The status of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionStatus {
    /// The condition holds.
    True,
    /// The condition does not hold.
    False,
    /// It is not known whether the condition holds.
    Unknown,
}

impl From<bool> for ConditionStatus {
    fn from(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}

/// Returns a condition for `cx.status`, which sets the time of the last transition and the observed
/// generation.
///
/// ```
/// use kubewright::condition;
///
/// let ready = condition("Ready", 2 == 2, "AllServe", "2 of 2 serve");
/// assert_eq!((ready.type_.as_str(), ready.status.as_str()), ("Ready", "True"));
/// ```
pub fn condition(
    type_: impl Into<String>,
    status: impl Into<ConditionStatus>,
    reason: impl Into<String>,
    message: impl Into<String>,
) -> Condition {
    let status = match status.into() {
        ConditionStatus::True => "True",
        ConditionStatus::False => "False",
        ConditionStatus::Unknown => "Unknown",
    };
    Condition {
        type_: type_.into(),
        status: status.to_owned(),
        reason: reason.into(),
        message: message.into(),
        last_transition_time: Time(Timestamp::UNIX_EPOCH),
        observed_generation: None,
    }
}

/// Replaces the condition of the same type, or appends the condition.
///
/// ```
/// use kubewright::{condition, set_condition};
///
/// let mut all = vec![condition("Ready", false, "Starting", ""), condition("Other", true, "X", "")];
/// set_condition(&mut all, condition("Ready", true, "AllServe", "2 of 2 serve"));
/// let statuses: Vec<_> = all.iter().map(|condition| condition.status.as_str()).collect();
/// assert_eq!(statuses, ["True", "True"]);
/// ```
pub fn set_condition(conditions: &mut Vec<Condition>, new: Condition) {
    let same_type = |condition: &&mut Condition| condition.type_ == new.type_;
    match conditions.iter_mut().find(same_type) {
        Some(condition) => *condition = new,
        None => conditions.push(new),
    }
}
