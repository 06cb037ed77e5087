use clap::Args;
use kubewright_testing::control_plane::Release;
use serde_json::json;

use crate::error::Error;
use crate::output::{print, say};
use crate::output_format::{OutputFlag, OutputFormat};

/// What `kubewright version` is called with.
#[derive(Args, Debug)]
pub(crate) struct VersionArguments {
    #[command(flatten)]
    form: OutputFlag,
}

/// Says which command this is and what it was built from.
pub(crate) fn run(arguments: &VersionArguments) -> Result<(), Error> {
    let facts = [
        ("version", env!("CARGO_PKG_VERSION")),
        ("commit", env!("KUBEWRIGHT_COMMIT")),
        ("rustc", env!("KUBEWRIGHT_RUSTC")),
        ("target", env!("KUBEWRIGHT_TARGET")),
        ("kubernetes", Release::current().version()),
    ];
    match arguments.form.output {
        OutputFormat::Json => {
            let mut answer = json!({});
            for (name, value) in facts {
                answer[name] = value.into();
            }
            print(&format!("{answer:#}\n"))
        }
        OutputFormat::Text => {
            for (name, value) in facts {
                say(format_args!("{name:10}   {value}"));
            }
            Ok(())
        }
    }
}
