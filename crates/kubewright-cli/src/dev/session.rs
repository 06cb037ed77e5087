//! A session of `kubewright dev`: an operator under development, on its cluster.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use super::arguments::DevArguments;
use super::board::Board;
use super::cluster::DevCluster;
use super::files::{Files, Saved};
use super::idle::Rest;
use super::install::Installed;
use super::objects::Shown;
use super::operator::{Happening, Operator};
use super::view::{Screen, View};
use super::webhooks::Webhooks;
use super::{install, samples};
use crate::error::Error;
use crate::interrupt::Interrupts;
use crate::objects::{
    AbsentVersion, Kinds, Located, absent_versions, calls_webhooks, has_several_versions,
    is_converted, without_webhooks,
};
use crate::output::note;
use crate::program::{self, NO_POLICIES, Words};

/// Builds the operator, runs it on a cluster and applies its samples; with `--once` it ends when
/// they are ready, otherwise it starts the operator anew after each saved change, until Ctrl-C.
///
/// # Cancel safety
///
/// Dropping the future ends operator and cluster at once.
pub(crate) async fn run(arguments: &DevArguments) -> Result<(), Error> {
    let form = arguments.form()?;
    let files = Files::look(&arguments.folder);
    let program = program::build(&arguments.folder, Words::Shown).await?;
    let mut interrupts = Interrupts::listen()?;
    let scratch = tempfile::tempdir().map_err(|source| Error::File {
        action: "make a folder in",
        path: std::env::temp_dir(),
        source,
    })?;
    let cluster = DevCluster::start(arguments, scratch.path()).await?;
    let kubectl = cluster.kubectl();
    let view = match arguments.is_full_screen() {
        true => View::Screen(Box::new(Screen::open(title(&arguments.folder), kubectl)?)),
        false => {
            note(format_args!("cluster: {kubectl} get all -A"));
            View::Lines(form)
        }
    };
    let mut session = Session {
        view,
        folder: arguments.folder.clone(),
        program,
        scratch: scratch.path().to_owned(),
        operator: None,
        absent: Vec::new(),
        samples: Vec::new(),
        shown: Shown::default(),
        board: Board::default(),
        fault: None,
        rest: Rest::default(),
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
    // The terminal is as it was before anything else is said.
    let Session {
        view,
        operator,
        cluster,
        ..
    } = session;
    drop(view);
    if let Some(operator) = operator {
        operator.stop().await?;
    }
    cluster.stop().await?;
    outcome
}

/// The folder's name, wherever it is.
fn title(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = folder.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// An operator under development, on its cluster.
struct Session {
    view: View,
    folder: PathBuf,
    program: PathBuf,
    scratch: PathBuf,
    /// Absent after it has ended by itself.
    operator: Option<Operator>,
    /// Versions of its kinds that the cluster does without.
    absent: Vec<AbsentVersion>,
    samples: Vec<Located>,
    /// The kinds whose objects are on the board.
    shown: Shown,
    board: Board,
    /// Why the cluster could not be read the last time.
    fault: Option<String>,
    /// Whether reconciles have come to rest since the operator was started.
    rest: Rest,
    cluster: DevCluster,
}

impl Session {
    async fn go(&mut self, files: Files, patience: Option<Duration>) -> Result<(), Error> {
        let Some(patience) = patience else {
            match self.start().await {
                Ok(()) => {
                    self.apply_changed_samples().await;
                    self.view.state("running; a saved change starts it anew");
                }
                Err(error @ Error::OperatorEnded { .. }) => self.stopped(&error),
                Err(error) => return Err(error),
            }
            return self.follow(files).await;
        };
        self.start().await?;
        self.apply_samples().await?;
        if self.samples.is_empty() {
            return Err(Error::NoSamples {
                folder: self.samples_folder(),
            });
        }
        match tokio::time::timeout(patience, self.until_ready()).await {
            Ok(outcome) => outcome,
            Err(_) => Err(self.unready(patience)),
        }
    }

    /// Why the samples are not ready in time.
    fn unready(&self, patience: Duration) -> Error {
        let restless = self.rest.restless();
        let missing = match &self.fault {
            Some(fault) => Some(("the samples", fault.as_str())),
            None => self.board.unready(),
        };
        match (missing, restless) {
            (None, Some(reason)) => Error::NotAtRest { reason },
            (missing, _) => {
                let (object, reason) = missing.unwrap_or_default();
                Error::NotReady {
                    seconds: patience.as_secs(),
                    object: object.to_owned(),
                    reason: reason.to_owned(),
                }
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
        let fitting = program::manifests_for_cluster(&client, &self.program, Vec::new()).await?;
        let mut flags: Vec<String> = Vec::new();
        if fitting.has_stand_ins() {
            self.view
                .note("policies: not served by this cluster, so that webhooks stand in");
            flags.push(NO_POLICIES.to_owned());
        }
        let mut objects = fitting.objects;
        let webhooks = self.webhooks(&objects).await?;
        self.absent.clear();
        if let Some(webhooks) = &webhooks {
            let told = webhooks.manifest_flags();
            let told = told.iter().map(String::as_str);
            let told: Vec<&str> = fitting.flags.iter().copied().chain(told).collect();
            objects = program::manifests(&self.program, &told).await?;
            flags.extend(webhooks.run_flags());
        } else if objects.iter().any(calls_webhooks) {
            self.view
                .note("webhooks: left out, because this cluster cannot call this machine");
            objects = self.uncalled(&client, objects).await?;
            flags.push("--no-webhooks".to_owned());
        }
        let Installed { account, removed } = install::install(&client, &objects).await?;
        self.shown = Shown::of(&client, &objects).await?;
        let count = objects.len();
        self.view
            .note(format_args!("installed: {count} objects from `manifests`"));
        for policy in removed {
            self.view.note(format_args!(
                "removed: {policy}, which the program no longer has"
            ));
        }
        let token = install::token(&client, &account).await?;
        let kubeconfig = self.scratch.join("operator.yaml");
        self.cluster.write_kubeconfig(&kubeconfig, &token)?;
        self.rest = Rest::default();
        self.operator = Some(Operator::start(&self.program, &kubeconfig, &flags)?);
        let Some(webhooks) = webhooks else {
            return Ok(());
        };
        let serving = webhooks.serving();
        tokio::pin!(serving);
        loop {
            tokio::select! {
                () = &mut serving => return Ok(()),
                happening = next(&mut self.operator) => self.hear(happening)?,
            }
        }
    }

    /// A place to serve webhooks at, when the program has some and the cluster can call it.
    async fn webhooks(&self, objects: &[Value]) -> Result<Option<Webhooks>, Error> {
        match objects.iter().any(calls_webhooks) && self.cluster.is_on_this_machine()? {
            true => Webhooks::prepare(&self.scratch).await.map(Some),
            false => Ok(None),
        }
    }

    /// The objects for a cluster that cannot call this machine. A converted definition that is
    /// there in several versions stays as it is: an operator that runs there converts them.
    async fn uncalled(
        &mut self,
        client: &kube::Client,
        objects: Vec<Value>,
    ) -> Result<Vec<Value>, Error> {
        let mut kinds = Kinds::discover(client).await?;
        let mut wanted = Vec::new();
        for object in objects {
            if is_converted(&object) {
                let place = kinds.locate(&object).await?;
                let live = place.find(client).await?.unwrap_or_default();
                if has_several_versions(&live) {
                    self.view.note(format_args!(
                        "left as it is: {place}, which is there in several versions"
                    ));
                    continue;
                }
                self.absent.extend(absent_versions(&object));
            }
            wanted.push(object);
        }
        Ok(without_webhooks(wanted))
    }

    /// Looks at the cluster, says what is new, until every sample is ready and the operator is at
    /// rest.
    async fn until_ready(&mut self) -> Result<(), Error> {
        let mut changes = self.cluster.changes();
        let mut ready_since = None;
        loop {
            changes.seen();
            self.look().await;
            let is_ready = self.fault.is_none() && self.board.unready().is_none();
            ready_since = is_ready.then(|| ready_since.unwrap_or_else(Instant::now));
            let due = ready_since.map(|since| self.rest.due(since));
            tokio::select! {
                // What was logged before counts before rest is assumed.
                biased;
                happening = next(&mut self.operator) => match happening {
                    Happening::ReconcileLoop(reason) => return Err(Error::NotAtRest { reason }),
                    happening => self.hear(happening)?,
                },
                () = changes.next() => {}
                () = until(due) => return self.board.give(self.view.form()),
            }
        }
    }

    /// Says what happens, for ever, and starts the operator anew after each saved change.
    async fn follow(&mut self, mut files: Files) -> Result<(), Error> {
        let mut changes = self.cluster.changes();
        loop {
            changes.seen();
            self.look().await;
            tokio::select! {
                () = changes.next() => {}
                happening = next(&mut self.operator) => self.tell(happening),
                () = self.view.quit() => return Ok(()),
                saved = files.saved() => match saved {
                    Saved::Code => self.restart().await?,
                    Saved::Samples => self.apply_changed_samples().await,
                },
            }
        }
    }

    /// Reads the cluster. A failure is shown once, and the next look may succeed.
    async fn look(&mut self) {
        match Board::look(&self.cluster.client(), &self.samples, &self.shown).await {
            Ok(board) => {
                self.view.board(&board, &self.board);
                self.board = board;
                self.fault = None;
            }
            Err(error) => {
                let fault = crate::output::causes(&error).join("\n");
                if self.fault.as_ref() != Some(&fault) {
                    self.view.fail(&error);
                    self.fault = Some(fault);
                }
            }
        }
    }

    /// Builds; what does not build leaves the old program running.
    async fn restart(&mut self) -> Result<(), Error> {
        self.view.state("saved: building");
        match program::build(&self.folder, self.words()).await {
            Ok(program) => self.program = program,
            Err(error) => {
                self.view.fail(&error);
                self.view.state("does not build; the old program runs");
                return Ok(());
            }
        }
        if let Some(operator) = self.operator.take() {
            operator.stop().await?;
        }
        // Such as a definition that the cluster refuses: the next change may mend it.
        match self.start().await {
            Ok(()) => {
                self.view.state("restarted");
                self.apply_changed_samples().await;
            }
            Err(error) => self.stopped(&error),
        }
        Ok(())
    }

    async fn apply_samples(&mut self) -> Result<(), Error> {
        let folder = self.samples_folder();
        let samples = samples::apply(&self.cluster.client(), &folder, &self.absent).await?;
        self.samples = samples.applied;
        for sample in &self.samples {
            self.view.note(format_args!("applied: {sample}"));
        }
        for sample in samples.skipped {
            self.view.note(format_args!(
                "skipped: {sample}: without webhooks nobody converts its version"
            ));
        }
        Ok(())
    }

    /// Samples that the cluster refuses are told, and the session goes on.
    async fn apply_changed_samples(&mut self) {
        if let Err(error) = self.apply_samples().await {
            self.view.fail(&error);
        }
    }

    fn tell(&mut self, happening: Happening) {
        if let Err(error) = self.hear(happening) {
            self.stopped(&error);
        }
    }

    /// The operator does not run; the cluster stays.
    fn stopped(&mut self, error: &Error) {
        self.operator = None;
        self.view.fail(error);
        self.view
            .state("stopped, the cluster stays; the next saved change starts it");
    }

    /// Shows what the operator says; its end is an error.
    fn hear(&mut self, happening: Happening) -> Result<(), Error> {
        match happening {
            Happening::Said(line) => self.view.note(line),
            Happening::Reconciled(reconciled) => {
                self.view.reconciled(&reconciled);
                if let Some(warning) = self.rest.note(&reconciled) {
                    self.view.note(format_args!("warning: {warning}"));
                }
            }
            Happening::ReconcileLoop(report) => {
                self.rest.reported();
                self.view.note(format_args!("warning: {report}"));
            }
            Happening::Ended(error) => return Err(error),
        }
        Ok(())
    }

    /// Whether programs speak to the terminal themselves.
    fn words(&self) -> Words {
        match &self.view {
            View::Lines(_) => Words::Shown,
            View::Screen(_) => Words::Kept,
        }
    }
}

/// Waits until a time, or for ever.
async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// What the operator does by itself.
async fn next(operator: &mut Option<Operator>) -> Happening {
    match operator {
        Some(operator) => operator.next().await,
        None => std::future::pending().await,
    }
}
