//! `kubewright generate types`: Rust types of kinds that others define.
//!
//! A definition is read ([`definition`]), its schema becomes types ([`types`]) with Rust's names
//! ([`names`]), and these become text ([`write`]).

mod definition;
mod names;
mod run;
mod types;
mod write;

pub(crate) use run::{TypesArguments, run};
