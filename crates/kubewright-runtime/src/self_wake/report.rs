//! What is said of a reconcile that wakes itself.

use std::fmt;
use std::sync::Arc;

use kubewright_core::ObjectKey;

/// A reconcile that wakes itself, or that does not come to rest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelfWaking {
    /// The name of the controller.
    pub controller: Arc<str>,
    /// The object whose reconcile it is.
    pub object: ObjectKey,
    /// How it was found.
    pub found: WakeLoop,
    /// How many runs there were in a row.
    pub runs: u32,
    /// What the last run has written, each with the fields that it changed.
    pub writes: Vec<String>,
}

/// How a loop of reconciles was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WakeLoop {
    /// Each run was caused by nothing but writes of the run before.
    OwnWrites,
    /// No time passed meanwhile: the clock is virtual, and waits until all work is done. Other
    /// controllers take part in the loop.
    StoppedClock,
}

impl fmt::Display for SelfWaking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            controller,
            object,
            runs,
            ..
        } = self;
        write!(f, "the reconcile of {object} by controller {controller} ")?;
        match self.found {
            WakeLoop::OwnWrites => write!(
                f,
                "wakes itself: {runs} runs in a row, each caused by nothing but what the run before \
                 it wrote"
            )?,
            WakeLoop::StoppedClock => write!(
                f,
                "does not come to rest: {runs} runs while no virtual time passed, so that something \
                 answers each of its writes with another"
            )?,
        }
        write!(
            f,
            "; last writes: {}; write only what follows from the object and what it depends on, or \
             leave the field out",
            self.writes.join("; ")
        )
    }
}
