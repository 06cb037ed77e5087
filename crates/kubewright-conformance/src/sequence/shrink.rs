use crate::Case;

/// What is left of a case after all that does not matter was dropped.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The steps that are left.
    pub case: Case,
    /// How often a part of it was played.
    pub tried: usize,
}

/// Drops steps of a case as long as what is left still fails: halves first, then ever smaller
/// parts. `fails` plays a case, whose name is another each time; it is asked `most` times at most.
///
/// # Cancel safety
///
/// When dropped, what was found so far is lost.
pub async fn shrink(case: &Case, most: usize, mut fails: impl AsyncFnMut(&Case) -> bool) -> Shrunk {
    let mut best = case.clone();
    let mut tried = 0;
    let mut part = best.steps.len() / 2;
    while part > 0 {
        let mut start = 0;
        while start < best.steps.len() && tried < most {
            tried += 1;
            let mut smaller = best.clone();
            let end = (start + part).min(smaller.steps.len());
            smaller.steps.drain(start..end);
            smaller.name = format!("{}-{tried}", case.name);
            match fails(&smaller).await {
                // What followed has moved up.
                true => best = smaller,
                false => start += part,
            }
        }
        part /= 2;
    }
    best.name.clone_from(&case.name);
    Shrunk { case: best, tried }
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
    async fn only_what_matters_is_left() {
        let long = case(&["1", "2", "3", "bad", "5", "6", "worse", "8", "9"]);
        let mut names = Vec::new();
        let shrunk = shrink(&long, 100, async |case: &Case| {
            names.push(case.name.clone());
            has(case, "bad") && has(case, "worse")
        });
        let shrunk = shrunk.await;
        let left: Vec<&str> = shrunk
            .case
            .steps
            .iter()
            .map(|step| &*step.request)
            .collect();
        assert_eq!(left, ["bad", "worse"]);
        assert_eq!(shrunk.case.name, "long");
        assert_eq!(names.len(), shrunk.tried);
        names.dedup();
        assert_eq!(names.len(), shrunk.tried, "each has a name of its own");
    }

    #[tokio::test]
    async fn it_ends_after_so_many_tries() {
        let long = case(&["1", "2", "3", "4", "5", "6", "7", "8"]);
        let shrunk = shrink(&long, 3, async |_: &Case| false).await;
        assert_eq!((shrunk.tried, shrunk.case.steps.len()), (3, 8));
    }
}
