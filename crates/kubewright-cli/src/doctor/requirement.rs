use std::path::PathBuf;

use kubewright_testing::Settings;
use kubewright_testing::control_plane::Release;

use super::version_probe::{first_line, version_in};
use crate::program::static_target;

/// How much depends on a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// Without it no operator is built.
    Needed,
    /// Without it some commands do less.
    Useful,
}

/// One thing that was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) name: &'static str,
    pub(super) weight: Weight,
    /// What was found, in its own words.
    pub(super) found: Option<String>,
    /// What does not work without it.
    pub(super) cost: &'static str,
    /// How to get it.
    pub(super) remedy: &'static str,
}

const OLDEST_RUST: (u32, u32) = (1, 95);
const OLDEST_GO: (u32, u32) = (1, 26);

/// Looks for everything.
pub(super) fn subjects() -> Vec<Subject> {
    let mut all = toolchain();
    all.extend(beside());
    all
}

/// What builds an operator.
fn toolchain() -> Vec<Subject> {
    let recent = |line: &String| version_in(line).is_none_or(|version| version >= OLDEST_RUST);
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    vec![
        Subject {
            name: "cargo",
            weight: Weight::Needed,
            found: first_line("cargo", &["--version"]).filter(recent),
            cost: "nothing can be built, tested or run",
            remedy: "install Rust 1.95 or newer: https://rustup.rs",
        },
        Subject {
            name: "rustc",
            weight: Weight::Needed,
            found: first_line("rustc", &["--version"]).filter(recent),
            cost: "nothing can be built, tested or run",
            remedy: "install Rust 1.95 or newer: https://rustup.rs",
        },
        Subject {
            name: "C compiler",
            weight: Weight::Needed,
            found: first_line(compiler, &["--version"]),
            cost: "TLS and the allocator, which are partly C, are not built",
            remedy: "install gcc or clang, or set CC",
        },
        Subject {
            name: "rustfmt",
            weight: Weight::Useful,
            found: first_line("rustfmt", &["--version"]),
            cost: "what `create` and `generate types` write is not formatted",
            remedy: "rustup component add rustfmt",
        },
        Subject {
            name: "static target",
            weight: Weight::Useful,
            found: static_target(std::env::consts::ARCH),
            cost: "`image` takes the system's C library into the image",
            remedy: "rustup target add x86_64-unknown-linux-musl, or that of your machine",
        },
    ]
}

/// What some commands use beside it.
fn beside() -> Vec<Subject> {
    let recent = |line: &String| version_in(line).is_none_or(|version| version >= OLDEST_GO);
    vec![
        Subject {
            name: "git",
            weight: Weight::Useful,
            found: first_line("git", &["--version"]),
            cost: "`check --since` cannot see what was",
            remedy: "install git",
        },
        Subject {
            name: "Go",
            weight: Weight::Useful,
            found: first_line("go", &["version"]).filter(recent),
            cost: "no real control plane: tests and `dev` run on the embedded cluster only",
            remedy: "install Go 1.26 or newer: https://go.dev/dl",
        },
        Subject {
            name: "control plane",
            weight: Weight::Useful,
            found: control_plane().map(|folder| folder.display().to_string()),
            cost: "the first test or `dev` on a real cluster takes minutes, to build it",
            remedy: "with Go: kubewright dev --cluster real, which builds it once",
        },
        Subject {
            name: "kubectl",
            weight: Weight::Useful,
            found: first_line("kubectl", &["version", "--client"]),
            cost: "nobody can look into a cluster beside `dev`",
            remedy: "install kubectl",
        },
    ]
}

/// The folder of a control plane that is there already.
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
