//! Sidecars for running Pods: the program.

use std::process::ExitCode;

use sidecarset::Injection;

#[global_allocator]
static ALLOCATOR: kubewright::Allocator = kubewright::Allocator;

/// Who puts sidecars into Pods: `webhook`, as without it, or `policy`.
const INJECTION: &str = "SIDECARSET_INJECTION";

fn main() -> ExitCode {
    let chosen = std::env::var_os(INJECTION).unwrap_or_else(|| "webhook".into());
    match chosen.to_string_lossy().parse::<Injection>() {
        Ok(injection) => sidecarset::operator_with(injection).main(),
        Err(error) => {
            complain(&format!("{INJECTION}: {error}"));
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stderr, reason = "nobody logs before the program runs")]
fn complain(text: &str) {
    eprintln!("{text}");
}
