//! One Pod on every node: the operator that the tutorial builds.
