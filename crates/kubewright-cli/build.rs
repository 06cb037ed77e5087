//! Tells the command what it is built from, for `kubewright version`.

use std::ffi::OsStr;
use std::process::Command;

fn main() {
    for path in ["build.rs", "src", "templates", "Cargo.toml"] {
        println!("cargo::rerun-if-changed={path}");
    }
    // A commit or another branch changes one of these, and nothing else need change with it.
    for name in ["HEAD", "logs/HEAD"] {
        let path = said("git", &["rev-parse", "--git-path", name]);
        if let Some(path) = path.filter(|path| std::fs::exists(path).unwrap_or(false)) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    println!("cargo::rustc-env=KUBEWRIGHT_COMMIT={}", commit());
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let rustc = said(&rustc, &["--version"]).unwrap_or_else(|| "an unknown rustc".to_owned());
    println!("cargo::rustc-env=KUBEWRIGHT_RUSTC={rustc}");
    let target = std::env::var_os("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=KUBEWRIGHT_TARGET={}", target.display());
}

/// The commit of the sources, and whether they were changed since; without git, that nobody knows.
fn commit() -> String {
    let Some(commit) = said("git", &["rev-parse", "HEAD"]) else {
        return "unknown".to_owned();
    };
    match said("git", &["status", "--porcelain", "--untracked-files=no"]) {
        Some(changes) if changes.is_empty() => commit,
        _ => format!("{commit} with changes"),
    }
}

/// What a program prints, if it is there and succeeds.
fn said(program: impl AsRef<OsStr>, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
