/// A fault that a test plants in a server, to see that comparing it with Kubernetes notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SeededFault {
    /// A write that changes nothing makes a revision.
    NoOpMakesRevision,
    /// An object that leaves a watch's selector is shown as modified.
    LeavingIsModified,
    /// A field that an apply no longer has stays.
    ApplyKeepsDropped,
    /// A limited list from a revision shows what came later.
    LimitIsNotExact,
    /// A watch from a revision that is gone is refused instead of told so.
    ExpiredIsRefused,
    /// A delete does not look at the uid that it was given.
    UidIsIgnored,
    /// Custom resources are shown without the defaults that came after them.
    DefaultsMissOnRead,
    /// A rule for named objects allows to create.
    NamesAllowCreate,
    /// The removal of the last finalizer is shown as a modification first.
    LastFinalizerIsModified,
    /// A write of the status writes the rest, too.
    StatusWritesSpec,
}

impl SeededFault {
    /// Each of them.
    pub const ALL: [Self; 10] = [
        Self::NoOpMakesRevision,
        Self::LeavingIsModified,
        Self::ApplyKeepsDropped,
        Self::LimitIsNotExact,
        Self::ExpiredIsRefused,
        Self::UidIsIgnored,
        Self::DefaultsMissOnRead,
        Self::NamesAllowCreate,
        Self::LastFinalizerIsModified,
        Self::StatusWritesSpec,
    ];
}
