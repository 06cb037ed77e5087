//! Runs the commands of promises.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use kubewright_testing::package_variables;
use tokio::time::Instant;

/// The result of a command.
#[derive(Debug)]
pub(super) struct Execution {
    pub(super) success: bool,
    /// Standard output and standard error.
    pub(super) output: String,
    pub(super) seconds: f64,
}

/// Whether a program is in PATH.
pub(super) fn is_installed(program: &str) -> bool {
    let status = Command::new("sh")
        .args(["-c", "command -v \"$0\"", program])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// Runs a command. Both of its streams are printed and collected in their order.
pub(super) fn run(command: &str, root: &Path) -> Result<Execution, String> {
    let started = Instant::now();
    let mut shell = Command::new("sh");
    // With the environment variables of this package, builds would compile its dependents again.
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
            let bytes = line.map_err(|error| format!("read the output of `{command}`: {error}"))?;
            let line = String::from_utf8_lossy(&bytes);
            writeln!(terminal, "    {line}").map_err(|error| format!("print: {error}"))?;
            output.push_str(&line);
            output.push('\n');
        }
    }
    let status = child
        .wait()
        .map_err(|error| format!("wait for `{command}`: {error}"))?;
    Ok(Execution {
        success: status.success(),
        output,
        seconds: started.elapsed().as_secs_f64(),
    })
}
