use clap::Args;
use serde_json::{Value, json};

use super::requirement::{Subject, Weight, subjects};
use crate::error::Error;
use crate::output::{print, say};
use crate::output_format::{OutputFlag, OutputFormat};

/// What `kubewright doctor` is called with.
#[derive(Args, Debug)]
pub(crate) struct DoctorArguments {
    /// Look only at what building an operator needs.
    #[arg(long)]
    needed: bool,
    #[command(flatten)]
    form: OutputFlag,
}

/// Says what is installed, what is missing and what that costs; fails when anything is missing.
pub(crate) fn run(arguments: &DoctorArguments) -> Result<(), Error> {
    let mut subjects = subjects();
    if arguments.needed {
        subjects.retain(|subject| subject.weight == Weight::Needed);
    }
    match arguments.form.output {
        OutputFormat::Json => {
            let all: Vec<Value> = subjects.iter().map(as_json).collect();
            print(&format!("{:#}\n", Value::from(all)))?;
        }
        OutputFormat::Text => subjects.iter().for_each(tell),
    }
    let missing: Vec<&str> = subjects
        .iter()
        .filter(|subject| subject.found.is_none())
        .map(|subject| subject.name)
        .collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Error::Missing {
            names: missing.join(", "),
        }),
    }
}

fn tell(subject: &Subject) {
    let name = subject.name;
    match (&subject.found, subject.weight) {
        (Some(found), _) => say(format_args!("found    {name}: {found}")),
        (None, Weight::Needed) => say(format_args!(
            "MISSING  {name}: {}; {}",
            subject.cost, subject.remedy
        )),
        (None, Weight::Useful) => say(format_args!(
            "missing  {name}: {}; {}",
            subject.cost, subject.remedy
        )),
    }
}

fn as_json(subject: &Subject) -> Value {
    json!({
        "name": subject.name,
        "needed": subject.weight == Weight::Needed,
        "found": subject.found,
        "cost": subject.cost,
        "remedy": subject.remedy,
    })
}
