use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::Error;
use crate::progress::{say, tail};

/// The Go command, with caches of ours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Go<'a> {
    pub(super) program: &'a Path,
    /// Where Go keeps its modules and results.
    pub(super) cache: &'a Path,
}

/// A program to build.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    /// What people call it.
    pub(super) name: &'a str,
    /// The folder of the module that pins it.
    pub(super) module: &'a Path,
    pub(super) package: &'a str,
    pub(super) linker_flags: &'a str,
    pub(super) output: &'a Path,
}

const SAY_AGAIN: Duration = Duration::from_secs(15);
const TAIL_LINES: usize = 30;
/// What the modules of ours ask for in their `go.mod`.
const OLDEST_GO: (u32, u32) = (1, 26);

impl Go<'_> {
    /// Whether there is a Go that will do, asked before anybody is told that something is built.
    pub(super) async fn find(&self) -> Result<(), Error> {
        let mut version = Command::new(self.program);
        version
            .arg("version")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let answer = version.output().await;
        let answer = answer.map_err(|source| self.no_go(source))?;
        let answer = String::from_utf8_lossy(&answer.stdout).into_owned();
        match go_version(&answer) {
            Some(found) if found < OLDEST_GO => Err(Error::GoTooOld {
                version: answer.trim_start_matches("go version ").trim().to_owned(),
            }),
            // Somebody's own build may call itself anything.
            _ => Ok(()),
        }
    }

    /// Builds a program, and says so from time to time.
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
        let output = finished.map_err(|source| self.no_go(source))?;
        if output.status.success() {
            return Ok(());
        }
        Err(Error::GoBuild {
            command: format!("go build {}", target.package),
            tail: tail(&String::from_utf8_lossy(&output.stderr), TAIL_LINES),
        })
    }

    /// Runs a command of Go's about modules in that folder, and gives back what it prints.
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
        let output = finished.map_err(|source| self.no_go(source))?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(printed);
        }
        // With -json, the reason is in the answer.
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned() + &printed;
        Err(Error::GoBuild {
            command: format!("go mod {}", arguments.join(" ")),
            tail: tail(&complaint, TAIL_LINES),
        })
    }

    fn no_go(&self, source: io::Error) -> Error {
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
    let mut ticks = interval(SAY_AGAIN);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks.tick().await;
    tokio::pin!(work);
    loop {
        tokio::select! {
            result = &mut work => return result,
            _ = ticks.tick() => say(format_args!(
                "still building {name} ({} s)",
                start.elapsed().as_secs()
            )),
        }
    }
}

/// Major and minor version in `go version go1.26.4 linux/amd64`.
fn go_version(answer: &str) -> Option<(u32, u32)> {
    let mut words = answer.split_whitespace();
    let version = words.find_map(|word| word.strip_prefix("go").filter(|rest| !rest.is_empty()))?;
    let mut numbers = version.split(|letter: char| !letter.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::go_version;

    #[test]
    fn versions_of_go_are_read_in_all_their_forms() {
        for (answer, version) in [
            ("go version go1.26.4 linux/amd64\n", Some((1, 26))),
            ("go version go1.27rc1 darwin/arm64", Some((1, 27))),
            (
                "go version devel go1.28-0123abc Mon linux/amd64",
                Some((1, 28)),
            ),
            ("", None),
        ] {
            assert_eq!(go_version(answer), version, "{answer}");
        }
    }
}
