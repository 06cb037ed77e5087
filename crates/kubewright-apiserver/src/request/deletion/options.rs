//! The options of deletions.

use kubewright_core::Kind;
use kubewright_kinds::{BuiltinKind, Propagation};
use kubewright_wire::route::Query;
use kubewright_wire::status::{Cause, Status};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::request::codec::decode::{self, BodyError};
use crate::request::message::Content;
use crate::request::options::{DryRun, parse_integer};
use crate::resources::conform_builtin;
use crate::scheme::not_registered;
use crate::store::Object;

const KIND: &str = "DeleteOptions";
/// Other kinds that the API server decodes where it expects options.
const OTHER_KINDS: [&str; 5] = [
    "APIGroup",
    "APIGroupList",
    "APIResourceList",
    "APIVersions",
    "Status",
];
pub(crate) const ORPHAN: &str = "orphan";
pub(crate) const FOREGROUND: &str = "foregroundDeletion";

/// The options of a deletion.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct DeleteOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) grace_period_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) preconditions: Option<Preconditions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) orphan_dependents: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) propagation_policy: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dry_run: Vec<String>,
}

/// Conditions on the stored object.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Preconditions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resource_version: Option<String>,
}

impl DeleteOptions {
    /// Parses the body, or the parameters when there is no body.
    pub(crate) fn parse(content: &Content, query: &Query) -> Result<Self, Status> {
        let options = match content {
            Content::Empty => Self::from_query(query)?,
            content => {
                let mut value = decode::members(content)
                    .map_err(BodyError::of_options)?
                    .value;
                check_kind(&value)?;
                // Nulls count as absent.
                conform_builtin(&mut value, &Kind::new("", "v1", KIND))
                    .map_err(|error| Status::bad_request(error.to_string()))?;
                Self::deserialize(&value).map_err(|error| Status::bad_request(error.to_string()))?
            }
        };
        options.check()?;
        Ok(options)
    }

    /// Reads the options in the body of another request, such as an eviction.
    pub(crate) fn of(value: &Value) -> Result<Self, Status> {
        let value = match value {
            Value::Null => json!({}),
            other => without_nulls(other.clone()),
        };
        Self::deserialize(&value).map_err(|error| Status::bad_request(error.to_string()))
    }

    /// The options as admission sees them, whether they came in the body or as parameters
    /// (`DeleteResource` of k8s.io/apiserver/pkg/endpoints/handlers/delete.go).
    pub(crate) fn to_value(&self) -> Value {
        serde_json::to_value(self).expect("options are written to JSON")
    }

    /// Makes it a dry run.
    #[must_use]
    pub(crate) fn with_dry_run(mut self) -> Self {
        self.dry_run = vec!["All".to_owned()];
        self
    }

    fn from_query(query: &Query) -> Result<Self, Status> {
        let text = |name| query.get(name).filter(|value| !value.is_empty());
        Ok(Self {
            grace_period_seconds: text("gracePeriodSeconds").map(parse_integer).transpose()?,
            preconditions: None,
            orphan_dependents: text("orphanDependents").map(|_| query.is_set("orphanDependents")),
            propagation_policy: text("propagationPolicy").map(str::to_owned),
            dry_run: query
                .all("dryRun")
                .filter(|value| !value.is_empty())
                .map(str::to_owned)
                .collect(),
        })
    }

    pub(crate) fn dry_run(&self) -> DryRun {
        if self.dry_run.is_empty() {
            DryRun::No
        } else {
            DryRun::Yes
        }
    }

    fn check(&self) -> Result<(), Status> {
        const POLICY: &str = "propagationPolicy";
        let mut causes = Vec::new();
        if let Some(policy) = &self.propagation_policy {
            if self.orphan_dependents.is_some() {
                let detail = "orphanDependents and deletionPropagation cannot be both set";
                causes.push(Cause::invalid(POLICY, &json!(policy), detail));
            }
            let supported = ["Foreground", "Background", "Orphan"];
            if !supported.contains(&policy.as_str()) {
                let supported = ["Foreground", "Background", "Orphan", "nil"];
                causes.push(Cause::not_supported(POLICY, &json!(policy), &supported));
            }
        }
        if self.dry_run.iter().any(|value| value != "All") {
            causes.push(Cause::not_supported(
                "dryRun",
                &json!(self.dry_run),
                &["All"],
            ));
        }
        if causes.is_empty() {
            return Ok(());
        }
        Err(Status::invalid_as("meta.k8s.io", KIND, "", causes))
    }

    /// Checks the preconditions. Errors name the kind.
    pub(crate) fn check_preconditions(&self, kind: &Kind, object: &Object) -> Result<(), Status> {
        let Some(preconditions) = &self.preconditions else {
            return Ok(());
        };
        let named = (kind.group(), kind.kind.as_str());
        let name = object.name();
        if let Some(uid) = preconditions
            .uid
            .as_deref()
            .filter(|uid| *uid != object.uid())
        {
            let why = format!(
                "the UID in the precondition ({uid}) does not match the UID in record ({}). The \
                 object might have been deleted and then recreated",
                object.uid()
            );
            return Err(Status::conflict_because(named, name, &why));
        }
        let revision = object.revision().to_string();
        match &preconditions.resource_version {
            Some(version) if *version != revision => {
                let why = format!(
                    "the ResourceVersion in the precondition ({version}) does not match the \
                     ResourceVersion in record ({revision}). The object might have been modified"
                );
                Err(Status::conflict_because(named, name, &why))
            }
            _ => Ok(()),
        }
    }

    /// Whether the request names a propagation policy.
    pub(crate) fn has_propagation(&self) -> bool {
        self.propagation_policy.is_some() || self.orphan_dependents.is_some()
    }

