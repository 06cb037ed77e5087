//! One Pod on every node: the program.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: kubewright::Allocator = kubewright::Allocator;

fn main() -> ExitCode {
    mydaemonset::operator().main()
}
