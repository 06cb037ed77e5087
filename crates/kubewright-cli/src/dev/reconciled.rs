//! Lines of the operator's log that tell of reconciles.

use std::fmt;

/// The targets of these lines, and the levels they have.
pub(super) const LOGGED: &str = "kubewright::reconcile=debug,kubewright::reconcile_loop=warn";

const TARGET: &str = "kubewright::reconcile: ";
const RECONCILE_LOOP: &str = "kubewright::reconcile_loop: ";

/// What a line tells of a reconcile that triggers itself, if it is such a line.
pub(super) fn reconcile_loop(line: &str) -> Option<&str> {
    line.split_once(RECONCILE_LOOP).map(|(_, report)| report)
}

/// A reconcile that has ended, as the operator's log tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reconciled {
    pub(super) controller: String,
    pub(super) object: String,
    /// As Rust shows a duration.
    pub(super) time: String,
    /// How many of its writes have changed something.
    pub(super) writes: u32,
    pub(super) outcome: String,
}

impl Reconciled {
    /// Reads a line of the log, if it is one of these.
    pub(super) fn read(line: &str) -> Option<Self> {
        let (_, fields) = line.split_once(TARGET)?;
        let (_, fields) = fields.split_once(" controller=")?;
        let (controller, fields) = fields.split_once(" object=")?;
        let (object, fields) = fields.split_once(" time=")?;
        let (time, fields) = fields.split_once(" writes=")?;
        let (writes, outcome) = fields.split_once(" outcome=")?;
        Some(Self {
            controller: controller.trim_matches('"').to_owned(),
            object: object.to_owned(),
            time: rounded(time),
            writes: writes.parse().ok()?,
            outcome: outcome.trim().to_owned(),
        })
    }
}

impl fmt::Display for Reconciled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {}: {} after {}",
            self.controller, self.object, self.outcome, self.time
        )
    }
}

/// A duration with one digit behind the point.
fn rounded(time: &str) -> String {
    let unit = time.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let number = time.strip_suffix(unit).unwrap_or(time);
    match number.parse::<f64>() {
        Ok(number) => format!("{number:.1}{unit}"),
        Err(_) => time.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Reconciled, reconcile_loop};

    #[test]
    fn a_line_of_the_log_tells_how_a_reconcile_ended() {
        let line = "2026-01-02T03:04:05.678901Z DEBUG reconcile{controller=\"sites\" \
                    object=default/a reconcile_id=7}: kubewright::reconcile: ended \
                    controller=\"sites\" object=default/a time=3.456789ms writes=2 \
                    outcome=again in 5s";
        let read = Reconciled::read(line).unwrap();
        assert_eq!(read.writes, 2);
        assert_eq!(read.to_string(), "sites default/a: again in 5s after 3.5ms");
        assert_eq!(
            Reconciled::read("2026-01-02T03:04:05Z  INFO kubewright: ready"),
            None
        );
    }

    #[test]
    fn a_line_of_the_log_tells_of_a_reconcile_that_triggers_itself() {
        let line = "2026-01-02T03:04:05.678901Z  WARN reconcile{name=\"a\"}: \
                    kubewright::reconcile_loop: the reconcile of default/a triggers itself";
        let report = "the reconcile of default/a triggers itself";
        assert_eq!(reconcile_loop(line), Some(report));
        assert_eq!(
            reconcile_loop("2026-01-02T03:04:05Z  INFO kubewright: ready"),
            None
        );
    }
}
