use std::fmt;

/// The target of the operator's lines that tell of a reconcile, and the level they have.
pub(super) const LOGGED: &str = "kubewright::reconcile=debug";

const TARGET: &str = "kubewright::reconcile: ";

/// A reconcile that has ended, as the operator's log tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reconciled {
    pub(super) controller: String,
    pub(super) object: String,
    /// As Rust shows a duration.
    pub(super) time: String,
    pub(super) outcome: String,
}

impl Reconciled {
    /// Reads a line of the log, if it is one of these.
    pub(super) fn read(line: &str) -> Option<Self> {
        let (_, fields) = line.split_once(TARGET)?;
        let (_, fields) = fields.split_once(" controller=")?;
        let (controller, fields) = fields.split_once(" object=")?;
        let (object, fields) = fields.split_once(" time=")?;
        let (time, outcome) = fields.split_once(" outcome=")?;
        Some(Self {
            controller: controller.trim_matches('"').to_owned(),
            object: object.to_owned(),
            time: rounded(time),
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
    use super::Reconciled;

    #[test]
    fn a_line_of_the_log_tells_how_a_reconcile_ended() {
        let line = "2026-01-02T03:04:05.678901Z DEBUG reconcile{controller=\"sites\" \
                    object=default/a reconcile_id=7}: kubewright::reconcile: ended \
                    controller=\"sites\" object=default/a time=3.456789ms outcome=again in 5s";
        let read = Reconciled::read(line).unwrap();
        assert_eq!(read.to_string(), "sites default/a: again in 5s after 3.5ms");
        assert_eq!(
            Reconciled::read("2026-01-02T03:04:05Z  INFO kubewright: ready"),
            None
        );
    }
}
