//! `kubewright generate types`: Rust types for kinds of other projects.
//!
//! A definition is read ([`definition`]), its schema becomes types ([`types`]) with names in Rust
//! ([`names`]), and these become source text ([`write`]).

mod definition;
mod names;
mod run;
mod types;
mod write;

pub(crate) use run::{TypesArguments, run};
