use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::program::Program;
use super::release::Release;
use crate::Error;
use crate::progress::{say, tail};

/// Builds programs of one release into one folder.
#[derive(Debug)]
pub(super) struct Build<'a> {
    pub(super) release: Release,
    /// Where the programs go.
    pub(super) folder: &'a Path,
    /// Where Go keeps its modules and results.
    pub(super) cache: &'a Path,
    /// The Go command.
    pub(super) go: &'a Path,
}

const SAY_AGAIN: Duration = Duration::from_secs(15);
const TAIL_LINES: usize = 30;
/// What the modules of ours ask for in their `go.mod`.
const OLDEST_GO: (u32, u32) = (1, 26);

impl Build<'_> {
    /// Whether there is a Go that will do, asked before anybody is told that something is built.
    pub(super) async fn find_go(&self) -> Result<(), Error> {
        let mut version = Command::new(self.go);
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

    /// Removes the temporary files of builds that were broken off; only under the lock.
    pub(super) fn remove_leftovers(&self) -> Result<(), Error> {
        let entries = fs::read_dir(self.folder).map_err(|source| self.not_writable(source))?;
        for entry in entries.filter_map(Result::ok) {
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                fs::remove_file(entry.path()).map_err(|source| self.not_writable(source))?;
            }
        }
        Ok(())
    }

    /// Builds one program, asks it for its version, and puts it in its place.
    pub(super) async fn build(&self, program: Program) -> Result<(), Error> {
        let temporary = self
            .folder
            .join(format!(".{}.{}", program.name(), std::process::id()));
        self.compile(program, &temporary).await?;
        self.verify(program, &temporary).await?;
        let target = self.folder.join(program.name());
        fs::rename(&temporary, &target).map_err(|source| self.not_writable(source))
    }

    /// Asks a program for its version.
    pub(super) async fn verify(&self, program: Program, file: &Path) -> Result<(), Error> {
        let wanted = self.release.version_answer(program);
        let answer = Command::new(file)
            .args(program.version_arguments())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await;
        let got = match answer {
            Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
            Err(error) => error.to_string(),
        };
        if got.contains(&wanted) {
            return Ok(());
        }
        Err(Error::WrongVersion {
            program: file.to_owned(),
            wanted,
            got,
        })
    }

    async fn compile(&self, program: Program, output: &Path) -> Result<(), Error> {
        let module = self
            .write_module(program)
            .map_err(|source| self.not_writable(source))?;
        let mut command = Command::new(self.go);
        command
            .current_dir(module)
            .args(["build", "-o"])
            .arg(output)
            .arg("-ldflags")
            .arg(self.release.linker_flags(program))
            .arg(program.package())
            .env("GOMODCACHE", self.cache.join("go/mod"))
            .env("GOCACHE", self.cache.join("go/build"))
            .env("CGO_ENABLED", "0")
            .env("GOFLAGS", "-trimpath -buildvcs=false -mod=readonly")
            .env("GOWORK", "off")
            .env_remove("GOOS")
            .env_remove("GOARCH")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let finished = self.wait(program, command.output()).await;
        let output = finished.map_err(|source| self.no_go(source))?;
        if output.status.success() {
            return Ok(());
        }
        Err(Error::GoBuild {
            command: format!("go build {}", program.package()),
            tail: tail(&String::from_utf8_lossy(&output.stderr), TAIL_LINES),
        })
    }

    async fn wait<T>(&self, program: Program, work: impl Future<Output = T>) -> T {
        let start = Instant::now();
        let mut ticks = interval(SAY_AGAIN);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        tokio::pin!(work);
        loop {
            tokio::select! {
                result = &mut work => return result,
                _ = ticks.tick() => say(format_args!(
                    "still building {} ({} s)",
                    program.name(),
                    start.elapsed().as_secs()
                )),
            }
        }
    }

    fn write_module(&self, program: Program) -> io::Result<PathBuf> {
        let module = self.release.module(program);
        let folder = self.folder.join("module").join(module.name);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("go.mod"), module.go_mod)?;
        fs::write(folder.join("go.sum"), module.go_sum)?;
        Ok(folder)
    }

    fn no_go(&self, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::NotFound => Error::GoMissing,
            _ => Error::Spawn {
                command: self.go.display().to_string(),
                source,
            },
        }
    }

    fn not_writable(&self, source: io::Error) -> Error {
        Error::CacheNotWritable {
            folder: self.folder.to_owned(),
            source,
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
