//! Passes commit, compiler and target of the build to the command, for `kubewright version`.

use std::ffi::OsStr;
use std::process::Command;

fn main() {
    for path in ["build.rs", "src", "templates", "Cargo.toml"] {
        println!("cargo::rerun-if-changed={path}");
    }
    // A commit or a checkout always changes one of these files, perhaps no other.
    for name in ["HEAD", "logs/HEAD"] {
        let path = output("git", &["rev-parse", "--git-path", name]);
        if let Some(path) = path.filter(|path| std::fs::exists(path).unwrap_or(false)) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    println!("cargo::rustc-env=KUBEWRIGHT_COMMIT={}", commit());
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = output(&rustc, &["--version"]).unwrap_or_else(|| "an unknown rustc".to_owned());
    println!("cargo::rustc-env=KUBEWRIGHT_RUSTC={version}");
    let target = std::env::var_os("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=KUBEWRIGHT_TARGET={}", target.display());
}

/// Returns the commit of the sources, marked when they have changes; `unknown` without git.
fn commit() -> String {
    let Some(commit) = output("git", &["rev-parse", "HEAD"]) else {
        return "unknown".to_owned();
    };
    match output("git", &["status", "--porcelain", "--untracked-files=no"]) {
        Some(changes) if changes.is_empty() => commit,
        _ => format!("{commit} with changes"),
    }
}

/// Returns what a program prints, if it is installed and succeeds.
fn output(program: impl AsRef<OsStr>, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
