//! Sidecars for running Pods: the program.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: kubewright::Allocator = kubewright::Allocator;

fn main() -> ExitCode {
    sidecarset::operator().main()
}
