//! Validation by an API server in this process: rules in CEL, and everything else that it rejects.

use kube::Api;
use kube::api::{ApiResource, DynamicObject, PostParams};
use kube::core::Status;
use kubewright_apiserver::{Server, ServerOptions, User};
use serde_json::Value;

use super::finding::{Finding, Findings, Rule};
use crate::error::Error;
use crate::objects::text;
use crate::output::note;

/// Rules whose faults the server rejects as well.
const OVERLAPPING: [Rule; 7] = [
    Rule::Pattern,
    Rule::Column,
    Rule::Selectable,
    Rule::Default,
    Rule::Bounds,
    Rule::ListKey,
    Rule::Versions,
];

/// An API server in this process that validates definitions and policies with dry runs.
pub(super) struct DryRunServer {
    client: kube::Client,
}

/// A field that the server rejects, and why.
struct InvalidField {
    field: String,
    message: String,
}

impl DryRunServer {
    /// Starts the server.
    pub(super) fn start() -> Self {
        let server = Server::new(ServerOptions::default());
        let client = kube::Client::new(server.service(User::admin()), "default");
        Self { client }
    }

    /// Returns the errors of the server for an object. When one of the `known` findings is of a rule
    /// that the server checks as well, only errors in CEL are returned: the others would repeat it.
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
        let is_known = known
            .iter()
            .any(|finding| OVERLAPPING.contains(&finding.rule));
        let errors = self.dry_run(object).await?;
        let is_one_rule_too_costly = errors
            .iter()
            .any(|error| error.message.contains("cost exceeds budget"));
        for InvalidField { field, message } in errors {
            // The total is then too high because of that rule.
            if is_one_rule_too_costly && message.contains("cost total") {
                continue;
            }
            if is_cel(&field) {
                findings.add(Rule::Cel, field, message);
            } else if !is_known {
                findings.add(Rule::Rejected, field, message);
            }
        }
        Ok(findings.into_vec())
    }

    /// Creates the object in a dry run and returns the fields that the server rejects.
    async fn dry_run(&self, value: &Value) -> Result<Vec<InvalidField>, Error> {
        let failed = |source| Error::Request {
            action: format!("validate a {} with the embedded API server", value["kind"]),
            source: Box::new(source),
        };
        let object: DynamicObject = serde_json::from_value(value.clone())
            .map_err(|source| failed(kube::Error::SerdeError(source)))?;
        let parameters = PostParams {
            dry_run: true,
            ..PostParams::default()
        };
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource_of(value));
        match api.create(&parameters, &object).await {
            Ok(_) => Ok(Vec::new()),
            Err(kube::Error::Api(status)) if (400..500).contains(&status.code) => {
                Ok(invalid_fields(*status))
            }
            // A real API server may support what the embedded one does not.
            Err(kube::Error::Api(status)) if status.code == 501 => {
                note(format_args!("note: not checked: {}", status.message));
                Ok(Vec::new())
            }
            Err(source) => Err(failed(source)),
        }
    }
}

/// Returns the resource of a definition or a policy.
fn resource_of(object: &Value) -> ApiResource {
    let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let lower = kind.to_lowercase();
    ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        plural: match lower.strip_suffix('y') {
            Some(stem) => format!("{stem}ies"),
            None => format!("{lower}s"),
        },
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
    }
}

/// Whether the field is an expression in CEL.
fn is_cel(field: &str) -> bool {
    field.contains("x-kubernetes-validations")
        || field.ends_with(".expression")
        || field.ends_with(".messageExpression")
}

/// Returns the causes of a status; its message when it has none.
fn invalid_fields(status: Status) -> Vec<InvalidField> {
    let causes = status.details.map(|details| details.causes);
    let fields: Vec<InvalidField> = causes
        .unwrap_or_default()
        .into_iter()
        .map(|cause| InvalidField {
            field: cause.field,
            message: cause.message,
        })
        .collect();
    if !fields.is_empty() {
        return fields;
    }
    vec![InvalidField {
        field: String::new(),
        message: status.message,
    }]
}
