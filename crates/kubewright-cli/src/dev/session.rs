//! A session of `kubewright dev`: an operator under development, on its cluster.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::arguments::DevArguments;
use super::board::Board;
use super::cluster::DevCluster;
use super::idle::IdleDetector;
use super::operator::{Operator, OperatorEvent};
use super::samples;
use super::shown_kinds::ShownKinds;
use super::source_files::{Saved, SourceFiles};
use super::start::start;
use super::view::{Screen, View};
use crate::error::Error;
use crate::interrupt::Interrupts;
use crate::objects::{AbsentVersion, Located};
use crate::output::{error_lines, note};
use crate::program::{self, BuildOutput};

/// Builds the operator, runs it on a cluster and applies its samples. With `--once` it returns when
/// they are ready; otherwise it restarts the operator after each saved change, until Ctrl-C.
///
/// # Cancel safety
///
/// Dropping the future ends operator and cluster at once.
pub(crate) async fn run(arguments: &DevArguments) -> Result<(), Error> {
    let format = arguments.format()?;
    let files = SourceFiles::in_folder(&arguments.folder);
    let program = program::build(&arguments.folder, BuildOutput::Shown).await?;
    let mut interrupts = Interrupts::listen()?;
    let scratch = tempfile::tempdir().map_err(|source| Error::File {
        action: "create a folder in",
        path: std::env::temp_dir(),
        source,
    })?;
    let cluster = DevCluster::start(arguments, scratch.path()).await?;
    let kubectl = cluster.kubectl();
    let view = if arguments.is_full_screen() {
        View::Screen(Box::new(Screen::open(title(&arguments.folder), kubectl)?))
    } else {
        note(format_args!("cluster: {kubectl} get all -A"));
        View::Lines(format)
    };
    let mut session = Session {
        view,
        folder: arguments.folder.clone(),
        program,
        scratch: scratch.path().to_owned(),
        operator: None,
        absent: Vec::new(),
        samples: Vec::new(),
        shown: ShownKinds::default(),
        board: Board::default(),
        read_error: None,
        idle: IdleDetector::default(),
        cluster,
    };
    let once_timeout = arguments.once_timeout();
    let outcome = tokio::select! {
        outcome = session.run(files, once_timeout) => outcome,
        () = interrupts.next() => match once_timeout {
            Some(_) => Err(Error::Interrupted),
            None => Ok(()),
        },
    };
    let Session {
        view,
        operator,
        cluster,
        ..
    } = session;
    // The terminal is restored before anything else is printed.
    drop(view);
    if let Some(operator) = operator {
        operator.stop().await?;
    }
    cluster.stop().await?;
    outcome
}

