//! The command itself: prints the state of each requirement.

use clap::Args;
use serde_json::{Value, json};

use super::requirement::{Importance, Requirement, requirements};
use crate::error::Error;
use crate::output::{print, print_line};
use crate::output_format::{OutputFlag, OutputFormat};

/// The arguments of `kubewright doctor`.
#[derive(Args, Debug)]
pub(crate) struct DoctorArguments {
    /// Check only what is needed to build an operator.
    #[arg(long)]
    needed: bool,
    #[command(flatten)]
    format: OutputFlag,
}

/// Prints which tools are installed and which are missing; fails when one is missing.
pub(crate) fn run(arguments: &DoctorArguments) -> Result<(), Error> {
    let mut requirements = requirements();
    if arguments.needed {
        requirements.retain(|requirement| requirement.importance == Importance::Needed);
    }
    match arguments.format.output {
        OutputFormat::Json => {
            let all: Vec<Value> = requirements.iter().map(as_json).collect();
            print(&format!("{:#}\n", Value::from(all)))?;
        }
        OutputFormat::Text => requirements.iter().for_each(print_requirement),
    }
    let missing: Vec<&str> = requirements
        .iter()
        .filter(|requirement| requirement.found.is_none())
        .map(|requirement| requirement.name)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::MissingTools {
        names: missing.join(", "),
    })
}

fn print_requirement(requirement: &Requirement) {
    let Requirement {
        name, cost, remedy, ..
    } = requirement;
    match (&requirement.found, requirement.importance) {
        (Some(found), _) => print_line(format_args!("found    {name}: {found}")),
        (None, Importance::Needed) => print_line(format_args!("MISSING  {name}: {cost}; {remedy}")),
        (None, Importance::Useful) => print_line(format_args!("missing  {name}: {cost}; {remedy}")),
    }
}

fn as_json(requirement: &Requirement) -> Value {
    json!({
        "name": requirement.name,
        "needed": requirement.importance == Importance::Needed,
        "found": requirement.found,
        "cost": requirement.cost,
        "remedy": requirement.remedy,
    })
}
