use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use kubewright_core::Clock;
use tokio::process::Command;

use super::Built;
use crate::error::Error;
use crate::results::Run;

/// A subject that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(1200);
/// How much of a failed subject's standard error is shown.
const TAIL_LINES: usize = 20;

/// What every run of a benchmark is given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch<'a> {
    pub(crate) kubeconfig: &'a Path,
    pub(crate) objects: u32,
    pub(crate) settle: f64,
}

/// Runs a subject once and reads what it measured.
///
/// # Cancel safety
///
/// Dropping the future ends the subject.
pub(crate) async fn run(built: &Built, launch: Launch<'_>) -> Result<Run, Error> {
    let subject = built.subject;
    let mut command = Command::new(&built.program);
    command
        .arg("--kubeconfig")
        .arg(launch.kubeconfig)
        .arg(format!("--objects={}", launch.objects))
        .arg(format!("--settle={}", launch.settle))
        .arg(format!(
            "--started={}",
            Clock::system().now().as_nanosecond()
        ))
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let failed = |source| Error::Spawn {
        command: built.program.display().to_string(),
        source,
    };
    let output = tokio::time::timeout(LIMIT, command.output())
        .await
        .map_err(|_| Error::SubjectSlow {
            subject,
            limit: LIMIT,
        })?
        .map_err(failed)?;
    if !output.status.success() {
        return Err(Error::SubjectFailed {
            subject,
            status: output.status,
            tail: tail(&String::from_utf8_lossy(&output.stderr)),
        });
    }
    Run::parse(subject, &String::from_utf8_lossy(&output.stdout))
}

/// The last lines of what a subject said.
pub(crate) fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(TAIL_LINES);
    lines.get(from..).unwrap_or_default().join("\n")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Launch, run, tail};
    use crate::subject::{Built, Subject};

    #[tokio::test]
    async fn a_subject_that_fails_shows_the_end_of_its_standard_error() {
        let built = Built {
            subject: Subject::Kube,
            program: "ls".into(),
        };
        let launch = Launch {
            kubeconfig: Path::new("/nowhere"),
            objects: 1,
            settle: 0.0,
        };
        let error = run(&built, launch).await.unwrap_err().to_string();
        let start = "run kube: it ended with exit status: ";
        assert!(error.starts_with(start), "{error}");
        assert!(error.contains("kubeconfig"), "{error}");
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let text: String = (0..50).map(|line| format!("{line}\n")).collect();
        let kept = tail(&text);
        assert_eq!(kept.lines().count(), 20);
        assert!(kept.starts_with("30\n") && kept.ends_with("\n49"));
    }
}
