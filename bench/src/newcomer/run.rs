use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use kubewright_testing::Settings;
use tokio::process::Command;
use tokio::time::Instant;

use super::count::count;
use crate::command::NewcomerOptions;
use crate::error::Error;
use crate::output;
use crate::reading::{Bound, Readings};
use crate::rounds::Rounds;
use crate::subject::{Builder, Subject, forget_this_package, tail};

const NAME: &str = "newcomer";
const PROMISED: [Bound; 1] = [Bound::value("files", 12.0)];

/// What a newcomer types, after `kubewright`.
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

/// kubebuilder v4 for one kind with both webhooks, counted and not run: `init`, `create api`,
/// `create webhook`, `make generate manifests`, `make test`; lines without go.sum.
const KUBEBUILDER: [(&str, f64); 3] = [("commands", 5.0), ("files", 68.0), ("lines", 4252.0)];

/// Does what a newcomer does, once for the dependencies and then on the clock.
///
/// # Cancel safety
///
/// Dropping the future ends the command under way.
pub(crate) async fn run(options: &NewcomerOptions) -> Result<(), Error> {
    let settings = Settings::from_environment()?;
    let rounds = &options.rounds;
    let builder = Builder::new(NAME, &settings);
    let command = builder.program("kubewright-cli").await?;
    let home = tempfile::tempdir().map_err(failed("make a folder"))?;
    settle_in(&builder, home.path()).map_err(failed("write settings for cargo"))?;
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

/// Cargo's settings: what is compiled already is not compiled again, and nothing is downloaded.
fn settle_in(builder: &Builder, home: &Path) -> std::io::Result<()> {
    let target = builder.target();
    let mut text = format!("[build]\ntarget-dir = {target:?}\n[net]\noffline = true\n");
    for (package, level) in [("serde_json", 2), ("miniz_oxide", 3), ("ring", 3)] {
        text += &format!("[profile.dev.package.{package}]\nopt-level = {level}\n");
    }
    fs::create_dir_all(home.join(".cargo"))?;
    fs::write(home.join(".cargo/config.toml"), text)
}

fn failed(tried: &str) -> impl Fn(std::io::Error) -> Error {
    move |source| Error::System {
        tried: tried.to_owned(),
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
        fs::create_dir(&folder).map_err(failed("make a folder"))?;
        let lock = self.builder.root.join("Cargo.lock");
        let start = Instant::now();
        for arguments in COMMANDS {
            let mut command = Command::new(&self.command);
            command.args(arguments);
            if arguments.first() == Some(&"init") {
                command.arg(&self.builder.root);
                // With the versions that are compiled already.
                fs::copy(&lock, folder.join("Cargo.lock")).map_err(failed("copy Cargo.lock"))?;
            }
            finish(command, &folder).await?;
        }
        let mut test = Command::new(&self.builder.cargo);
        test.args(["test", "--quiet"]);
        finish(test, &folder).await?;
        let seconds = start.elapsed().as_secs_f64();
        let counted = count(&folder).map_err(failed("count the files"))?;
        let commands = u32::try_from(COMMANDS.len() + 1).unwrap_or(u32::MAX);
        let values = [
            ("seconds", seconds),
            ("commands", f64::from(commands)),
            ("files", f64::from(counted.files)),
            ("lines", f64::from(counted.lines)),
        ];
        Ok(Readings {
            subject: Subject::Kubewright,
            values: values.map(|(name, value)| (name.to_owned(), value)).into(),
        })
    }
}

async fn finish(mut command: Command, folder: &Path) -> Result<(), Error> {
    forget_this_package(&mut command);
    command
        .current_dir(folder)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let shown = format!("{:?}", command.as_std());
    let output = command.output().await.map_err(|source| Error::Spawn {
        command: shown.clone(),
        source,
    })?;
    match output.status.success() {
        true => Ok(()),
        false => Err(Error::Step {
            command: shown,
            status: output.status,
            tail: tail(&String::from_utf8_lossy(&output.stderr)),
        }),
    }
}
