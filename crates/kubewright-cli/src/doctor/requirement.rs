//! The tools and files that the commands need.

use std::path::PathBuf;

use kubewright_testing::Settings;
use kubewright_testing::control_plane::Release;

use super::version_probe::{first_line, version_in};
use crate::program::static_target;

/// What depends on a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Importance {
    /// No operator can be built without it.
    Needed,
    /// Some commands do less without it.
    Useful,
}

/// A tool or file, and whether it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Requirement {
    pub(super) name: &'static str,
    pub(super) importance: Importance,
    /// The version or the path that was found.
    pub(super) found: Option<String>,
    /// What does not work without it.
    pub(super) cost: &'static str,
    /// How to get it.
    pub(super) remedy: &'static str,
}

const OLDEST_RUST: (u32, u32) = (1, 95);
const OLDEST_GO: (u32, u32) = (1, 26);

/// Checks all requirements.
pub(super) fn requirements() -> Vec<Requirement> {
    let mut all = toolchain();
    all.extend(other_tools());
    all
}

/// Checks the tools that build an operator.
fn toolchain() -> Vec<Requirement> {
    let is_recent = |line: &String| version_in(line).is_none_or(|version| version >= OLDEST_RUST);
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    vec![
        Requirement {
            name: "cargo",
            importance: Importance::Needed,
            found: first_line("cargo", &["--version"]).filter(is_recent),
            cost: "nothing can be built, tested or run",
            remedy: "install Rust 1.95 or newer: https://rustup.rs",
        },
        Requirement {
            name: "rustc",
            importance: Importance::Needed,
            found: first_line("rustc", &["--version"]).filter(is_recent),
            cost: "nothing can be built, tested or run",
            remedy: "install Rust 1.95 or newer: https://rustup.rs",
        },
        Requirement {
            name: "C compiler",
            importance: Importance::Needed,
            found: first_line(compiler, &["--version"]),
            cost: "TLS and the allocator, which are partly C, cannot be built",
            remedy: "install gcc or clang, or set CC",
        },
        Requirement {
            name: "rustfmt",
            importance: Importance::Useful,
            found: first_line("rustfmt", &["--version"]),
            cost: "what `create` and `generate types` write is not formatted",
            remedy: "rustup component add rustfmt",
        },
        Requirement {
            name: "static target",
            importance: Importance::Useful,
            found: static_target(std::env::consts::ARCH),
            cost: "`image` puts the system's C library into the image",
            remedy: "rustup target add x86_64-unknown-linux-musl, or the target of your machine",
        },
    ]
}

/// Checks the tools that some commands use.
fn other_tools() -> Vec<Requirement> {
    let is_recent = |line: &String| version_in(line).is_none_or(|version| version >= OLDEST_GO);
    vec![
        Requirement {
            name: "git",
            importance: Importance::Useful,
            found: first_line("git", &["--version"]),
            cost: "`check --since` cannot read earlier revisions",
            remedy: "install git",
        },
        Requirement {
            name: "Go",
            importance: Importance::Useful,
            found: first_line("go", &["version"]).filter(is_recent),
            cost: "there is no real control plane: tests and `dev` run only on the embedded cluster",
            remedy: "install Go 1.26 or newer: https://go.dev/dl",
        },
        Requirement {
            name: "control plane",
            importance: Importance::Useful,
            found: control_plane().map(|folder| folder.display().to_string()),
            cost: "the first test or `dev` on a real cluster takes minutes to build it",
            remedy: "with Go, run kubewright dev --cluster real, which builds it once",
        },
        Requirement {
            name: "kubectl",
            importance: Importance::Useful,
            found: first_line("kubectl", &["version", "--client"]),
            cost: "the cluster of `dev` cannot be inspected",
            remedy: "install kubectl",
        },
    ]
}

/// Returns the folder of a control plane that is built or configured.
fn control_plane() -> Option<PathBuf> {
    let settings = Settings::from_environment().ok()?;
    let version = Release::current().version();
    let built = settings
        .cache_folder()
        .ok()
        .map(|cache| cache.join("control-plane"));
    let mut folders: Vec<PathBuf> = settings.assets.clone().into_iter().collect();
    let entries = built.and_then(|built| built.read_dir().ok());
    for entry in entries.into_iter().flatten().filter_map(Result::ok) {
        if entry.file_name().to_string_lossy().starts_with(version) {
            folders.push(entry.path());
        }
    }
    folders
        .into_iter()
        .find(|folder| folder.join("kube-apiserver").is_file())
}
