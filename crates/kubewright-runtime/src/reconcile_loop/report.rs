//! The report of a reconcile that triggers itself.

use std::fmt;
use std::sync::Arc;

use kubewright_core::ObjectKey;

/// A reconcile that triggers itself, or that does not settle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReconcileLoop {
    /// The name of the controller.
    pub controller: Arc<str>,
    /// The reconciled object.
    pub object: ObjectKey,
    /// How the loop was detected.
    pub kind: LoopKind,
    /// The number of runs in a row.
    pub runs: u32,
    /// The writes of the last run, each with the fields that it changed.
    pub writes: Vec<String>,
}

/// How a loop of reconciles was detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoopKind {
    /// Each run was caused only by writes of the run before it.
    OwnWrites,
    /// No time passed between the runs. The clock is virtual and stands still until all work is
    /// done. Other controllers take part in the loop.
    StoppedClock,
}

impl fmt::Display for ReconcileLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            controller,
            object,
            runs,
            ..
        } = self;
        write!(f, "the reconcile of {object} by controller {controller} ")?;
        match self.kind {
            LoopKind::OwnWrites => write!(
                f,
                "triggers itself: {runs} runs in a row, each caused only by what the run before it \
                 wrote"
            )?,
            LoopKind::StoppedClock => write!(
                f,
                "does not settle: {runs} runs while no virtual time passed, so something follows \
                 each of its writes with another write"
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
