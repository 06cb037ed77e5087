use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::Error;

/// Ways of asking the command to end: Ctrl-C, a termination, a closed terminal.
///
/// From the moment this is made, none of them ends the process by itself, and one that comes while
/// nobody waits is not lost.
#[derive(Debug)]
pub(crate) struct Interrupts {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Interrupts {
    /// Listens from now on.
    pub(crate) fn listen() -> Result<Self, Error> {
        let listen = |kind| signal(kind).map_err(|source| Error::Runtime { source });
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for one of them.
    ///
    /// # Cancel safety
    ///
    /// Safe: what comes later is seen by the next call.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}
