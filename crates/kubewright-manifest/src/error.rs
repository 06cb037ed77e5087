/// Why manifests could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An object has no YAML form.
    #[error("write {object} as YAML; this is a fault of the library, please report it")]
    Yaml {
        /// Kind and name of the object.
        object: String,
        /// What the YAML writer said.
        #[source]
        source: serde_saphyr::ser::Error,
    },
    /// Nobody knows the component.
    #[error("take {name:?} into the manifests: not a known component; use one of: {known}")]
    Component {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
}
