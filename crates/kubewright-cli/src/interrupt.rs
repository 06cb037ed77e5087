//! The signals that end a command.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::Error;

/// The signals that end a command: Ctrl-C, a termination, a closed terminal.
///
/// Once this exists, none of these signals ends the process by itself, and one that arrives before
/// [`Interrupts::next`] is called is returned by that call.
#[derive(Debug)]
pub(crate) struct Interrupts {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Interrupts {
    /// Installs the signal handlers.
    pub(crate) fn listen() -> Result<Self, Error> {
        let listen = |kind| signal(kind).map_err(|source| Error::Runtime { source });
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for the next signal.
    ///
    /// # Cancel safety
    ///
    /// Safe: a signal that arrives later is returned by the next call.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}
