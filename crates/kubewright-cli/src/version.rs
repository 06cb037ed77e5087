//! `kubewright version`: what this command was built from.

use clap::Args;
use kubewright_testing::control_plane::Release;
use serde_json::json;

use crate::error::Error;
use crate::output::{print, print_line};
use crate::output_format::{OutputFlag, OutputFormat};

/// The arguments of `kubewright version`.
#[derive(Args, Debug)]
pub(crate) struct VersionArguments {
    #[command(flatten)]
    format: OutputFlag,
}

/// Prints the version of this command and what it was built from.
pub(crate) fn run(arguments: &VersionArguments) -> Result<(), Error> {
    let facts = [
        ("version", env!("CARGO_PKG_VERSION")),
        ("commit", env!("KUBEWRIGHT_COMMIT")),
        ("rustc", env!("KUBEWRIGHT_RUSTC")),
        ("target", env!("KUBEWRIGHT_TARGET")),
        ("kubernetes", Release::current().version()),
    ];
    match arguments.format.output {
        OutputFormat::Json => {
            let mut result = json!({});
            for (name, value) in facts {
                result[name] = value.into();
            }
            print(&format!("{result:#}\n"))
        }
        OutputFormat::Text => {
            for (name, value) in facts {
                print_line(format_args!("{name:10}   {value}"));
            }
            Ok(())
        }
    }
}
