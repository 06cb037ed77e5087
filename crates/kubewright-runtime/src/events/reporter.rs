//! The controller that reports events.

/// The controller that reports events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reporter {
    /// The controller's name, such as `mydaemonset` or `example.com/mydaemonset`.
    pub controller: String,
    /// The name of the controller's instance.
    pub instance: String,
}
