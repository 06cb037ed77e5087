/// The result of adding a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Added {
    /// The key was not wanted before; now it is.
    New,
    /// The key was wanted already, and no later: one run answers both requests.
    Merged,
    /// The key had a delay, which is over now: it will not come again when the delay would have
    /// ended.
    InPlaceOfDelay,
    /// The queue is shut down and takes nothing in.
    Refused,
}
