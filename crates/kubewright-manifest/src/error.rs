//! The errors of this crate.

/// An error of writing manifests.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An object cannot be written as YAML.
    #[error("write {object} as YAML; this is a fault of the library, please report it")]
    Yaml {
        /// Kind and name of the object.
        object: String,
        /// The cause.
        #[source]
        source: serde_saphyr::ser::Error,
    },
    /// The name of a component is unknown.
    #[error("take {name:?} into the manifests: not a known component; use one of: {known}")]
    Component {
        /// The name.
        name: String,
        /// The names of all components.
        known: String,
    },
}
