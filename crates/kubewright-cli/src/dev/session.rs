use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::arguments::DevArguments;
use super::board::Board;
use super::cluster::DevCluster;
use super::files::{Files, Saved};
use super::operator::Operator;
use super::webhooks::{Webhooks, is_configuration};
use super::{install, samples};
use crate::error::Error;
use crate::interrupt::Interrupts;
use crate::objects::Located;
use crate::output::{fail, note, say};
use crate::program;

/// Builds the operator, runs it on a cluster and applies its samples; with `--once` it ends when
/// they are ready, otherwise it starts the operator anew after each saved change, until Ctrl-C.
///
/// # Cancel safety
///
/// Dropping the future ends operator and cluster at once.
pub(crate) async fn run(arguments: &DevArguments) -> Result<(), Error> {
    let files = Files::look(&arguments.folder);
    let program = program::build(&arguments.folder).await?;
    let mut interrupts = Interrupts::listen()?;
    let scratch = tempfile::tempdir().map_err(|source| Error::File {
        action: "make a folder in",
        path: std::env::temp_dir(),
        source,
    })?;
    let cluster = DevCluster::start(arguments, scratch.path()).await?;
    note(format_args!("cluster: {} get all -A", cluster.kubectl()));
    let mut session = Session {
        folder: arguments.folder.clone(),
        program,
        scratch: scratch.path().to_owned(),
        operator: None,
        samples: Vec::new(),
        board: Board::default(),
        cluster,
    };
    let patience = arguments.patience();
    let outcome = tokio::select! {
        outcome = session.go(files, patience) => outcome,
        () = interrupts.next() => match patience {
            Some(_) => Err(Error::Interrupted),
            None => Ok(()),
        },
    };
    if let Some(operator) = session.operator.take() {
        operator.stop().await?;
    }
    session.cluster.stop().await?;
    outcome
}

/// An operator under development, on its cluster.
struct Session {
    folder: PathBuf,
    program: PathBuf,
    scratch: PathBuf,
    /// Absent after it has ended by itself.
    operator: Option<Operator>,
    samples: Vec<Located>,
    board: Board,
    cluster: DevCluster,
}

impl Session {
    async fn go(&mut self, files: Files, patience: Option<Duration>) -> Result<(), Error> {
        self.start().await?;
        self.samples = samples::apply(&self.cluster.client(), &self.samples_folder()).await?;
        let Some(patience) = patience else {
            say("running; a saved change starts it anew, Ctrl-C stops it");
            return self.follow(files).await;
        };
        if self.samples.is_empty() {
            return Err(Error::NoSamples {
                folder: self.samples_folder(),
            });
        }
        match tokio::time::timeout(patience, self.until_ready()).await {
            Ok(outcome) => outcome,
            Err(_) => {
                let (object, reason) = self.board.unready().unwrap_or_default();
                Err(Error::NotReady {
                    seconds: patience.as_secs(),
                    object: object.to_owned(),
                    reason: reason.to_owned(),
                })
            }
        }
    }

    fn samples_folder(&self) -> PathBuf {
        self.folder.join("samples")
    }

    /// Brings what the program needs into the cluster, starts it, and waits until it serves its
    /// webhooks.
    async fn start(&mut self) -> Result<(), Error> {
        let client = self.cluster.client();
        let mut objects = program::manifests(&self.program, &[]).await?;
        let mut flags = Vec::new();
        let webhooks = self.webhooks(&objects).await?;
        if let Some(webhooks) = &webhooks {
            let told = webhooks.manifest_flags();
            let told: Vec<&str> = told.iter().map(String::as_str).collect();
            objects = program::manifests(&self.program, &told).await?;
            flags.extend(webhooks.run_flags());
        } else if objects.iter().any(is_configuration) {
            note("webhooks: left out, because this cluster cannot call this machine");
            objects.retain(|object| !is_configuration(object));
            flags.push("--no-webhooks".to_owned());
        }
        let account = install::install(&client, &objects).await?;
        let token = install::token(&client, &account).await?;
        let kubeconfig = self.scratch.join("operator.yaml");
        self.cluster.write_kubeconfig(&kubeconfig, &token)?;
        self.operator = Some(Operator::start(&self.program, &kubeconfig, &flags)?);
        let Some(webhooks) = webhooks else {
            return Ok(());
        };
        tokio::select! {
            () = webhooks.serving() => Ok(()),
            ended = ended(&mut self.operator) => Err(ended),
        }
    }

    /// A place to serve webhooks at, when the program has some and the cluster can call it.
    async fn webhooks(&self, objects: &[Value]) -> Result<Option<Webhooks>, Error> {
        match objects.iter().any(is_configuration) && self.cluster.is_on_this_machine()? {
            true => Webhooks::prepare(&self.scratch).await.map(Some),
            false => Ok(None),
        }
    }

    /// Looks at the cluster, says what is new, until every sample is ready.
    async fn until_ready(&mut self) -> Result<(), Error> {
        let mut changes = self.cluster.changes();
        loop {
            changes.seen();
            self.look().await?;
            if self.board.unready().is_none() {
                self.board.print();
                return Ok(());
            }
            tokio::select! {
                () = changes.next() => {}
                ended = ended(&mut self.operator) => return Err(ended),
            }
        }
    }

    /// Says what happens, for ever, and starts the operator anew after each saved change.
    async fn follow(&mut self, mut files: Files) -> Result<(), Error> {
        let mut changes = self.cluster.changes();
        loop {
            changes.seen();
            self.look().await?;
            tokio::select! {
                () = changes.next() => {}
                saved = files.saved() => match saved {
                    Saved::Code => self.restart().await?,
                    Saved::Samples => self.apply_samples().await,
                },
                ended = ended(&mut self.operator) => {
                    self.operator = None;
                    fail(&ended);
                    note("the operator starts again after the next saved change");
                }
            }
        }
    }

    async fn look(&mut self) -> Result<(), Error> {
        let board = Board::look(&self.cluster.client(), &self.samples).await?;
        board.tell_changes(&self.board);
        self.board = board;
        Ok(())
    }

    /// Builds; what does not build leaves the old program running.
    async fn restart(&mut self) -> Result<(), Error> {
        note("saved: building");
        match program::build(&self.folder).await {
            Ok(program) => self.program = program,
            Err(error) => {
                fail(&error);
                return Ok(());
            }
        }
        if let Some(operator) = self.operator.take() {
            operator.stop().await?;
        }
        // Such as a definition that the cluster refuses: the next change may mend it.
        match self.start().await {
            Ok(()) => {
                note("restarted");
                self.apply_samples().await;
            }
            Err(error) => fail(&error),
        }
        Ok(())
    }

    async fn apply_samples(&mut self) {
        let folder: &Path = &self.samples_folder();
        match samples::apply(&self.cluster.client(), folder).await {
            Ok(samples) => self.samples = samples,
            Err(error) => fail(&error),
        }
    }
}

/// Waits until the operator ends by itself, which it should not.
async fn ended(operator: &mut Option<Operator>) -> Error {
    match operator {
        Some(operator) => operator.ended().await,
        None => std::future::pending().await,
    }
}
