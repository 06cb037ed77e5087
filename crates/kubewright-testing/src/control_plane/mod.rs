//! The programs of a real control plane: found, or built from their Go modules.
//!
//! `KUBEBUILDER_ASSETS` is looked at first. Otherwise the programs are built into the cache
//! folder, which keeps Go's own caches too: `CACHE/go/{mod,build}` and
//! `CACHE/control-plane/VERSION-OS-ARCH`. Tools that tests hold their results against are built the
//! same way, into `CACHE/go-tools`.

mod build;
mod go;
mod go_mod;
mod locate;
mod lock;
mod pinned;
mod program;
mod record;
mod release;
mod tool;

pub use locate::ControlPlane;
pub use program::Program;
pub use release::Release;
pub use tool::Tool;
