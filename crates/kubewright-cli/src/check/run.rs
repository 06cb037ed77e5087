use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::changes::{check_changes, manifests_of};
use super::definition::check_definition;
use super::dry_run::Judge;
use super::finding::{Finding, Rule};
use super::permission::{check_unused, check_wildcards};
use super::test_requests::used_by_tests;
use super::webhook::check_configuration;
use crate::error::Error;
use crate::objects::{self, is_policy};
use crate::output::{print, say};
use crate::output_format::{OutputFlag, OutputFormat};
use crate::program::{self, Words};

/// What `kubewright check` is called with.
#[derive(Args, Debug)]
pub(crate) struct CheckArguments {
    /// The operator's folder: a Cargo package with one program.
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Check the objects in this file instead of those that the program prints.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["since", "tests"])]
    manifests: Option<PathBuf>,
    /// Also compare the definitions with those of a git revision, which is built for it.
    #[arg(long, value_name = "REVISION", conflicts_with = "against")]
    since: Option<String>,
    /// Also compare the definitions with those in a file, such as the last release's manifests.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Also run the tests, and tell what the role grants and none of them used.
    #[arg(long)]
    tests: bool,
    /// What is meant as it is; may be given several times.
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    allow: Vec<Rule>,
    #[command(flatten)]
    form: OutputFlag,
}

/// Looks for what the compiler does not say, and the API server late or never; fails when it finds
/// something.
///
/// # Cancel safety
///
/// Dropping the future ends the builds and tests that it started.
pub(crate) async fn run(arguments: &CheckArguments) -> Result<(), Error> {
    let mut findings = findings(arguments).await?;
    findings.retain(|finding| !arguments.allow.contains(&finding.rule));
    match arguments.form.output {
        OutputFormat::Json => {
            let all: Vec<Value> = findings.iter().map(Finding::as_json).collect();
            print(&format!("{:#}\n", json!({"findings": all})))?;
        }
        OutputFormat::Text => findings.iter().for_each(say),
    }
    match findings.len() {
        0 => Ok(()),
        count => Err(Error::Faults { count }),
    }
}

async fn findings(arguments: &CheckArguments) -> Result<Vec<Finding>, Error> {
    let folder = &arguments.folder;
    // The revision first: the program that both builds leave behind is then the present one.
    let former = match (&arguments.since, &arguments.against) {
        (Some(revision), _) => manifests_of(folder, revision).await?,
        (None, Some(file)) => read(file)?,
        (None, None) => Vec::new(),
    };
    let objects = match &arguments.manifests {
        Some(file) => read(file)?,
        None => {
            let program = program::build(folder, Words::Shown).await?;
            program::manifests(&program, &["--image", "none"]).await?
        }
    };
    let mut found = check_changes(&former, &objects);
    found.extend(check(&objects, &arguments.allow).await?);
    if arguments.tests {
        let used = used_by_tests(folder).await?;
        found.extend(check_unused(&objects, &used));
    }
    Ok(found)
}

fn read(file: &std::path::Path) -> Result<Vec<Value>, Error> {
    let text = std::fs::read_to_string(file).map_err(|source| Error::File {
        action: "read",
        path: file.to_owned(),
        source,
    })?;
    objects::read(&file.display().to_string(), &text)
}

/// What the objects themselves show. What is allowed is none the less told as refused where the
/// server refuses it.
async fn check(objects: &[Value], allowed: &[Rule]) -> Result<Vec<Finding>, Error> {
    let judge = Judge::new();
    let mut found = Vec::new();
    for object in objects {
        match object["kind"].as_str() {
            Some("CustomResourceDefinition") => {
                let mut known = check_definition(object);
                known.retain(|finding| !allowed.contains(&finding.rule));
                let refused = judge.check(object, &known).await?;
                found.extend(known.into_iter().chain(refused));
            }
            Some("MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration") => {
                found.extend(check_configuration(object));
            }
            _ if is_policy(object) => found.extend(judge.check(object, &[]).await?),
            _ => {}
        }
    }
    found.extend(check_wildcards(objects));
    Ok(found)
}
