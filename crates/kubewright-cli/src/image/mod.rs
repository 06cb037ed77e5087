//! `kubewright image`: an OCI image of the operator's program, built without Docker.
//!
//! The program and the libraries that it needs become layers ([`libraries`], [`archive`]), these
//! with a configuration an image ([`layout`]), and the image is written to a file or pushed to a
//! registry ([`push`]).

mod archive;
mod blob;
mod credentials;
mod elf;
mod layout;
mod libraries;
mod platform;
mod push;
mod reference;
mod registry;
mod run;

pub(crate) use run::{ImageArguments, run};
