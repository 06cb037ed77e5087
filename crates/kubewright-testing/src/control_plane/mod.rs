//! The programs of a real control plane, which are located, or built from their Go modules.
//!
//! `KUBEBUILDER_ASSETS` takes precedence. Otherwise the programs are built into the cache folder,
//! which also contains the caches of Go: `CACHE/go/{mod,build}` and
//! `CACHE/control-plane/VERSION-OS-ARCH`. Tools that tests compare their results with are built in
//! the same way, into `CACHE/go-tools`.

mod build;
mod go;
mod go_mod;
mod locate;
mod lock;
mod pinned;
mod platform;
mod program;
mod record;
mod release;
mod tool;

pub use locate::ControlPlane;
pub use program::Program;
pub use release::Release;
pub use tool::Tool;
