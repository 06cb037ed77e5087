//! The command itself: which checks run on which objects.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::changes::check_changes;
use super::definition::check_definition;
use super::dry_run::DryRunServer;
use super::finding::{Finding, Rule};
use super::permission::{check_unused, check_wildcards};
use super::revision::manifests_of;
use super::test_requests::test_requests;
use super::webhook::check_configuration;
use crate::error::Error;
use crate::objects::{self, is_policy};
use crate::output::{print, print_line};
use crate::output_format::{OutputFlag, OutputFormat};
use crate::program::{self, BuildOutput};

/// The arguments of `kubewright check`.
#[derive(Args, Debug)]
pub(crate) struct CheckArguments {
    /// The operator's folder: a Cargo package with one program.
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Check the objects in this file instead of those that the program prints.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["since", "tests"])]
    manifests: Option<PathBuf>,
    /// Also compare the definitions with those of a git revision, which is built for this.
    #[arg(long, value_name = "REVISION", conflicts_with = "against")]
    since: Option<String>,
    /// Also compare the definitions with those in a file, such as the last release's manifests.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Also run the tests, and report permissions of the role that no test used.
    #[arg(long)]
    tests: bool,
    /// Accept what breaks this rule; may be given several times.
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    allow: Vec<Rule>,
    #[command(flatten)]
    format: OutputFlag,
}

/// Checks the manifests of an operator; fails when there are findings.
///
/// # Cancel safety
///
/// Dropping the future ends the builds and tests that it started.
pub(crate) async fn run(arguments: &CheckArguments) -> Result<(), Error> {
    let mut findings = findings(arguments).await?;
    findings.retain(|finding| !arguments.allow.contains(&finding.rule));
    match arguments.format.output {
        OutputFormat::Json => {
            let all: Vec<Value> = findings.iter().map(Finding::as_json).collect();
            print(&format!("{:#}\n", json!({"findings": all})))?;
        }
        OutputFormat::Text => findings.iter().for_each(print_line),
    }
    match findings.len() {
        0 => Ok(()),
        count => Err(Error::Faults { count }),
    }
}

async fn findings(arguments: &CheckArguments) -> Result<Vec<Finding>, Error> {
    let folder = &arguments.folder;
    // Both builds write the same program: the current one must be the last.
    let earlier = match (&arguments.since, &arguments.against) {
        (Some(revision), _) => manifests_of(folder, revision).await?,
        (None, Some(file)) => read(file)?,
        (None, None) => Vec::new(),
    };
    let objects = match &arguments.manifests {
        Some(file) => read(file)?,
        None => {
            let program = program::build(folder, BuildOutput::Shown).await?;
            program::manifests(&program, &["--image", "none"]).await?
        }
    };
    let mut findings = check_changes(&earlier, &objects);
    findings.extend(check_objects(&objects, &arguments.allow).await?);
    if arguments.tests {
        let requests = test_requests(folder).await?;
        findings.extend(check_unused(&objects, &requests));
    }
    Ok(findings)
}

fn read(file: &Path) -> Result<Vec<Value>, Error> {
    let text = std::fs::read_to_string(file).map_err(|source| Error::File {
        action: "read",
        path: file.to_owned(),
        source,
    })?;
    objects::read(&file.display().to_string(), &text)
}

/// Checks each object. A fault of an allowed rule is still reported as rejected when the server
/// rejects the object because of it.
async fn check_objects(objects: &[Value], allowed: &[Rule]) -> Result<Vec<Finding>, Error> {
    let server = DryRunServer::start();
    let mut findings = Vec::new();
    for object in objects {
        match object["kind"].as_str() {
            Some("CustomResourceDefinition") => {
                let mut known = check_definition(object);
                known.retain(|finding| !allowed.contains(&finding.rule));
                let rejected = server.check(object, &known).await?;
                findings.extend(known.into_iter().chain(rejected));
            }
            Some("MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration") => {
                findings.extend(check_configuration(object));
            }
            _ if is_policy(object) => findings.extend(server.check(object, &[]).await?),
            _ => {}
        }
    }
    findings.extend(check_wildcards(objects));
    Ok(findings)
}
