//! The YAML that follows from a `Description`: CRDs and roles.
