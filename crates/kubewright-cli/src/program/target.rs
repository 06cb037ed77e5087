use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The target whose programs need no library of the system's, for an architecture as Rust names
/// it, if it is installed.
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
