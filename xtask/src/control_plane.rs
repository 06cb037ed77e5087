use std::path::PathBuf;

use kubewright_testing::control_plane::{ControlPlane, Release};
use kubewright_testing::{Error, Settings};

/// Finds or builds the real control plane and answers its folder.
pub(crate) fn locate(version: Option<&str>) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let release = version.map_or_else(|| Ok(Release::current()), Release::find)?;
    let settings = Settings::from_environment()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let found: Result<_, Error> = runtime.block_on(ControlPlane::locate(release, &settings));
    Ok(found?.folder().to_owned())
}
