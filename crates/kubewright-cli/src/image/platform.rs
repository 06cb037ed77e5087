//! Platforms of images.

use std::fmt;
use std::str::FromStr;

/// A platform of an image, such as `linux/amd64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Platform {
    /// The name of the architecture in images.
    pub(super) architecture: &'static str,
    /// The name of the architecture in Rust.
    pub(super) rust: &'static str,
}

const KNOWN: [Platform; 5] = [
    Platform::new("amd64", "x86_64"),
    Platform::new("arm64", "aarch64"),
    Platform::new("ppc64le", "powerpc64le"),
    Platform::new("riscv64", "riscv64gc"),
    Platform::new("s390x", "s390x"),
];

impl Platform {
    const fn new(architecture: &'static str, rust: &'static str) -> Self {
        Self { architecture, rust }
    }

    /// Returns Linux on the architecture of this machine, if images have a name for it.
    pub(super) fn here() -> Option<Self> {
        let architecture = std::env::consts::ARCH;
        KNOWN
            .into_iter()
            .find(|platform| platform.rust.trim_end_matches("gc") == architecture)
    }

    /// Whether this machine can run programs for the platform.
    pub(super) fn is_here(self) -> bool {
        cfg!(target_os = "linux") && Self::here() == Some(self)
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "linux/{}", self.architecture)
    }
}

impl FromStr for Platform {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = KNOWN
            .into_iter()
            .find(|platform| platform.to_string() == text);
        found.ok_or_else(|| {
            let known = KNOWN.map(|platform| platform.to_string());
            format!("supported are {}", known.join(", "))
        })
    }
}
