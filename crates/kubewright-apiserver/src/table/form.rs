//! The representations of objects.

/// The representation of objects in a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Whole objects.
    #[default]
    Whole,
    /// The rows of a `Table`.
    Table(Included),
    /// A `PartialObjectMetadata`: only the metadata.
    Metadata,
    /// A `PartialObjectMetadataList`: only the metadata of each.
    MetadataList,
}

/// What a row of a table includes of its object besides the cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Included {
    /// Its metadata.
    #[default]
    Metadata,
    /// All of it.
    Object,
    /// Nothing.
    Nothing,
}
