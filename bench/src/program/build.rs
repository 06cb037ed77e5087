//! Builds the programs of the subjects with cargo and Go.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use kubewright_testing::{Settings, package_variables};
use serde::Deserialize;
use tokio::process::Command;

use crate::error::Error;
use crate::output;
use crate::subject::Subject;

/// A subject and its program.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    pub(crate) subject: Subject,
    pub(crate) program: PathBuf,
}

/// Builds the subjects of one benchmark.
#[derive(Clone, Debug)]
pub(crate) struct Builder {
    benchmark: &'static str,
    /// The root of the repository.
    pub(crate) root: PathBuf,
    pub(crate) cargo: PathBuf,
    pub(crate) go: PathBuf,
    /// The folder of Go's caches.
    pub(crate) cache: PathBuf,
}

impl Builder {
    /// Creates a builder for the subjects of a benchmark.
    pub(crate) fn new(benchmark: &'static str, settings: &Settings) -> Self {
        let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
        let cargo = std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
        Self {
            benchmark,
            root: bench.parent().unwrap_or(bench).to_owned(),
            cargo,
            go: settings.go.clone(),
            cache: settings.cache.clone(),
        }
    }

    /// Builds a subject. Messages of the compiler go to standard error.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the compiler. The next build continues with its cached results.
    pub(crate) async fn build(&self, subject: Subject) -> Result<Built, Error> {
        output::note(&format!("build {subject}"));
        let package = format!("{}-{subject}", self.benchmark);
        let program = match subject {
            Subject::ControllerRuntime => self.go(subject, &package).await?,
            Subject::Kube => self.cargo_workspace(subject, &package).await?,
            Subject::Kubewright | Subject::KubewrightProjection | Subject::Kubebuilder => {
                self.cargo_package(subject, &package).await?
            }
        };
        Ok(Built { subject, program })
    }

    /// Builds the program of a package of the workspace, such as an operator.
    ///
    /// # Cancel safety
    ///
    /// As for [`Builder::build`].
    pub(crate) async fn program(&self, package: &str) -> Result<PathBuf, Error> {
        output::note(&format!("build {package}"));
        self.cargo_package(Subject::Kubewright, package).await
    }

    /// Builds MyDaemonSet. The subject of kubewright is the operator itself.
    ///
    /// # Cancel safety
    ///
    /// As for [`Builder::build`].
    pub(crate) async fn operator(&self, subject: Subject) -> Result<Built, Error> {
        if subject != Subject::Kubewright {
            return self.build(subject).await;
        }
        let program = self.program("mydaemonset").await?;
        Ok(Built { subject, program })
    }

    async fn cargo_package(&self, subject: Subject, package: &str) -> Result<PathBuf, Error> {
        let mut command = Command::new(&self.cargo);
        command.args(["build", "--release", "--package", package]);
        self.cargo(subject, command).await
    }

    /// Builds a subject that is a workspace of its own. It shares the target folder, so that its
    /// dependencies are compiled once.
    async fn cargo_workspace(&self, subject: Subject, package: &str) -> Result<PathBuf, Error> {
        let mut command = Command::new(&self.cargo);
        let manifest = self.root.join("bench/subjects").join(package);
        command
            .args(["build", "--release", "--locked", "--manifest-path"])
            .arg(manifest.join("Cargo.toml"))
            .arg("--target-dir")
            .arg(self.target());
        self.cargo(subject, command).await
    }

    async fn cargo(&self, subject: Subject, mut command: Command) -> Result<PathBuf, Error> {
        remove_package_variables(&mut command);
        command
            .arg("--message-format=json-render-diagnostics")
            .current_dir(&self.root)
            .stdout(Stdio::piped());
        let messages = finish(subject, &mut command).await?;
        executable(&messages).ok_or_else(|| Error::NoExecutable {
            subject,
            command: command_line(&command),
        })
    }

