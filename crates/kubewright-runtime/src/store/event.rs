use kubewright_core::ObjectKey;
use kubewright_wire::record::Record;

/// What a watch says about one object.
#[derive(Clone, Debug)]
pub enum Delta {
    /// The object is there, in this state.
    Applied(Record),
    /// The object is gone; this was its last state.
    Deleted(Record),
    /// Nothing has happened up to this resourceVersion.
    Bookmark(String),
}

impl Delta {
    /// How far the watch had come with it.
    pub fn resource_version(&self) -> &str {
        match self {
            Self::Applied(record) | Self::Deleted(record) => record.resource_version(),
            Self::Bookmark(resource_version) => resource_version,
        }
    }
}

/// A change of one object, as the API server has delivered it.
#[derive(Clone, Debug)]
pub struct ChangeEvent {
    /// Which object.
    pub key: ObjectKey,
    /// What it was before; none for one that is new.
    pub old: Option<Record>,
    /// What it is now; none for one that is gone.
    pub new: Option<Record>,
    /// Whether the object was already there when the receiver began.
    pub is_initial: bool,
}

impl ChangeEvent {
    /// The object as it is now, or as it last was.
    pub fn record(&self) -> Option<&Record> {
        self.new.as_ref().or(self.old.as_ref())
    }
}
