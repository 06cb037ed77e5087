//! Lines of the operator's log that report reconciles.

use std::fmt;

/// The log filter that includes these lines.
pub(super) const LOG_FILTER: &str = "kubewright::reconcile=debug,kubewright::reconcile_loop=warn";

const TARGET: &str = "kubewright::reconcile: ";
const RECONCILE_LOOP: &str = "kubewright::reconcile_loop: ";

/// Returns the report of a reconcile that triggers itself, if the line is one.
pub(super) fn reconcile_loop(line: &str) -> Option<&str> {
    line.split_once(RECONCILE_LOOP).map(|(_, report)| report)
}

/// A reconcile that has ended, as the operator logs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reconciled {
    pub(super) controller: String,
    pub(super) object: String,
    /// A duration in Rust's debug format.
    pub(super) time: String,
    /// The number of its writes that changed something.
    pub(super) writes: u32,
    pub(super) outcome: String,
}

impl Reconciled {
    /// Parses a line of the log.
    pub(super) fn parse(line: &str) -> Option<Self> {
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

/// Returns the duration with one decimal place.
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
    fn line_with_the_end_of_a_reconcile_is_parsed() {
        let line = "2026-01-02T03:04:05.678901Z DEBUG reconcile{controller=\"sites\" \
                    object=default/a reconcile_id=7}: kubewright::reconcile: ended \
                    controller=\"sites\" object=default/a time=3.456789ms writes=2 \
                    outcome=again in 5s";
        let reconciled = Reconciled::parse(line).unwrap();
        assert_eq!(reconciled.writes, 2);
        assert_eq!(
            reconciled.to_string(),
            "sites default/a: again in 5s after 3.5ms"
        );
        assert_eq!(
            Reconciled::parse("2026-01-02T03:04:05Z  INFO kubewright: ready"),
            None
        );
    }

    #[test]
    fn line_with_a_reconcile_loop_is_parsed() {
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
