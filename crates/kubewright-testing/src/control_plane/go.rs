//! Runs the Go command.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::Error;
use crate::progress::{report, tail};

/// The Go command with caches in the cache folder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Go<'a> {
    pub(super) program: &'a Path,
    /// The cache folder.
    pub(super) cache: &'a Path,
}

/// A program to build.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    /// The name in progress messages.
    pub(super) name: &'a str,
    /// The folder of the module that pins its version.
    pub(super) module: &'a Path,
    pub(super) package: &'a str,
    pub(super) linker_flags: &'a str,
    pub(super) output: &'a Path,
}

const REPORT_INTERVAL: Duration = Duration::from_secs(15);
const TAIL_LINES: usize = 30;
/// The version in the `go.mod` files of this crate.
const OLDEST_GO: (u32, u32) = (1, 26);

impl Go<'_> {
    /// Checks that Go is installed and new enough, before a build is announced.
    pub(super) async fn check(&self) -> Result<(), Error> {
        let mut version = Command::new(self.program);
        version
            .arg("version")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let output = version.output().await;
        let output = output.map_err(|source| self.start_error(source))?;
        let text = String::from_utf8_lossy(&output.stdout);
        match go_version(&text) {
            Some(found) if found < OLDEST_GO => Err(Error::GoTooOld {
                version: text.trim_start_matches("go version ").trim().to_owned(),
            }),
            // A custom build of Go may report any version.
            _ => Ok(()),
        }
    }

    /// Builds a program, and reports from time to time that it still builds.
    pub(super) async fn build(&self, target: Target<'_>) -> Result<(), Error> {
        let mut command = Command::new(self.program);
        command
            .current_dir(target.module)
            .args(["build", "-o"])
            .arg(target.output)
            .arg("-ldflags")
            .arg(target.linker_flags)
            .arg(target.package)
            .env("GOMODCACHE", self.cache.join("go/mod"))
            .env("GOCACHE", self.cache.join("go/build"))
            .env("CGO_ENABLED", "0")
            .env("GOFLAGS", "-trimpath -buildvcs=false -mod=readonly")
            .env("GOWORK", "off")
            .env_remove("GOOS")
            .env_remove("GOARCH")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let finished = wait(target.name, command.output()).await;
        let output = finished.map_err(|source| self.start_error(source))?;
        if output.status.success() {
            return Ok(());
        }
        Err(Error::GoBuild {
            command: format!("go build {}", target.package),
            tail: tail(&String::from_utf8_lossy(&output.stderr), TAIL_LINES),
        })
    }

    /// Runs `go mod` in a folder, and returns its output.
    pub(super) async fn module(&self, folder: &Path, arguments: &[&str]) -> Result<String, Error> {
        let mut command = Command::new(self.program);
        command
            .current_dir(folder)
            .arg("mod")
            .args(arguments)
            .env("GOMODCACHE", self.cache.join("go/mod"))
            .env("GOCACHE", self.cache.join("go/build"))
            .env("GOWORK", "off")
            .env_remove("GOFLAGS")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let finished = wait("the list of modules", command.output()).await;
        let output = finished.map_err(|source| self.start_error(source))?;
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(stdout);
        }
        // With -json, the reason is on stdout.
        let text = String::from_utf8_lossy(&output.stderr).into_owned() + &stdout;
        Err(Error::GoBuild {
            command: format!("go mod {}", arguments.join(" ")),
            tail: tail(&text, TAIL_LINES),
        })
    }

    fn start_error(&self, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::NotFound => Error::GoMissing,
            _ => Error::Spawn {
                command: self.program.display().to_string(),
                source,
            },
        }
    }
}

async fn wait<T>(name: &str, work: impl Future<Output = T>) -> T {
    let start = Instant::now();
    let mut ticks = interval(REPORT_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks.tick().await;
    tokio::pin!(work);
    loop {
        tokio::select! {
            result = &mut work => return result,
            _ = ticks.tick() => report(format_args!(
                "still building {name} ({} s)",
                start.elapsed().as_secs()
            )),
        }
    }
}

/// The major and minor version in `go version go1.26.4 linux/amd64`.
fn go_version(output: &str) -> Option<(u32, u32)> {
    let mut words = output.split_whitespace();
    let version = words.find_map(|word| word.strip_prefix("go").filter(|rest| !rest.is_empty()))?;
    let mut numbers = version.split(|letter: char| !letter.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::go_version;

    #[test]
    fn version_of_go_is_parsed_in_all_its_forms() {
        for (output, version) in [
            ("go version go1.26.4 linux/amd64\n", Some((1, 26))),
            ("go version go1.27rc1 darwin/arm64", Some((1, 27))),
            (
                "go version devel go1.28-0123abc Mon linux/amd64",
                Some((1, 28)),
            ),
            ("", None),
        ] {
            assert_eq!(go_version(output), version, "{output}");
        }
    }
}
