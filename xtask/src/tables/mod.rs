//! `cargo xtask tables`: generates the tables of the built-in kinds from a running API server and from
//! the Go packages of Kubernetes.

mod discovery;
mod layouts;
mod openapi;
mod roles;
mod server;
mod types;
mod write;

use std::error::Error;
use std::path::{Path, PathBuf};

pub(crate) use write::{Mode, Verdict, pack};

use crate::go;

/// Writes the tables below `root`, or compares them with the existing ones.
///
/// The server is that of `kubeconfig`, or else of a real control plane that is started.
pub(crate) fn run(
    root: &Path,
    kubeconfig: Option<PathBuf>,
    mode: Mode,
) -> Result<Verdict, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (definitions, resources, roles) = runtime.block_on(async {
        let server = server::Server::connect(kubeconfig).await?;
        Ok::<_, Box<dyn Error>>((
            openapi::read(&server).await?,
            discovery::read(&server).await?,
            roles::read(&server).await?,
        ))
    })?;
    let defaults = write::pack(&go::run("defaults", &[])?)?;
    let tables = [
        (
            "crates/kubewright-wire/tables/types.json.gz",
            types::pack(&definitions)?,
        ),
        (
            "crates/kubewright-wire/tables/layouts.bin",
            layouts::pack()?,
        ),
        (
            "crates/kubewright-apiserver/tables/openapi.json.gz",
            openapi::pack(&definitions)?,
        ),
        (
            "crates/kubewright-kinds/tables/resources.json.gz",
            resources,
        ),
        ("crates/kubewright-apiserver/tables/roles.json.gz", roles),
        ("crates/kubewright-kinds/tables/defaults.json.gz", defaults),
    ];
    write::all(root, &tables, mode)
}
