//! Runs the benchmark `newcomer`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use kubewright_testing::Settings;
use tokio::process::Command;
use tokio::time::Instant;

use super::project_size::project_size;
use crate::bound::Bound;
use crate::command::NewcomerOptions;
use crate::error::Error;
use crate::output;
use crate::program::{Builder, remove_package_variables, tail};
use crate::readings::Readings;
use crate::rounds::Rounds;
use crate::subject::Subject;

const NAME: &str = "newcomer";
const PROMISED: [Bound; 1] = [Bound::value("files", 12.0)];

/// The commands of a new user, after `kubewright`.
const COMMANDS: [&[&str]; 3] = [
    &["init", "--domain", "example.com", "--kubewright-path"],
    &[
        "create",
        "api",
        "--group",
        "web",
        "--version",
        "v1",
        "--kind",
        "Site",
    ],
    &[
        "create",
        "webhook",
        "--kind",
        "Site",
        "--defaulting",
        "--validation",
    ],
];

/// The figures of kubebuilder v4 for one kind with both webhooks, counted once: `init`, `create api`,
/// `create webhook`, `make generate manifests`, `make test`. Lines without go.sum.
const KUBEBUILDER: [(&str, f64); 3] = [("commands", 5.0), ("files", 68.0), ("lines", 4252.0)];

/// Runs the commands once to compile the dependencies, then for each measured run.
///
/// # Cancel safety
///
/// Dropping the future ends the running command.
pub(crate) async fn run(options: &NewcomerOptions) -> Result<(), Error> {
    let settings = Settings::from_environment()?;
    let rounds = &options.rounds;
    let builder = Builder::new(NAME, &settings);
    let command = builder.program("kubewright-cli").await?;
    let home = tempfile::tempdir().map_err(failed("create a folder"))?;
    write_cargo_config(&builder, home.path())
        .map_err(failed("write the configuration of cargo"))?;
    let newcomer = Newcomer {
        builder: &builder,
        command,
        home: home.path(),
    };
    let title = "init, create api, create webhook, cargo test".to_owned();
    let mut measured = Rounds::new(NAME, title, rounds, &PROMISED);
    measured.note(
        1,
        Readings {
            subject: Subject::Kubebuilder,
            values: KUBEBUILDER
                .map(|(name, value)| (name.to_owned(), value))
                .into(),
        },
    );
    output::note("compile the dependencies");
    newcomer.run("first").await?;
    for round in 1..=rounds.runs() {
        measured.note(round, newcomer.run(&format!("newcomer-{round}")).await?);
    }
    measured.report()
}

/// Configures cargo to reuse the compiled dependencies and to download nothing.
fn write_cargo_config(builder: &Builder, home: &Path) -> std::io::Result<()> {
    let target = builder.target();
    let mut text = format!("[build]\ntarget-dir = {target:?}\n[net]\noffline = true\n");
    for (package, level) in [("serde_json", 2), ("miniz_oxide", 3), ("ring", 3)] {
        text += &format!("[profile.dev.package.{package}]\nopt-level = {level}\n");
    }
    fs::create_dir_all(home.join(".cargo"))?;
    fs::write(home.join(".cargo/config.toml"), text)
}

fn failed(operation: &str) -> impl Fn(std::io::Error) -> Error {
    move |source| Error::System {
        operation: operation.to_owned(),
        source,
    }
}

struct Newcomer<'a> {
    builder: &'a Builder,
    command: PathBuf,
    home: &'a Path,
}

impl Newcomer<'_> {
    async fn run(&self, name: &str) -> Result<Readings, Error> {
        let folder = self.home.join(name);
        fs::create_dir(&folder).map_err(failed("create a folder"))?;
        let lock = self.builder.root.join("Cargo.lock");
        let start = Instant::now();
        for arguments in COMMANDS {
            let mut command = Command::new(&self.command);
            command.args(arguments);
            if arguments.first() == Some(&"init") {
                command.arg(&self.builder.root);
                // The lock file selects the versions that are already compiled.
                fs::copy(&lock, folder.join("Cargo.lock")).map_err(failed("copy Cargo.lock"))?;
            }
            finish(command, &folder).await?;
        }
        let mut test = Command::new(&self.builder.cargo);
        test.args(["test", "--quiet"]);
        finish(test, &folder).await?;
        let seconds = start.elapsed().as_secs_f64();
        let size = project_size(&folder).map_err(failed("count the files"))?;
        let commands = u32::try_from(COMMANDS.len() + 1).unwrap_or(u32::MAX);
        let values = [
            ("seconds", seconds),
            ("commands", f64::from(commands)),
            ("files", f64::from(size.files)),
            ("lines", f64::from(size.lines)),
        ];
        Ok(Readings {
            subject: Subject::Kubewright,
            values: values.map(|(name, value)| (name.to_owned(), value)).into(),
        })
    }
}

async fn finish(mut command: Command, folder: &Path) -> Result<(), Error> {
    remove_package_variables(&mut command);
    command
        .current_dir(folder)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let command_line = format!("{:?}", command.as_std());
    let output = command.output().await.map_err(|source| Error::Spawn {
        command: command_line.clone(),
        source,
    })?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::CommandFailed {
        command: command_line,
        status: output.status,
        tail: tail(&output.stderr),
    })
}
