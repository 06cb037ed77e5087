//! Names of controllers.

use std::fmt;
use std::str::FromStr;

use super::entry::ControllerEntry;
use super::table::CONTROLLERS;

/// The name of a controller, as Kubernetes has it: `deployment-controller`, `kube-scheduler`.
///
/// ```
/// use kubewright_cluster::ControllerName;
///
/// let name: ControllerName = "deployment-controller".parse()?;
/// assert!(ControllerName::all().any(|known| known == name));
/// # Ok::<(), kubewright_cluster::UnknownController>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ControllerName(&'static str);

impl ControllerName {
    /// The names of all controllers.
    pub fn all() -> impl Iterator<Item = Self> {
        CONTROLLERS.iter().map(Self::of)
    }

    /// The name as text.
    pub fn as_str(self) -> &'static str {
        self.0
    }

    pub(super) fn of(entry: &ControllerEntry) -> Self {
        Self(entry.name)
    }
}

impl fmt::Display for ControllerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl FromStr for ControllerName {
    type Err = UnknownController;

    fn from_str(name: &str) -> Result<Self, UnknownController> {
        Self::all()
            .find(|known| known.0 == name)
            .ok_or_else(|| UnknownController {
                name: name.to_owned(),
            })
    }
}

/// A name that is not that of a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownController {
    name: String,
}

impl fmt::Display for UnknownController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = ControllerName::all().map(ControllerName::as_str).collect();
        write!(
            f,
            "unknown controller {:?}; the controllers are {}",
            self.name,
            names.join(", ")
        )
    }
}

impl std::error::Error for UnknownController {}

#[cfg(test)]
mod tests {
    use super::ControllerName;

    #[test]
    fn unknown_controller_is_reported_with_the_known_names() {
        let error = "deploy".parse::<ControllerName>().unwrap_err().to_string();
        assert!(error.starts_with("unknown controller \"deploy\"; the controllers are "));
        assert!(error.contains("deployment-controller, "), "{error}");
    }
}