    async fn go(&self, subject: Subject, package: &str) -> Result<PathBuf, Error> {
        let folder = self.target().join("bench");
        std::fs::create_dir_all(&folder).map_err(|source| Error::Folder {
            folder: folder.clone(),
            source,
        })?;
        let program = folder.join(package);
        let mut command = Command::new(&self.go);
        command
            .args(["build", "-trimpath", "-buildvcs=false", "-mod=readonly"])
            .args(["-ldflags", "-s -w", "-o"])
            .arg(&program)
            .arg(".")
            .current_dir(self.root.join("bench/go").join(package))
            .env("CGO_ENABLED", "0")
            .env("GOMODCACHE", self.cache.join("go/mod"))
            .env("GOWORK", "off")
            .env("GOCACHE", self.cache.join("go/build"));
        finish(subject, &mut command).await?;
        Ok(program)
    }

    /// Returns the target folder of cargo.
    pub(crate) fn target(&self) -> PathBuf {
        std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| self.root.join("target"), |folder| self.root.join(folder))
    }
}

/// Removes the environment variables that `cargo run` sets for this package. Build scripts that
/// depend on them would run again for every build.
pub(crate) fn remove_package_variables(command: &mut Command) {
    for name in package_variables() {
        command.env_remove(name);
    }
}

/// Runs a compiler to its end and returns its standard output.
async fn finish(subject: Subject, command: &mut Command) -> Result<Vec<u8>, Error> {
    command.stdin(Stdio::null()).kill_on_drop(true);
    let child = command.spawn().map_err(|source| match source.kind() {
        ErrorKind::NotFound if subject == Subject::ControllerRuntime => {
            Error::GoMissing { subject }
        }
        _ => Error::Spawn {
            command: command_line(command),
            source,
        },
    })?;
    let output = child
        .wait_with_output()
        .await
        .map_err(|source| Error::Spawn {
            command: command_line(command),
            source,
        })?;
    if !output.status.success() {
        return Err(Error::Build {
            subject,
            command: command_line(command),
        });
    }
    Ok(output.stdout)
}

/// Formats a command as a command line.
fn command_line(command: &Command) -> String {
    let command = command.as_std();
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> = words.map(|word| word.display().to_string()).collect();
    words.join(" ")
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    executable: Option<PathBuf>,
}

/// Returns the executable that the messages of cargo name.
fn executable(messages: &[u8]) -> Option<PathBuf> {
    messages
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<Message>(line).ok())
        .filter(|message| message.reason == "compiler-artifact")
        .find_map(|message| message.executable)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use kubewright_testing::Settings;

    use super::{Builder, executable};
    use crate::subject::Subject;

    #[test]
    fn executable_is_read_from_the_messages_of_cargo() {
        let messages = br#"{"reason":"compiler-artifact","executable":null}
{"reason":"compiler-artifact","executable":"/t/release/cache-kube"}
{"reason":"build-finished","success":true}
"#;
        assert_eq!(
            executable(messages).as_deref(),
            Some(Path::new("/t/release/cache-kube"))
        );
        assert_eq!(executable(b"nonsense\n"), None);
    }

    #[tokio::test]
    async fn error_about_a_missing_go_names_the_next_step() {
        let settings = Settings {
            go: "no-such-program-as-go".into(),
            ..Settings::default()
        };
        let builder = Builder::new("cache", &settings);
        let error = builder.build(Subject::ControllerRuntime).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "build controller-runtime: no `go` found in PATH; install Go 1.26 or newer (https://go.dev/dl), or leave the subject out with --subjects"
        );
    }

    #[test]
    fn subject_in_its_own_workspace_has_the_release_profile_of_the_workspace() {
        // Only the workspace has settings for single packages.
        let profile = |text: &str| {
            let manifest: toml::Table = text.parse().unwrap();
            let mut release = manifest["profile"]["release"].clone();
            release.as_table_mut().unwrap().remove("package");
            release
        };
        assert_eq!(
            profile(include_str!("../../subjects/cache-kube/Cargo.toml")),
            profile(include_str!("../../../Cargo.toml"))
        );
    }
}
