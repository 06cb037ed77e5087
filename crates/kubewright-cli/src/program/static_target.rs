//! The target that builds static programs.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Returns the target for static programs on an architecture, if it is installed. The architecture
/// has its name in Rust.
pub(crate) fn static_target(architecture: &str) -> Option<String> {
    let target = format!("{architecture}-unknown-linux-musl");
    let output = Command::new("rustc")
        .args(["--print", "sysroot"])
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let folder = String::from_utf8(output.stdout).ok()?;
    let library = PathBuf::from(folder.trim())
        .join("lib/rustlib")
        .join(&target)
        .join("lib");
    library.is_dir().then_some(target)
}