/// Returns the name of the folder.
fn title(folder: &Path) -> String {
    let path = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// An operator under development, on its cluster.
struct Session {
    view: View,
    folder: PathBuf,
    program: PathBuf,
    scratch: PathBuf,
    /// None after the process has exited.
    operator: Option<Operator>,
    /// Versions of its kinds that were not installed.
    absent: Vec<AbsentVersion>,
    samples: Vec<Located>,
    shown: ShownKinds,
    board: Board,
    /// The error of the last read of the cluster.
    read_error: Option<String>,
    idle: IdleDetector,
    cluster: DevCluster,
}

impl Session {
    async fn run(
        &mut self,
        files: SourceFiles,
        once_timeout: Option<Duration>,
    ) -> Result<(), Error> {
        match once_timeout {
            Some(timeout) => self.run_once(timeout).await,
            None => self.run_until_quit(files).await,
        }
    }

    async fn run_once(&mut self, timeout: Duration) -> Result<(), Error> {
        self.start().await?;
        self.apply_samples().await?;
        if self.samples.is_empty() {
            return Err(Error::NoSamples {
                folder: self.samples_folder(),
            });
        }
        match tokio::time::timeout(timeout, self.wait_until_ready()).await {
            Ok(outcome) => outcome,
            Err(_) => Err(self.not_ready(timeout)),
        }
    }

    async fn run_until_quit(&mut self, files: SourceFiles) -> Result<(), Error> {
        match self.start().await {
            Ok(()) => {
                self.apply_changed_samples().await;
                self.view.state("running; restarts when a file is saved");
            }
            Err(error @ Error::OperatorExited { .. }) => self.operator_stopped(&error),
            Err(error) => return Err(error),
        }
        self.follow(files).await
    }

    /// Returns why the samples are not ready in time.
    fn not_ready(&self, timeout: Duration) -> Error {
        let missing = match &self.read_error {
            Some(error) => Some(("the samples", error.as_str())),
            None => self.board.unready(),
        };
        match (missing, self.idle.busiest()) {
            (None, Some(reason)) => Error::NotIdle { reason },
            (missing, _) => {
                let (object, reason) = missing.unwrap_or_default();
                Error::NotReady {
                    seconds: timeout.as_secs(),
                    object: object.to_owned(),
                    reason: reason.to_owned(),
                }
            }
        }
    }

    fn samples_folder(&self) -> PathBuf {
        self.folder.join("samples")
    }

    /// Starts the operator and waits until it serves its webhooks.
    async fn start(&mut self) -> Result<(), Error> {
        let started = start(&self.cluster, &self.program, &self.scratch, &mut self.view).await?;
        self.absent = started.absent;
        self.shown = started.shown;
        self.idle = IdleDetector::default();
        self.operator = Some(started.operator);
        let Some(webhooks) = started.webhooks else {
            return Ok(());
        };
        let serving = webhooks.wait_until_serving();
        tokio::pin!(serving);
        loop {
            tokio::select! {
                () = &mut serving => return Ok(()),
                event = next(&mut self.operator) => self.handle(event)?,
            }
        }
    }

    /// Shows changes of the cluster until every sample is ready and the operator is idle.
    async fn wait_until_ready(&mut self) -> Result<(), Error> {
        let mut changes = self.cluster.changes();
        let mut ready_since = None;
        loop {
            changes.mark_seen();
            self.read_cluster().await;
            let is_ready = self.read_error.is_none() && self.board.unready().is_none();
            ready_since = is_ready.then(|| ready_since.unwrap_or_else(Instant::now));
            let idle_at = ready_since.map(|since| self.idle.idle_at(since));
            tokio::select! {
                // All log lines are handled before the operator counts as idle.
                biased;
                event = next(&mut self.operator) => match event {
                    OperatorEvent::ReconcileLoop(reason) => return Err(Error::NotIdle { reason }),
                    event => self.handle(event)?,
                },
                () = changes.next() => {}
                () = sleep_until_some(idle_at) => return self.board.print(self.view.format()),
            }
        }
    }

    /// Shows changes of the cluster, and restarts the operator after each saved change, until the
    /// user quits.
    async fn follow(&mut self, mut files: SourceFiles) -> Result<(), Error> {
        let mut changes = self.cluster.changes();
        loop {
            changes.mark_seen();
            self.read_cluster().await;
            tokio::select! {
                () = changes.next() => {}
                event = next(&mut self.operator) => {
                    if let Err(error) = self.handle(event) {
                        self.operator_stopped(&error);
                    }
                }
                () = self.view.quit() => return Ok(()),
                saved = files.saved() => match saved {
                    Saved::Code => self.restart().await?,
                    Saved::Samples => self.apply_changed_samples().await,
                },
            }
        }
    }

    /// Reads the cluster. A repeated error is shown only once.
    async fn read_cluster(&mut self) {
        match Board::read(&self.cluster.client(), &self.samples, &self.shown).await {
            Ok(board) => {
                self.view.board(&board, &self.board);
                self.board = board;
                self.read_error = None;
            }
            Err(error) => {
                let text = error_lines(&error).join("\n");
                if self.read_error.as_ref() != Some(&text) {
                    self.view.error(&error);
                    self.read_error = Some(text);
                }
            }
        }
    }

    /// Builds and restarts the operator. After a failed build, the previous program keeps running.
    async fn restart(&mut self) -> Result<(), Error> {
        self.view.state("saved: building");
        match program::build(&self.folder, self.view.build_output()).await {
            Ok(program) => self.program = program,
            Err(error) => {
                self.view.error(&error);
                self.view
                    .state("build failed; the previous program keeps running");
                return Ok(());
            }
        }
        if let Some(operator) = self.operator.take() {
            operator.stop().await?;
        }
        // A failure, such as a definition that the API server rejects, does not end the session:
        // the next saved change may fix it.
        match self.start().await {
            Ok(()) => {
                self.view.state("restarted");
                self.apply_changed_samples().await;
            }
            Err(error) => self.operator_stopped(&error),
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
                "skipped: {sample}: its version needs a conversion webhook"
            ));
        }
        Ok(())
    }

    /// Applies the samples and shows an error, which does not end the session.
    async fn apply_changed_samples(&mut self) {
        if let Err(error) = self.apply_samples().await {
            self.view.error(&error);
        }
    }

    /// Shows that the operator does not run. The cluster keeps running.
    fn operator_stopped(&mut self, error: &Error) {
        self.operator = None;
        self.view.error(error);
        self.view
            .state("stopped, the cluster keeps running; save a file to start the operator again");
    }

    /// Shows an event of the operator; its exit is an error.
    fn handle(&mut self, event: OperatorEvent) -> Result<(), Error> {
        match event {
            OperatorEvent::Logged(line) => self.view.note(line),
            OperatorEvent::Reconciled(reconciled) => {
                self.view.reconciled(&reconciled);
                if let Some(warning) = self.idle.add(&reconciled) {
                    self.view.note(format_args!("warning: {warning}"));
                }
            }
            OperatorEvent::ReconcileLoop(report) => {
                self.idle.mark_reported();
                self.view.note(format_args!("warning: {report}"));
            }
            OperatorEvent::Exited(error) => return Err(error),
        }
        Ok(())
    }
}

/// Waits until a time; without one, forever.
async fn sleep_until_some(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Waits for the next event of the operator; without one, forever.
async fn next(operator: &mut Option<Operator>) -> OperatorEvent {
    match operator {
        Some(operator) => operator.next().await,
        None => std::future::pending().await,
    }
}
