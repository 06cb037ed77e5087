//! Runs the programs in `xtask/go`, which use the Go packages of Kubernetes.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};

use kubewright_testing::Settings;

/// Builds and runs a program. Returns its standard output.
pub(crate) fn run(program: &str, arguments: &[&Path]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut command = command()?;
    command
        .arg("run")
        .arg(format!("./{program}"))
        .args(arguments);
    output(&mut command, program)
}

fn command() -> Result<Command, Box<dyn Error>> {
    let settings = Settings::from_environment()?;
    let caches = settings.cache.join("go");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("go");
    let mut command = Command::new(&settings.go);
    command
        .current_dir(folder)
        .env("GOMODCACHE", caches.join("mod"))
        .env("GOWORK", "off")
        .env("GOCACHE", caches.join("build"))
        .env("GOFLAGS", "-trimpath -buildvcs=false -mod=readonly")
        .env("CGO_ENABLED", "0")
        .stderr(Stdio::inherit());
    Ok(command)
}

fn output(command: &mut Command, what: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let output = command
        .output()
        .map_err(|error| format!("start `go` for {what}: {error}"))?;
    if !output.status.success() {
        return Err(format!("run `go` for {what}: it failed with {}", output.status).into());
    }
    Ok(output.stdout)
}
