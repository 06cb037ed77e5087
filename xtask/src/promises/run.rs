#![expect(
    clippy::print_stdout,
    reason = "the verdicts are this command's output"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use kubewright_testing::package_variables;
use tokio::time::Instant;

use super::{Promise, Promises, State};

/// What came of one promise.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Which one.
    pub promise: Promise,
    /// What was found.
    pub verdict: Verdict,
    /// Seconds from start to exit of the proof.
    pub seconds: f64,
}

/// Whether a promise was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Exit code 0 and within its bound.
    Kept,
    /// Not so, and why.
    Broken(String),
    /// Not tried, and why.
    NotRun(String),
}

/// What a proof left behind.
struct Proof {
    success: bool,
    output: String,
    seconds: f64,
}

/// Runs the promises (the quick ones unless `all`), prints a line each and a summary, and says
/// whether every one that was kept before still is.
pub(crate) fn report(promises: &Promises, root: &Path, all: bool, only: &[String]) -> bool {
    let mut outcomes = Vec::new();
    for promise in &promises.promises {
        let wanted = if only.is_empty() {
            all || promise.quick
        } else {
            only.contains(&promise.id)
        };
        if wanted {
            println!("... {}: {}", promise.id, promise.command);
        }
        let outcome = if wanted {
            prove(promise, root)
        } else {
            not_asked(promise)
        };
        println!("{}", line(&outcome));
        outcomes.push(outcome);
    }
    let count = |wanted: fn(&Verdict) -> bool| {
        outcomes
            .iter()
            .filter(|outcome| wanted(&outcome.verdict))
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

fn line(outcome: &Outcome) -> String {
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
        Verdict::Broken(why) => format!("BROKEN   {}: {} ({why})", promise.id, promise.claim),
        Verdict::NotRun(why) => format!("not run  {}: {} ({why})", promise.id, promise.claim),
    }
}

fn not_asked(promise: &Promise) -> Outcome {
    let verdict = Verdict::NotRun("not asked for: --all runs every one".to_owned());
    Outcome {
        promise: promise.clone(),
        verdict,
        seconds: 0.0,
    }
}

fn prove(promise: &Promise, root: &Path) -> Outcome {
    let done = |verdict, seconds| Outcome {
        promise: promise.clone(),
        verdict,
        seconds,
    };
    if let Some(program) = &promise.needs
        && !is_installed(program)
    {
        return done(Verdict::NotRun(format!("{program} is not installed")), 0.0);
    }
    if let Some(prepare) = &promise.prepare {
        match run(prepare, root) {
            Ok(proof) if proof.success => {}
            Ok(_) => return done(Verdict::Broken(format!("`{prepare}` failed")), 0.0),
            Err(error) => return done(Verdict::Broken(error), 0.0),
        }
    }
    match run(&promise.command, root) {
        Ok(proof) => done(judge(promise, &proof), proof.seconds),
        Err(error) => done(Verdict::Broken(error), 0.0),
    }
}

fn is_installed(program: &str) -> bool {
    let asked = Command::new("sh")
        .args(["-c", "command -v \"$0\"", program])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.is_ok_and(|status| status.success())
}

/// Both streams pass through to the reader and are kept, in the order they were written.
fn run(command: &str, root: &Path) -> Result<Proof, String> {
    let started = Instant::now();
    let mut shell = Command::new("sh");
    // What cargo says about this package makes builds below compile parts of it anew.
    for name in package_variables() {
        shell.env_remove(name);
    }
    let mut child = shell
        .arg("-c")
        .arg(format!("{{ {command}\n}} 2>&1"))
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("start `{command}`: {error}"))?;
    let mut output = String::new();
    if let Some(stdout) = child.stdout.take() {
        let mut terminal = std::io::stdout().lock();
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.map_err(|error| format!("read the output of `{command}`: {error}"))?;
            let line = String::from_utf8_lossy(&line);
            writeln!(terminal, "    {line}").map_err(|error| format!("print: {error}"))?;
            output.push_str(&line);
            output.push('\n');
        }
    }
    let status = child
        .wait()
        .map_err(|error| format!("wait for `{command}`: {error}"))?;
    Ok(Proof {
        success: status.success(),
        output,
        seconds: started.elapsed().as_secs_f64(),
    })
}

fn judge(promise: &Promise, proof: &Proof) -> Verdict {
    if !proof.success {
        return Verdict::Broken("the command failed".to_owned());
    }
    if let Some(missing) = promise
        .bound
        .prints
        .iter()
        .find(|text| !proof.output.contains(text.as_str()))
    {
        return Verdict::Broken(format!("the output lacks {missing:?}"));
    }
    if let Some(most) = promise.bound.seconds
        && proof.seconds > most
    {
        return Verdict::Broken(format!("took {:.2} s, at most {most} s", proof.seconds));
    }
    let tests = tests_passed(&proof.output);
    if let Some(least) = promise.bound.tests
        && tests < least
    {
        return Verdict::Broken(format!("{tests} tests passed, at least {least}"));
    }
    if let Some(most) = promise.bound.test_seconds {
        return match test_seconds(&proof.output) {
            None => Verdict::Broken("no test runner printed its time".to_owned()),
            Some(took) if took > most => {
                Verdict::Broken(format!("the tests took {took:.2} s, at most {most} s"))
            }
            Some(_) => Verdict::Kept,
        };
    }
    Verdict::Kept
}

/// The sum of libtest's `3 passed`.
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

/// The sum of libtest's `finished in 1.23s`; none when no test was run.
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
    use super::{Proof, Verdict, judge, test_seconds};
    use crate::promises::Promises;

    const PASSED: &str = "test result: ok. 3 passed; 0 failed; finished in 1.25s\n\
                          test result: ok. 0 passed; 0 failed; finished in 0.00s\n";

    fn judged(bound: &str, success: bool, output: &str) -> Verdict {
        let text = format!(
            "[[promise]]\nid = 'x'\nclaim = 'x'\ncommand = 'x'\nstate = 'kept'\nbound = {{ {bound} }}"
        );
        let promises: Promises = toml::from_str(&text).unwrap();
        judge(
            &promises.promises[0],
            &Proof {
                success,
                output: output.to_owned(),
                seconds: 3.0,
            },
        )
    }

    #[test]
    fn a_promise_is_kept_only_within_every_bound() {
        assert_eq!(judged("", true, ""), Verdict::Kept);
        assert_eq!(
            judged("seconds = 4, test_seconds = 2, tests = 3", true, PASSED),
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
            let verdict = judged(bound, success, output);
            assert!(
                matches!(verdict, Verdict::Broken(_)),
                "{bound}: {verdict:?}"
            );
        }
    }

    #[test]
    fn runners_that_ran_nothing_prove_nothing() {
        assert_eq!(test_seconds(PASSED), Some(1.25));
        assert_eq!(
            test_seconds("test result: ok. 0 passed; finished in 0.00s"),
            None
        );
    }
}