    /// The finalizers of an object that is deleted: propagation is that of the request, else that
    /// of a finalizer on the object, else that of its kind.
    pub(crate) fn finalizers(&self, strategy: &BuiltinKind, object: &Object) -> Vec<String> {
        let has = |name: &str| object.finalizers().any(|finalizer| finalizer == name);
        let default = strategy.propagation;
        let wanted = match (self.orphan_dependents, self.propagation_policy.as_deref()) {
            _ if default == Propagation::Unsupported => Propagation::Background,
            (Some(true), _) | (_, Some("Orphan")) => Propagation::Orphan,
            (_, Some("Foreground")) => Propagation::Foreground,
            (Some(false), _) | (_, Some(_)) => Propagation::Background,
            (None, None) if has(ORPHAN) => Propagation::Orphan,
            (None, None) if has(FOREGROUND) => Propagation::Foreground,
            (None, None) => default,
        };
        let mut finalizers: Vec<String> = object
            .finalizers()
            .filter(|name| !matches!(*name, ORPHAN | FOREGROUND))
            .map(str::to_owned)
            .collect();
        match wanted {
            Propagation::Orphan => finalizers.push(ORPHAN.to_owned()),
            Propagation::Foreground => finalizers.push(FOREGROUND.to_owned()),
            Propagation::Background | Propagation::Unsupported => {}
        }
        finalizers
    }
}

/// Checks the kind of options. Any version is accepted.
fn check_kind(value: &Value) -> Result<(), Status> {
    let text = |field: &str| value[field].as_str().unwrap_or_default();
    let why = match (text("apiVersion"), text("kind")) {
        (_, "" | KIND) => return Ok(()),
        ("" | "v1", kind) if OTHER_KINDS.contains(&kind) => {
            format!("converting (v1.{kind}) to (v1.{KIND}): unknown conversion")
        }
        (version, kind) => {
            let version = if version.is_empty() { "v1" } else { version };
            not_registered(kind, version)
        }
    };
    Err(Status::bad_request(why))
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .filter(|(_, member)| !member.is_null())
            .map(|(name, member)| (name, without_nulls(member)))
            .collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::Revision;
    use kubewright_kinds::BuiltinKind;
    use kubewright_kinds::batch::JOB;
    use kubewright_kinds::core::{CONFIG_MAP, EVENT};
    use kubewright_wire::route::Query;
    use serde_json::{Value, json};

    use super::DeleteOptions;
    use crate::request::message::Content;
    use crate::store::Object;

    fn parse(body: Value) -> Result<DeleteOptions, String> {
        DeleteOptions::parse(&Content::Value(body), &Query::default())
            .map_err(|status| status.message)
    }

    fn finalizers(options: Value, kind: &BuiltinKind, on_object: Value) -> Vec<String> {
        let object = Object::new(
            json!({"metadata": {"finalizers": on_object}}),
            Revision::new(1),
        );
        parse(options).unwrap().finalizers(kind, &object)
    }

    #[test]
    fn propagation_is_that_of_the_request_else_of_the_object_else_of_the_kind() {
        let none = json!([]);
        assert!(finalizers(json!({}), &CONFIG_MAP, none.clone()).is_empty());
        assert_eq!(finalizers(json!({}), &JOB, none.clone()), ["orphan"]);
        let orphan = json!({"propagationPolicy": "Orphan"});
        assert_eq!(finalizers(orphan, &CONFIG_MAP, none.clone()), ["orphan"]);
        let foreground = json!({"propagationPolicy": "Foreground"});
        assert_eq!(
            finalizers(foreground.clone(), &JOB, none),
            ["foregroundDeletion"]
        );
        assert!(finalizers(foreground, &EVENT, json!([])).is_empty());
        let background = json!({"propagationPolicy": "Background"});
        assert_eq!(
            finalizers(background, &CONFIG_MAP, json!(["a/b", "orphan"])),
            ["a/b"]
        );
        assert_eq!(
            finalizers(json!({}), &CONFIG_MAP, json!(["orphan"])),
            ["orphan"]
        );
    }

    #[test]
    fn contradictory_options_are_invalid() {
        let message = parse(json!({"propagationPolicy": "X"})).unwrap_err();
        assert_eq!(
            message,
            "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \
             \"X\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\""
        );
        let both = json!({"propagationPolicy": "Orphan", "orphanDependents": true});
        assert!(parse(both).is_err());
    }

    #[test]
    fn bodies_that_are_not_delete_options_fail_with_the_messages_of_the_decoder() {
        for (wanted, body) in [
            (
                "no kind \"ConfigMap\" is registered for version \"v1\" in scheme \
                 \"pkg/runtime/scheme.go:111\"",
                json!({"kind": "ConfigMap", "apiVersion": "v1"}),
            ),
            (
                "converting (v1.Status) to (v1.DeleteOptions): unknown conversion",
                json!({"kind": "Status", "apiVersion": "v1"}),
            ),
            (
                "json: cannot unmarshal string into Go struct field \
                 DeleteOptions.gracePeriodSeconds of type int64",
                json!({"gracePeriodSeconds": "x"}),
            ),
            (
                "json: cannot unmarshal number into Go struct field \
                 Preconditions.preconditions.uid of type types.UID",
                json!({"preconditions": {"uid": 3}}),
            ),
        ] {
            assert_eq!(parse(body).unwrap_err(), wanted);
        }
        let other_version = json!({"kind": "DeleteOptions", "apiVersion": "apps/v1"});
        assert!(parse(other_version).is_ok());
        let nulls = json!({"preconditions": {"uid": null}, "gracePeriodSeconds": null});
        assert!(parse(nulls).is_ok());
    }
}
