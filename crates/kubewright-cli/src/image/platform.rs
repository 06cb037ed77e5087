use std::fmt;
use std::str::FromStr;

/// A system and an architecture, as images name them: `linux/amd64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Platform {
    /// As images name it.
    pub(super) architecture: &'static str,
    /// As Rust names it.
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

    /// Linux on the architecture of this machine, if images have a name for it.
    pub(super) fn here() -> Option<Self> {
        let architecture = std::env::consts::ARCH;
        let known = |one: &Self| one.rust.trim_end_matches("gc") == architecture;
        KNOWN.into_iter().find(known)
    }

    /// Whether programs of this machine run there.
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
        let found = KNOWN.into_iter().find(|one| one.to_string() == text);
        found.ok_or_else(|| {
            let known = KNOWN.map(|one| one.to_string());
            format!("known are {}", known.join(", "))
        })
    }
}
