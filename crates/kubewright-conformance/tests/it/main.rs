//! The differential suite on both clusters.

mod differential;
mod sequences;
