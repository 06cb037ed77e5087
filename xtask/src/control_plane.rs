//! `cargo xtask control-plane`: locates the programs of a real control plane.

use std::path::PathBuf;

use kubewright_testing::control_plane::{ControlPlane, Release};
use kubewright_testing::{Error, Settings};

/// Finds or builds the programs of a real control plane. Returns their folder.
pub(crate) fn locate(version: Option<&str>) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let settings = Settings::from_environment()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let found: Result<_, Error> = runtime.block_on(async {
        let release = match version {
            Some(version) => Release::find(version, &settings).await?,
            None => Release::current().clone(),
        };
        ControlPlane::locate(&release, &settings).await
    });
    Ok(found?.folder().to_owned())
}
