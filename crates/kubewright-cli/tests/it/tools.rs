//! Programs of others that results are held against.

use std::path::PathBuf;

use kubewright_testing::Settings;
use kubewright_testing::control_plane::Tool;

use super::skipped;

/// A tool, or a line that says why there is none.
pub(super) async fn tool(tool: Tool) -> Option<PathBuf> {
    let settings = Settings::from_environment().expect("settings");
    let found = tool.locate(&settings).await;
    assert!(found.is_ok() || !settings.require_real, "{found:?}");
    found.map_err(skipped).ok()
}
