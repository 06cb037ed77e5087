use kube::Api;
use kube::api::{ApiResource, DynamicObject, PostParams};
use kube::core::Status;
use kubewright_apiserver::{Server, ServerOptions, User};
use serde_json::Value;

use super::finding::{Finding, Findings, Rule};
use crate::error::Error;
use crate::output::note;

/// Rules by which faults are found that the server refuses, too.
const OVERLAPPING: [Rule; 7] = [
    Rule::Pattern,
    Rule::Column,
    Rule::Selectable,
    Rule::Default,
    Rule::Bounds,
    Rule::ListKey,
    Rule::Versions,
];

/// An API server of our own, which is asked whether it would take a definition or a policy: rules
/// in CEL that do not compile, and whatever else it refuses.
pub(super) struct Judge {
    client: kube::Client,
}

impl Judge {
    /// Starts the server, in this process.
    pub(super) fn new() -> Self {
        let server = Server::new(ServerOptions::default());
        let client = kube::Client::new(server.service(User::admin()), "default");
        Self { client }
    }

    /// What the server says of an object. Where `known` has faults that it refuses, too, only
    /// rules are added: it would tell those again, in its own words.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is stored.
    pub(super) async fn check(
        &self,
        object: &Value,
        known: &[Finding],
    ) -> Result<Vec<Finding>, Error> {
        let mut findings = Findings::of(object);
        let is_told = known
            .iter()
            .any(|finding| OVERLAPPING.contains(&finding.rule));
        let refusals = self.refusals(object).await?;
        let is_one_too_costly = refusals
            .iter()
            .any(|(_, message)| message.contains("cost exceeds budget"));
        for (field, message) in refusals {
            // Then the sum is too much as well, which says nothing new.
            if is_one_too_costly && message.contains("cost total") {
                continue;
            }
            if is_rule(&field) {
                findings.add(Rule::Cel, field, message);
            } else if !is_told {
                findings.add(Rule::Refused, field, message);
            }
        }
        Ok(findings.into_vec())
    }

    /// The fields that a dry run of creating the object names, with what is wrong with each.
    async fn refusals(&self, wanted: &Value) -> Result<Vec<(String, String)>, Error> {
        let failed = |source| Error::Request {
            action: format!("ask the embedded API server about a {}", wanted["kind"]),
            source: Box::new(source),
        };
        let object: DynamicObject = serde_json::from_value(wanted.clone())
            .map_err(|source| failed(kube::Error::SerdeError(source)))?;
        let tried = PostParams {
            dry_run: true,
            ..PostParams::default()
        };
        let there: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource_of(wanted));
        match there.create(&tried, &object).await {
            Ok(_) => Ok(Vec::new()),
            Err(kube::Error::Api(status)) if (400..500).contains(&status.code) => {
                Ok(causes(*status))
            }
            // What the embedded server does not have, another may take.
            Err(kube::Error::Api(status)) if status.code == 501 => {
                note(format_args!("note: not looked at: {}", status.message));
                Ok(Vec::new())
            }
            Err(source) => Err(failed(source)),
        }
    }
}

/// The resource of a definition or a policy.
fn resource_of(object: &Value) -> ApiResource {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    let (group, version) = api_version
        .split_once('/')
        .unwrap_or(("", api_version.as_str()));
    let lower = kind.to_lowercase();
    ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        plural: match lower.strip_suffix('y') {
            Some(stem) => format!("{stem}ies"),
            None => format!("{lower}s"),
        },
        api_version,
        kind,
    }
}

/// Whether the field is a rule in CEL.
fn is_rule(field: &str) -> bool {
    field.contains("x-kubernetes-validations")
        || field.ends_with(".expression")
        || field.ends_with(".messageExpression")
}

/// The causes of a refusal, or its message where it has none.
fn causes(status: Status) -> Vec<(String, String)> {
    let causes = status.details.map(|details| details.causes);
    let causes = causes.unwrap_or_default();
    if causes.is_empty() {
        return vec![(String::new(), status.message)];
    }
    let causes = causes.into_iter();
    causes.map(|cause| (cause.field, cause.message)).collect()
}
