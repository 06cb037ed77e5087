//! Programs of ours that are linked to Kubernetes' own Go packages (`xtask/go`).

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};

use kubewright_testing::Settings;

/// Builds and runs the named program and answers what it prints.
pub(crate) fn run(program: &str, arguments: &[&Path]) -> Result<Vec<u8>, Box<dyn Error>> {
    let settings = Settings::from_environment()?;
    let caches = settings.cache.join("go");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("go");
    let output = Command::new(&settings.go)
        .arg("run")
        .arg(format!("./{program}"))
        .args(arguments)
        .current_dir(folder)
        .env("GOMODCACHE", caches.join("mod"))
        .env("GOWORK", "off")
        .env("GOCACHE", caches.join("build"))
        .env("GOFLAGS", "-trimpath -buildvcs=false -mod=readonly")
        .env("CGO_ENABLED", "0")
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("start `go`, which {program} is written in: {error}"))?;
    if !output.status.success() {
        return Err(format!("run xtask/go/{program}: it ended with {}", output.status).into());
    }
    Ok(output.stdout)
}
