//! Removes the steps of a failing case that its failure does not need.

use crate::Case;

/// A case without the steps that its failure does not need.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The remaining steps.
    pub case: Case,
    /// How many cases were played.
    pub tries: usize,
}

/// Removes steps of a case as long as it still fails: halves first, then smaller parts. `fails`
/// plays a case, which has another name each time; it is called at most `max_tries` times.
///
/// # Cancel safety
///
/// When dropped, the result so far is lost.
pub async fn shrink(
    case: &Case,
    max_tries: usize,
    mut fails: impl AsyncFnMut(&Case) -> bool,
) -> Shrunk {
    let mut best = case.clone();
    let mut tries = 0;
    let mut part = best.steps.len() / 2;
    while part > 0 {
        let mut start = 0;
        while start < best.steps.len() && tries < max_tries {
            tries += 1;
            let mut smaller = best.clone();
            let end = (start + part).min(smaller.steps.len());
            smaller.steps.drain(start..end);
            smaller.name = format!("{}-{tries}", case.name);
            if fails(&smaller).await {
                // The next steps have moved to `start`.
                best = smaller;
            } else {
                start += part;
            }
        }
        part /= 2;
    }
    best.name.clone_from(&case.name);
    Shrunk { case: best, tries }
}

#[cfg(test)]
mod tests {
    use super::shrink;
    use crate::{Case, Step};

    fn case(requests: &[&str]) -> Case {
        let step = |request: &&str| Step {
            request: (*request).to_owned(),
            ..Step::default()
        };
        Case {
            name: "long".to_owned(),
            steps: requests.iter().map(step).collect(),
            ..Case::default()
        }
    }

    fn has(case: &Case, request: &str) -> bool {
        case.steps.iter().any(|step| step.request == request)
    }

    #[tokio::test]
    async fn only_the_steps_that_cause_the_failure_remain() {
        let long = case(&["1", "2", "3", "bad", "5", "6", "worse", "8", "9"]);
        let mut names = Vec::new();
        let shrunk = shrink(&long, 100, async |case: &Case| {
            names.push(case.name.clone());
            has(case, "bad") && has(case, "worse")
        });
        let shrunk = shrunk.await;
        let remaining: Vec<&str> = shrunk
            .case
            .steps
            .iter()
            .map(|step| &*step.request)
            .collect();
        assert_eq!(remaining, ["bad", "worse"]);
        assert_eq!(shrunk.case.name, "long");
        assert_eq!(names.len(), shrunk.tries);
        names.dedup();
        assert_eq!(names.len(), shrunk.tries, "each has a name of its own");
    }

    #[tokio::test]
    async fn shrinking_ends_after_the_maximum_of_tries() {
        let long = case(&["1", "2", "3", "4", "5", "6", "7", "8"]);
        let shrunk = shrink(&long, 3, async |_: &Case| false).await;
        assert_eq!((shrunk.tries, shrunk.case.steps.len()), (3, 8));
    }
}
