use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

/// What a condition says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionStatus {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// Nobody can tell.
    Unknown,
}

impl From<bool> for ConditionStatus {
    fn from(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}

/// A condition for `cx.status`, which fills in the time of its last transition and the generation
/// of the object that it tells of.
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

/// Puts a condition in the place of the one of its type, or at the end; all others stay.
///
/// ```
/// use kubewright::{condition, set_condition};
///
/// let mut all = vec![condition("Ready", false, "Starting", ""), condition("Other", true, "X", "")];
/// set_condition(&mut all, condition("Ready", true, "AllServe", "2 of 2 serve"));
/// let statuses: Vec<_> = all.iter().map(|one| one.status.as_str()).collect();
/// assert_eq!(statuses, ["True", "True"]);
/// ```
pub fn set_condition(conditions: &mut Vec<Condition>, new: Condition) {
    match conditions.iter_mut().find(|one| one.type_ == new.type_) {
        Some(former) => *former = new,
        None => conditions.push(new),
    }
}
