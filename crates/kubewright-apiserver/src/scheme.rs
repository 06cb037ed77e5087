//! The scheme of the API server in error messages.

/// The name of the scheme: where `pkg/runtime/scheme.go` of k8s.io/apimachinery creates it.
const NAME: &str = "pkg/runtime/scheme.go:111";

/// The error of a decoder for a kind that it does not know (`notRegisteredErr` of
/// k8s.io/apimachinery/pkg/runtime).
pub(crate) fn not_registered(kind: &str, api_version: &str) -> String {
    format!("no kind {kind:?} is registered for version {api_version:?} in scheme {NAME:?}")
}
