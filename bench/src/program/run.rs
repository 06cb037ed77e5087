//! Runs a subject and parses its output.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use kubewright_core::Clock;
use tokio::process::Command;

use super::build::Built;
use crate::error::Error;
use crate::readings::Readings;
use crate::results::Run;

/// The timeout of a run of the benchmark `cache`.
const CACHE_TIMEOUT: Duration = Duration::from_secs(1200);
/// The timeout of a run of another benchmark.
const TIMEOUT: Duration = Duration::from_secs(600);
/// How many lines of standard error are printed when a subject fails.
const TAIL_LINES: usize = 20;

/// The arguments of a run of the benchmark `cache`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CacheArguments<'a> {
    pub(crate) kubeconfig: &'a Path,
    pub(crate) objects: u32,
    pub(crate) settle: f64,
}

/// Runs a subject of the benchmark `cache` once and parses its measurements.
///
/// # Cancel safety
///
/// Dropping the future ends the subject.
pub(crate) async fn run_cache(built: &Built, arguments: CacheArguments<'_>) -> Result<Run, Error> {
    let mut command = Command::new(&built.program);
    command
        .arg("--kubeconfig")
        .arg(arguments.kubeconfig)
        .arg(format!("--objects={}", arguments.objects))
        .arg(format!("--settle={}", arguments.settle))
        .arg(format!(
            "--started={}",
            Clock::system().now().as_nanosecond()
        ));
    let stdout = output(built, &mut command, CACHE_TIMEOUT).await?;
    Run::parse(built.subject, &stdout)
}

/// Runs a subject of another benchmark once and parses its readings.
///
/// # Cancel safety
///
/// Dropping the future ends the subject.
pub(crate) async fn measure(built: &Built, arguments: &[String]) -> Result<Readings, Error> {
    let mut command = Command::new(&built.program);
    command.args(arguments);
    let stdout = output(built, &mut command, TIMEOUT).await?;
    Readings::parse(built.subject, &stdout)
}

/// Runs a subject to its end and returns its standard output.
async fn output(built: &Built, command: &mut Command, timeout: Duration) -> Result<String, Error> {
    let subject = built.subject;
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(timeout, command.output())
        .await
        .map_err(|_| Error::SubjectTimeout { subject, timeout })?
        .map_err(|source| Error::Spawn {
            command: built.program.display().to_string(),
            source,
        })?;
    if !output.status.success() {
        return Err(Error::SubjectFailed {
            subject,
            status: output.status,
            tail: tail(&output.stderr),
        });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the last lines of the output of a program.
pub(crate) fn tail(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.len().saturating_sub(TAIL_LINES);
    lines.get(first..).unwrap_or_default().join("\n")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{CacheArguments, run_cache, tail};
    use crate::program::Built;
    use crate::subject::Subject;

    #[tokio::test]
    async fn error_of_a_failed_subject_ends_with_its_standard_error() {
        let built = Built {
            subject: Subject::Kube,
            program: "ls".into(),
        };
        let arguments = CacheArguments {
            kubeconfig: Path::new("/nowhere"),
            objects: 1,
            settle: 0.0,
        };
        let error = run_cache(&built, arguments).await.unwrap_err().to_string();
        let start = "run kube: it failed with exit status: ";
        assert!(error.starts_with(start), "{error}");
        assert!(error.contains("kubeconfig"), "{error}");
    }

    #[test]
    fn tail_has_the_last_20_lines() {
        let text: String = (0..50).map(|line| format!("{line}\n")).collect();
        let tail = tail(text.as_bytes());
        assert_eq!(tail.lines().count(), 20);
        assert!(tail.starts_with("30\n") && tail.ends_with("\n49"));
    }
}
