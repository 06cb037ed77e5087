//! What a command did to each object, and the formats in which it is printed.

use std::fmt::Display;

use clap::{Args, ValueEnum};
use kubewright_manifest::to_yaml;
use serde_json::{Value, json};

use crate::error::Error;
use crate::objects::Located;
use crate::output::{note, print, print_line};

/// The format of the result of a command that changes a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people, as it happens.
    #[default]
    Text,
    /// One JSON value at the end; progress goes to standard error.
    Json,
    /// One YAML document at the end; progress goes to standard error.
    Yaml,
    /// A line for each object that was applied or deleted, such as deployment.apps/sites.
    Name,
}

impl ReportFormat {
    /// Prints a line of progress: with text to standard output, otherwise to standard error.
    pub(super) fn progress(self, line: impl Display) {
        match self {
            Self::Text => print_line(line),
            Self::Json | Self::Yaml | Self::Name => note(line),
        }
    }
}

/// The flag that selects the format.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct ReportFlag {
    /// The format of the result; except with text, progress goes to standard error.
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub(super) output: ReportFormat,
}

/// What happens to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    New,
    Changed,
    Same,
    Delete,
    Keep,
}

impl Action {
    fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Same => "same",
            Self::Delete => "delete",
            Self::Keep => "keep",
        }
    }
}

/// What happened to each object, or would happen without `--dry-run`.
#[derive(Debug)]
pub(super) struct Report {
    format: ReportFormat,
    dry_run: bool,
    objects: Vec<(Action, Located)>,
}

impl Report {
    pub(super) fn new(format: ReportFormat, dry_run: bool) -> Self {
        Self {
            format,
            dry_run,
            objects: Vec::new(),
        }
    }

    /// Prints a line of progress.
    pub(super) fn progress(&self, line: impl Display) {
        self.format.progress(line);
    }

    /// Prints the lines of a new object, which only a dry run shows.
    pub(super) fn new_lines(&self, lines: &[String]) {
        if self.dry_run {
            for line in lines {
                self.progress(format_args!("    {line}"));
            }
        }
    }

    /// Adds an object.
    pub(super) fn add(&mut self, action: Action, object: &Located) {
        self.objects.push((action, object.clone()));
    }

    /// Prints the result. As text, it was printed as progress already.
    pub(super) fn print(&self) -> Result<(), Error> {
        let text = match self.format {
            ReportFormat::Text => return Ok(()),
            ReportFormat::Json => format!("{:#}\n", self.value()),
            ReportFormat::Yaml => {
                to_yaml(&[self.value()]).map_err(|source| Error::Manifest { source })?
            }
            ReportFormat::Name => self.names(),
        };
        print(&text)
    }

    fn value(&self) -> Value {
        let objects = self.objects.iter().map(|(action, object)| {
            json!({
                "action": action.name(),
                "apiVersion": object.resource.api_version,
                "kind": object.resource.kind,
                "namespace": object.namespace,
                "name": object.name,
            })
        });
        json!({"dryRun": self.dry_run, "objects": objects.collect::<Vec<_>>()})
    }

    /// Returns the names of the objects that are not kept, in the format of kubectl.
    fn names(&self) -> String {
        let affected = self
            .objects
            .iter()
            .filter(|(action, _)| *action != Action::Keep);
        let lines = affected.map(|(_, object)| {
            let kind = object.resource.kind.to_lowercase();
            match object.resource.group.as_str() {
                "" => format!("{kind}/{}\n", object.name),
                group => format!("{kind}.{group}/{}\n", object.name),
            }
        });
        lines.collect()
    }
}

#[cfg(test)]
mod tests {
    use kube::api::ApiResource;
    use serde_json::json;

    use super::{Action, Report, ReportFormat};
    use crate::objects::Located;

    fn located(group: &str, kind: &str, namespace: Option<&str>) -> Located {
        let resource = ApiResource {
            group: group.to_owned(),
            version: "v1".to_owned(),
            api_version: format!("{group}/v1").trim_start_matches('/').to_owned(),
            kind: kind.to_owned(),
            plural: format!("{}s", kind.to_lowercase()),
        };
        Located {
            resource,
            namespace: namespace.map(str::to_owned),
            name: "web".to_owned(),
            reports_status: false,
        }
    }

    fn report() -> Report {
        let mut report = Report::new(ReportFormat::Json, true);
        report.add(Action::New, &located("apps", "Deployment", Some("tools")));
        report.add(Action::Keep, &located("", "Namespace", None));
        report.add(Action::Delete, &located("", "Secret", Some("tools")));
        report
    }

    #[test]
    fn json_has_the_action_for_each_object() {
        assert_eq!(
            report().value(),
            json!({"dryRun": true, "objects": [
                {"action": "new", "apiVersion": "apps/v1", "kind": "Deployment",
                 "namespace": "tools", "name": "web"},
                {"action": "keep", "apiVersion": "v1", "kind": "Namespace",
                 "namespace": null, "name": "web"},
                {"action": "delete", "apiVersion": "v1", "kind": "Secret",
                 "namespace": "tools", "name": "web"},
            ]})
        );
    }

    #[test]
    fn names_omit_objects_that_are_kept() {
        assert_eq!(report().names(), "deployment.apps/web\nsecret/web\n");
    }
}
