//! The attribute and derive macros of ours.
