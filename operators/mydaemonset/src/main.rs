//! One Pod on every node: the program.

use std::process::ExitCode;

fn main() -> ExitCode {
    mydaemonset::operator().main()
}
