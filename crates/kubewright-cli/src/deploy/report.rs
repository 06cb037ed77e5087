use std::fmt::Display;

use clap::{Args, ValueEnum};
use kubewright_manifest::to_yaml;
use serde_json::{Value, json};

use super::arguments::Target;
use crate::error::Error;
use crate::objects::Located;
use crate::output::{note, print, say};

/// How a command that changes a cluster answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerForm {
    /// For people, as it happens.
    #[default]
    Text,
    /// One JSON value when all is done; meanwhile, standard error tells what happens.
    Json,
    /// The same as YAML.
    Yaml,
    /// A line for each object that was applied or deleted, such as deployment.apps/sites.
    Name,
}

impl AnswerForm {
    /// Tells what happens: people read it as the answer, others beside it.
    pub(super) fn tell(self, line: impl Display) {
        match self {
            Self::Text => say(line),
            Self::Json | Self::Yaml | Self::Name => note(line),
        }
    }
}

/// The flag that chooses it.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct AnswerFlag {
    /// How to answer; progress goes to standard error in all forms but the first.
    #[arg(long, short, value_name = "FORM", default_value = "text")]
    pub(crate) output: AnswerForm,
}

/// What becomes of an object.
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

/// What became of the objects of a call, or would have.
#[derive(Debug)]
pub(super) struct Answer {
    form: AnswerForm,
    dry_run: bool,
    objects: Vec<(Action, Located)>,
}

impl Answer {
    /// For a call.
    pub(super) fn to(target: &Target) -> Self {
        Self {
            form: target.answer.output,
            dry_run: target.dry_run,
            objects: Vec::new(),
        }
    }

    /// Tells what happens.
    pub(super) fn tell(&self, line: impl Display) {
        self.form.tell(line);
    }

    /// Tells the lines of what comes, where nothing is done beside telling.
    pub(super) fn detail(&self, lines: &[String]) {
        if self.dry_run {
            for line in lines {
                self.tell(format_args!("    {line}"));
            }
        }
    }

    /// Notes what becomes of an object.
    pub(super) fn add(&mut self, action: Action, object: &Located) {
        self.objects.push((action, object.clone()));
    }

    /// Gives the answer; people have read it already.
    pub(super) fn give(&self) -> Result<(), Error> {
        let text = match self.form {
            AnswerForm::Text => return Ok(()),
            AnswerForm::Json => format!("{:#}\n", self.value()),
            AnswerForm::Yaml => {
                to_yaml(&[self.value()]).map_err(|source| Error::Manifest { source })?
            }
            AnswerForm::Name => self.names(),
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

    /// As kubectl names objects.
    fn names(&self) -> String {
        let touched = self
            .objects
            .iter()
            .filter(|(action, _)| *action != Action::Keep);
        let lines = touched.map(|(_, object)| {
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

    use super::{Action, Answer, AnswerForm};
    use crate::objects::Located;

    fn located(group: &str, kind: &str, namespace: Option<&str>) -> Located {
        let resource = ApiResource {
            group: group.to_owned(),
            version: "v1".to_owned(),
            api_version: format!("{group}/v1").trim_start_matches('/').to_owned(),
            kind: kind.to_owned(),
            plural: format!("{}s", kind.to_lowercase()),
        };
        Located::new(resource, namespace, "web")
    }

    fn answer() -> Answer {
        let mut answer = Answer {
            form: AnswerForm::Json,
            dry_run: true,
            objects: Vec::new(),
        };
        answer.add(Action::New, &located("apps", "Deployment", Some("tools")));
        answer.add(Action::Keep, &located("", "Namespace", None));
        answer.add(Action::Delete, &located("", "Secret", Some("tools")));
        answer
    }

    #[test]
    fn a_script_reads_what_becomes_of_each_object() {
        assert_eq!(
            answer().value(),
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
    fn names_are_kubectls_and_only_of_what_is_touched() {
        assert_eq!(answer().names(), "deployment.apps/web\nsecret/web\n");
    }
}
