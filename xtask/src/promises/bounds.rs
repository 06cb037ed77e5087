//! Compares the output and the duration of a command with the bound of a promise.

use super::file::Promise;
use super::shell::Execution;

/// The result of the check of a promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The command succeeded within its bound.
    Kept,
    /// The command failed or exceeded its bound, with the reason.
    Broken(String),
    /// The command was not run, with the reason.
    NotRun(String),
}

/// Compares the result of a command with the bound of a promise.
pub(super) fn check(promise: &Promise, execution: &Execution) -> Verdict {
    if !execution.success {
        return Verdict::Broken("the command failed".to_owned());
    }
    if let Some(missing) = promise
        .bound
        .prints
        .iter()
        .find(|text| !execution.output.contains(text.as_str()))
    {
        return Verdict::Broken(format!("{missing:?} is missing in the output"));
    }
    if let Some(most) = promise.bound.seconds
        && execution.seconds > most
    {
        return Verdict::Broken(format!("took {:.2} s, at most {most} s", execution.seconds));
    }
    let tests = tests_passed(&execution.output);
    if let Some(least) = promise.bound.tests
        && tests < least
    {
        return Verdict::Broken(format!("{tests} tests passed, at least {least}"));
    }
    if let Some(most) = promise.bound.test_seconds {
        return match test_seconds(&execution.output) {
            None => Verdict::Broken("no test runner printed its time".to_owned()),
            Some(seconds) if seconds > most => {
                Verdict::Broken(format!("the tests took {seconds:.2} s, at most {most} s"))
            }
            Some(_) => Verdict::Kept,
        };
    }
    Verdict::Kept
}

/// Returns the sum of the passed tests in the output of libtest: `3 passed`.
fn tests_passed(output: &str) -> usize {
    output
        .lines()
        .filter_map(|line| {
            line.strip_prefix("test result: ok. ")?
                .split_once(" passed")
        })
        .filter_map(|(count, _)| count.parse::<usize>().ok())
        .sum()
}

/// Returns the sum of the run times in the output of libtest: `finished in 1.23s`. `None` if no test
/// was run.
fn test_seconds(output: &str) -> Option<f64> {
    let times: Vec<f64> = output
        .lines()
        .filter(|line| line.starts_with("test result:") && !line.contains(" 0 passed"))
        .filter_map(|line| {
            line.rsplit_once("finished in ")?
                .1
                .strip_suffix('s')?
                .parse()
                .ok()
        })
        .collect();
    (!times.is_empty()).then(|| times.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::{Execution, Verdict, check, test_seconds};
    use crate::promises::Promises;

    const PASSED: &str = "test result: ok. 3 passed; 0 failed; finished in 1.25s\n\
                          test result: ok. 0 passed; 0 failed; finished in 0.00s\n";

    fn verdict(bound: &str, success: bool, output: &str) -> Verdict {
        let text = format!(
            "[[promise]]\nid = 'x'\nclaim = 'x'\ncommand = 'x'\nstate = 'kept'\nbound = {{ {bound} }}"
        );
        let promises: Promises = toml::from_str(&text).unwrap();
        check(
            &promises.promises[0],
            &Execution {
                success,
                output: output.to_owned(),
                seconds: 3.0,
            },
        )
    }

    #[test]
    fn promise_is_kept_only_within_all_bounds() {
        assert_eq!(verdict("", true, ""), Verdict::Kept);
        assert_eq!(
            verdict("seconds = 4, test_seconds = 2, tests = 3", true, PASSED),
            Verdict::Kept
        );
        for (bound, success, output) in [
            ("", false, ""),
            ("seconds = 2", true, ""),
            ("test_seconds = 1", true, PASSED),
            ("test_seconds = 1", true, "no tests here"),
            ("prints = ['three']", true, "two"),
            ("tests = 4", true, PASSED),
        ] {
            let found = verdict(bound, success, output);
            assert!(matches!(found, Verdict::Broken(_)), "{bound}: {found:?}");
        }
    }

    #[test]
    fn runs_without_tests_do_not_count() {
        assert_eq!(test_seconds(PASSED), Some(1.25));
        assert_eq!(
            test_seconds("test result: ok. 0 passed; finished in 0.00s"),
            None
        );
    }
}
