//! Sidecars for running Pods: the program.

use std::process::ExitCode;

use sidecarset::Injector;

#[global_allocator]
static ALLOCATOR: kubewright::Allocator = kubewright::Allocator;

/// The environment variable that chooses the [`Injector`]: `webhook`, the default, or `policy`.
const INJECTION: &str = "SIDECARSET_INJECTION";

fn main() -> ExitCode {
    let name = std::env::var_os(INJECTION).unwrap_or_else(|| "webhook".into());
    match name.to_string_lossy().parse::<Injector>() {
        Ok(injector) => sidecarset::operator_with(injector).main(),
        Err(error) => {
            print_error(&format!("{INJECTION}: {error}"));
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stderr, reason = "the log starts with the operator")]
fn print_error(text: &str) {
    eprintln!("{text}");
}
