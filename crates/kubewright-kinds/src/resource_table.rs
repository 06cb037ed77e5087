//! The table of built-in resources, as discovery lists them.

use std::sync::LazyLock;

use flate2::read::GzDecoder;
use serde::Deserialize;

/// The built-in groups and resources, as `cargo xtask tables` writes them.
#[derive(Debug, Deserialize)]
pub struct ResourceTable {
    /// In the order of discovery.
    pub groups: Vec<GroupRow>,
    /// Each resource in each version.
    pub resources: Vec<ResourceRow>,
}

/// An API group.
#[derive(Debug, Deserialize)]
pub struct GroupRow {
    /// Empty for the core group.
    pub name: String,
    /// The preferred version first.
    pub versions: Vec<String>,
}

/// A resource in one version.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceRow {
    /// The API group.
    pub group: String,
    /// The version in the group.
    pub version: String,
    /// `pods`.
    pub plural: String,
    /// `pod`.
    pub singular: String,
    /// `Pod`.
    pub kind: String,
    /// Whether its objects are in namespaces.
    pub namespaced: bool,
    /// The names in RBAC rules.
    pub verbs: Vec<String>,
    /// `po`.
    pub short_names: Vec<String>,
    /// `all`.
    pub categories: Vec<String>,
    /// Empty for resources that are not stored.
    pub storage_version_hash: String,
    /// `status`, `scale` and the like.
    pub subresources: Vec<SubresourceRow>,
}

/// A subresource.
#[derive(Debug, Deserialize)]
pub struct SubresourceRow {
    /// `status`.
    pub name: String,
    /// The group of the kind that is read and written.
    pub group: String,
    /// The version of that kind.
    pub version: String,
    /// That kind.
    pub kind: String,
    /// The names in RBAC rules.
    pub verbs: Vec<String>,
}

/// The table, which is parsed once.
///
/// # Panics
///
/// Never: a test reads the committed table.
pub fn resource_table() -> &'static ResourceTable {
    static TABLE: LazyLock<ResourceTable> = LazyLock::new(|| {
        let packed = include_bytes!("../tables/resources.json.gz");
        serde_json::from_reader(GzDecoder::new(packed.as_slice()))
            .expect("a test reads the committed table of resources")
    });
    &TABLE
}
