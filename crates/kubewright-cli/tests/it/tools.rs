//! Programs of other projects that tests compare results with.

use std::path::PathBuf;

use kubewright_testing::Settings;
use kubewright_testing::control_plane::{ControlPlane, Program, Release, Tool};

use super::skipped;

/// Returns the path of a tool; without it, prints why and returns none.
pub(super) async fn tool(tool: Tool) -> Option<PathBuf> {
    let settings = Settings::from_environment().expect("settings");
    let found = tool.locate(&settings).await;
    assert!(found.is_ok() || !settings.require_real, "{found:?}");
    found.map_err(skipped).ok()
}

/// Returns the path of `kubectl` of the real control plane; without it, prints why and returns
/// none.
pub(super) async fn kubectl() -> Option<PathBuf> {
    let settings = Settings::from_environment().expect("settings");
    let found = ControlPlane::locate(Release::current(), &settings)
        .await
        .and_then(|found| found.program(Program::Kubectl));
    assert!(found.is_ok() || !settings.require_real, "{found:?}");
    found.map_err(skipped).ok()
}
