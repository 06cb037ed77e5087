//! The entry points of an operator: the whole program, or a run on a given cluster.

use std::process::ExitCode;

use kubewright_runtime::client::Transport;
use tokio_util::sync::CancellationToken;

use super::builder::Operator;
use super::run_options::RunOptions;
use super::running::Running;
use super::{command, start};
use crate::Error;

impl Operator {
    /// Runs the whole program: parses the command line, logs, and runs until a signal.
    ///
    /// The subcommand `run` is the default; `manifests` prints the manifests, and `version` the
    /// versions. SIGINT and SIGTERM stop the operator after running work has ended; a second signal
    /// ends the process at once.
    pub fn main(self) -> ExitCode {
        command::main(self)
    }

    /// Starts the operator on a cluster and returns without waiting.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn start(
        self,
        transport: impl Into<Transport>,
        options: RunOptions,
    ) -> Result<Running, Error> {
        self.check()?;
        start::start(self, transport.into(), options)
    }

    /// Runs the operator until `stop` is cancelled and running work has ended.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, everything ends at once; running work is cancelled.
    pub async fn run(
        self,
        transport: impl Into<Transport>,
        options: RunOptions,
        stop: CancellationToken,
    ) -> Result<(), Error> {
        let running = self.start(transport, options)?;
        stop.cancelled().await;
        running.stop().await;
        Ok(())
    }
}
