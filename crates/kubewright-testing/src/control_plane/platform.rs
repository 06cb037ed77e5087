//! Where the programs of a version lie in the cache folder.

use std::path::PathBuf;

use crate::{Error, Settings};

/// The folder of the programs of a Kubernetes version on this platform.
pub(super) fn programs_folder(version: &str, settings: &Settings) -> Result<PathBuf, Error> {
    let name = format!("{version}-{}", platform());
    Ok(settings.cache_folder()?.join("control-plane").join(name))
}

/// The platform with the names of Go, such as `linux-amd64`.
pub(super) fn platform() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{system}-{architecture}")
}
