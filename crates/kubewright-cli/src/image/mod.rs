//! `kubewright image`: an OCI image of the operator's program, made without Docker.
//!
//! A program and the libraries that it needs become layers ([`files`], [`archive`]), these with a
//! configuration an image ([`layout`]), and that a file or a push to a registry ([`push`]).

mod archive;
mod blob;
mod credentials;
mod elf;
mod files;
mod layout;
mod platform;
mod push;
mod reference;
mod registry;
mod run;

pub(crate) use run::{ImageArguments, run};
