use kubewright_core::Kind;
use kubewright_wire::route::Query;
use kubewright_wire::status::{Cause, Status};
use serde::Deserialize;
use serde_json::{Value, json};

use super::decode::{self, Unreadable};
use super::execute::Content;
use crate::kinds::{Propagation, default_propagation};
use crate::store::Object;

const KIND: &str = "DeleteOptions";
/// What else the API server knows by these names where it reads options.
const OTHER_KINDS: [&str; 5] = [
    "APIGroup",
    "APIGroupList",
    "APIResourceList",
    "APIVersions",
    "Status",
];
pub(super) const ORPHAN: &str = "orphan";
pub(super) const FOREGROUND: &str = "foregroundDeletion";

/// How an object is to be deleted.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct DeleteOptions {
    pub(super) grace_period_seconds: Option<i64>,
    pub(super) preconditions: Option<Preconditions>,
    pub(super) orphan_dependents: Option<bool>,
    pub(super) propagation_policy: Option<String>,
    dry_run: Vec<String>,
}

/// What must hold of the stored object.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Preconditions {
    pub(super) uid: Option<String>,
    pub(super) resource_version: Option<String>,
}

impl DeleteOptions {
    /// From the body, or from the parameters when there is none.
    pub(super) fn parse(content: &Content, query: &Query) -> Result<Self, Status> {
        let options = match content {
            Content::Empty => Self::from_query(query)?,
            content => {
                let mut value = decode::members(content)
                    .map_err(Unreadable::of_options)?
                    .value;
                check_kind(&value)?;
                // This also takes nulls for what they stand for everywhere in options: nothing.
                decode::builtin(&mut value, &Kind::new("", "v1", KIND))
                    .map_err(|error| Status::bad_request(error.to_string()))?;
                Self::deserialize(&value).map_err(|error| Status::bad_request(error.to_string()))?
            }
        };
        options.check()?;
        Ok(options)
    }

    /// Those in the body of another request, such as an eviction.
    pub(super) fn of(value: &Value) -> Result<Self, Status> {
        let value = match value {
            Value::Null => json!({}),
            other => without_nulls(other.clone()),
        };
        Self::deserialize(&value).map_err(|error| Status::bad_request(error.to_string()))
    }

    /// The same as a dry run.
    #[must_use]
    pub(super) fn dry_run(mut self) -> Self {
        self.dry_run = vec!["All".to_owned()];
        self
    }

    fn from_query(query: &Query) -> Result<Self, Status> {
        let text = |name| query.get(name).filter(|value| !value.is_empty());
        let grace_period_seconds = match text("gracePeriodSeconds") {
            Some(seconds) => Some(seconds.parse().map_err(|_| {
                let message = format!("strconv.ParseInt: parsing {seconds:?}: invalid syntax");
                Status::bad_request(message)
            })?),
            None => None,
        };
        Ok(Self {
            grace_period_seconds,
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

    pub(super) fn is_dry_run(&self) -> bool {
        !self.dry_run.is_empty()
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
        match causes.is_empty() {
            true => Ok(()),
            false => Err(Status::invalid_as("meta.k8s.io", KIND, "", causes)),
        }
    }

    /// Whether the stored object is the one that is meant. Messages name the kind.
    pub(super) fn check_preconditions(&self, kind: &Kind, object: &Object) -> Result<(), Status> {
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

    /// The finalizers of an object once its dependents are decided on: what the request says, else
    /// what a finalizer on the object says, else what its kind does.
    pub(super) fn finalizers(&self, kind: &Kind, object: &Object) -> Vec<String> {
        let has = |name: &str| object.finalizers().any(|one| one == name);
        let default = default_propagation(kind);
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

/// Options may be of any version, but of no other kind.
fn check_kind(value: &Value) -> Result<(), Status> {
    let text = |field: &str| value[field].as_str().unwrap_or_default();
    let why = match (text("apiVersion"), text("kind")) {
        (_, "" | KIND) => return Ok(()),
        ("" | "v1", kind) if OTHER_KINDS.contains(&kind) => {
            format!("converting (v1.{kind}) to (v1.{KIND}): unknown conversion")
        }
        (version, kind) => {
            let version = if version.is_empty() { "v1" } else { version };
            format!(
                "no kind {kind:?} is registered for version {version:?} in scheme \
                 \"pkg/runtime/scheme.go:111\""
            )
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
    use kubewright_core::{Kind, Revision};
    use kubewright_wire::route::Query;
    use serde_json::{Value, json};

    use super::DeleteOptions;
    use crate::request::Content;
    use crate::store::Object;

    fn parse(body: Value) -> Result<DeleteOptions, String> {
        DeleteOptions::parse(&Content::Value(body), &Query::default())
            .map_err(|status| status.message)
    }

    fn finalizers(options: Value, kind: &str, on_object: Value) -> Vec<String> {
        let object = Object::new(
            json!({"metadata": {"finalizers": on_object}}),
            Revision::new(1),
        );
        let group = if kind == "Job" { "batch" } else { "" };
        let kind = Kind::new(group, "v1", kind);
        parse(options).unwrap().finalizers(&kind, &object)
    }

    #[test]
    fn dependents_go_as_the_request_the_object_or_the_kind_says() {
        let none = json!([]);
        assert!(finalizers(json!({}), "ConfigMap", none.clone()).is_empty());
        assert_eq!(finalizers(json!({}), "Job", none.clone()), ["orphan"]);
        let orphan = json!({"propagationPolicy": "Orphan"});
        assert_eq!(finalizers(orphan, "ConfigMap", none.clone()), ["orphan"]);
        let foreground = json!({"propagationPolicy": "Foreground"});
        assert_eq!(
            finalizers(foreground.clone(), "Job", none),
            ["foregroundDeletion"]
        );
        assert!(finalizers(foreground, "Event", json!([])).is_empty());
        let background = json!({"propagationPolicy": "Background"});
        assert_eq!(
            finalizers(background, "ConfigMap", json!(["a/b", "orphan"])),
            ["a/b"]
        );
        assert_eq!(
            finalizers(json!({}), "ConfigMap", json!(["orphan"])),
            ["orphan"]
        );
    }

    #[test]
    fn contradictory_options_are_refused() {
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
    fn what_is_no_delete_options_is_refused_in_the_words_of_the_decoder() {
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
