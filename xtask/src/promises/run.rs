//! Checks the selected promises and prints their verdicts.

#![expect(
    clippy::print_stdout,
    reason = "the verdicts are the output of the command"
)]

use std::path::Path;

use super::bounds::{Verdict, check};
use super::file::{Promise, Promises, State};
use super::shell::{is_installed, run};

/// The promises to check.
#[derive(Debug)]
pub(crate) struct Selection {
    /// Include the promises that take long.
    pub(crate) all: bool,
    /// If not empty, only the promises with these ids.
    pub(crate) ids: Vec<String>,
}

impl Selection {
    fn includes(&self, promise: &Promise) -> bool {
        if self.ids.is_empty() {
            return self.all || promise.quick;
        }
        self.ids.contains(&promise.id)
    }
}

/// The result of a promise.
#[derive(Debug)]
struct Outcome<'a> {
    promise: &'a Promise,
    verdict: Verdict,
    /// Seconds from start to exit of the command.
    seconds: f64,
}

/// Checks the selected promises and prints a line for each promise and a summary.
///
/// Returns false if a promise with the state [`State::Kept`] is broken.
pub(crate) fn report(promises: &Promises, root: &Path, selection: &Selection) -> bool {
    let mut outcomes = Vec::new();
    for promise in &promises.promises {
        let outcome = if selection.includes(promise) {
            println!("... {}: {}", promise.id, promise.command);
            check_promise(promise, root)
        } else {
            not_selected(promise)
        };
        println!("{}", line(&outcome));
        outcomes.push(outcome);
    }
    let count = |matches: fn(&Verdict) -> bool| {
        outcomes
            .iter()
            .filter(|outcome| matches(&outcome.verdict))
            .count()
    };
    println!(
        "promises: {} kept, {} broken, {} not run",
        count(|verdict| matches!(verdict, Verdict::Kept)),
        count(|verdict| matches!(verdict, Verdict::Broken(_))),
        count(|verdict| matches!(verdict, Verdict::NotRun(_))),
    );
    !outcomes.iter().any(|outcome| {
        outcome.promise.state == State::Kept && matches!(outcome.verdict, Verdict::Broken(_))
    })
}

fn line(outcome: &Outcome<'_>) -> String {
    let Outcome {
        promise,
        verdict,
        seconds,
    } = outcome;
    match verdict {
        Verdict::Kept => format!(
            "kept     {}: {} [{seconds:.1} s]",
            promise.id, promise.claim
        ),
        Verdict::Broken(reason) => format!("BROKEN   {}: {} ({reason})", promise.id, promise.claim),
        Verdict::NotRun(reason) => format!("not run  {}: {} ({reason})", promise.id, promise.claim),
    }
}

fn not_selected(promise: &Promise) -> Outcome<'_> {
    Outcome {
        promise,
        verdict: Verdict::NotRun("not selected; --all runs all promises".to_owned()),
        seconds: 0.0,
    }
}

fn check_promise<'a>(promise: &'a Promise, root: &Path) -> Outcome<'a> {
    let outcome = |verdict, seconds| Outcome {
        promise,
        verdict,
        seconds,
    };
    if let Some(program) = &promise.needs
        && !is_installed(program)
    {
        return outcome(Verdict::NotRun(format!("{program} is not installed")), 0.0);
    }
    if let Some(prepare) = &promise.prepare {
        match run(prepare, root) {
            Ok(execution) if execution.success => {}
            Ok(_) => return outcome(Verdict::Broken(format!("`{prepare}` failed")), 0.0),
            Err(error) => return outcome(Verdict::Broken(error), 0.0),
        }
    }
    match run(&promise.command, root) {
        Ok(execution) => outcome(check(promise, &execution), execution.seconds),
        Err(error) => outcome(Verdict::Broken(error), 0.0),
    }
}
