//! Conversion of custom resources between their versions.

use std::time::Duration;

use kubewright_core::Kind;
use kubewright_kinds::json::{items, text};
use kubewright_wire::json::decoded_go_type;
use kubewright_wire::review::{ConversionRequest, ConversionReview};
use kubewright_wire::status::{Outcome, Status};
use serde_json::{Map, Value};

use crate::scheme::not_registered;
use crate::webhook_client::{ClientConfig, ResponseFormat, WebhookCall, WebhookClient};

/// The timeout of Kubernetes for a conversion.
const TIMEOUT: Duration = Duration::from_secs(30);
const BETA: &str = "apiextensions.k8s.io/v1beta1";

/// How objects of a custom resource are converted to another of its versions.
#[derive(Clone, Debug)]
pub(crate) enum Conversion {
    /// Only `apiVersion` differs.
    None,
    /// A webhook converts.
    Webhook(Box<ConversionWebhook>),
}

/// The webhook that converts a custom resource.
#[derive(Clone, Debug)]
pub(crate) struct ConversionWebhook {
    client: ClientConfig,
    review_versions: Vec<String>,
}

impl Conversion {
    /// Reads the conversion of an accepted definition.
    pub(super) fn compile(spec: &Value) -> Self {
        let conversion = &spec["conversion"];
        if conversion["strategy"] != "Webhook" {
            return Self::None;
        }
        let webhook = &conversion["webhook"];
        Self::Webhook(Box::new(ConversionWebhook {
            client: ClientConfig::read(&webhook["clientConfig"]),
            review_versions: items(&webhook["conversionReviewVersions"])
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
        }))
    }

    /// Converts one object to the version `to` (`group/version`).
    pub(crate) async fn convert_one(
        &self,
        webhooks: &WebhookClient,
        kind: &Kind,
        object: Value,
        to: &str,
    ) -> Result<Value, Status> {
        let mut converted = self.convert(webhooks, kind, vec![object], to).await?;
        Ok(converted.pop().expect("one object was given"))
    }

    /// Converts objects to the version `to` (`group/version`). Returns as many objects, in the same
    /// order. Objects of that version are not sent to the webhook.
    pub(crate) async fn convert(
        &self,
        webhooks: &WebhookClient,
        kind: &Kind,
        mut objects: Vec<Value>,
        to: &str,
    ) -> Result<Vec<Value>, Status> {
        let webhook = match self {
            Self::None => {
                for object in &mut objects {
                    object["apiVersion"] = to.into();
                }
                return Ok(objects);
            }
            Self::Webhook(webhook) => webhook,
        };
        let is_other = |object: &Value| object["apiVersion"] != to;
        let sent: Vec<Value> = objects
            .iter()
            .filter(|object| is_other(object))
            .cloned()
            .collect();
        let Some(first) = sent.first() else {
            return Ok(objects);
        };
        let from = format!("{}, Kind={}", text(&first["apiVersion"]), kind.kind);
        let expected = sent.len();
        let failed = |why: String| Status::unknown(format!("conversion webhook for {from} {why}"));
        let converted = webhook
            .convert(webhooks, sent, to)
            .await
            .map_err(|why| failed(format!("failed: {why}")))?;
        if converted.len() != expected {
            let count = converted.len();
            return Err(failed(format!(
                "returned {count} objects, expected {expected}"
            )));
        }
        let places = objects.iter_mut().filter(|object| is_other(object));
        for (original, mut object) in places.zip(converted) {
            accept(original, &mut object, to).map_err(failed)?;
            *original = object;
        }
        Ok(objects)
    }
}

impl ConversionWebhook {
    async fn convert(
        &self,
        webhooks: &WebhookClient,
        objects: Vec<Value>,
        to: &str,
    ) -> Result<Vec<Value>, String> {
        let version = self
            .review_versions
            .iter()
            .find_map(|version| match version.as_str() {
                "v1" => Some(ConversionReview::VERSION),
                "v1beta1" => Some(BETA),
                _ => None,
            })
            .ok_or("no supported conversion review versions")?;
        let uid = webhooks.review_uid();
        let review = ConversionReview {
            api_version: version.to_owned(),
            kind: ConversionReview::KIND.to_owned(),
            request: Some(ConversionRequest {
                uid: uid.clone(),
                desired_api_version: to.to_owned(),
                objects,
            }),
            response: None,
        };
        let call = WebhookCall {
            client: &self.client,
            url: format!("{}?timeout={}s", self.client.url(), TIMEOUT.as_secs()),
            timeout: TIMEOUT,
            response: ResponseFormat::Yaml,
        };
        let reviewed: ConversionReview = webhooks
            .call(&call, &review)
            .await
            .map_err(|error| error.to_string())?;
        let is_checked = version == ConversionReview::VERSION;
        let is_known = [ConversionReview::VERSION, BETA].contains(&reviewed.api_version.as_str());
        if !is_known || reviewed.kind != ConversionReview::KIND {
            return Err(not_registered(&reviewed.kind, &reviewed.api_version));
        }
        if reviewed.api_version != version {
            return Err(format!(
                "expected webhook response of {version}, Kind={}, got {}, Kind={}",
                ConversionReview::KIND,
                reviewed.api_version,
                reviewed.kind
            ));
        }
        let response = reviewed.response.ok_or("no response provided")?;
        if is_checked && response.uid != uid {
            return Err(format!(
                "expected response.uid={uid:?}, got {:?}",
                response.uid
            ));
        }
        let result = response.result;
        match (&result.status, result.message.as_str()) {
            (Some(Outcome::Success), _) => Ok(response.converted_objects),
            (None, "") => Err("response.result.status was '', not 'Success'".to_owned()),
            (Some(_), "") => Err("response.result.status was 'Failure', not 'Success'".to_owned()),
            (_, message) => Err(message.to_owned()),
        }
    }
}

/// Checks a converted object against the original, and restores the metadata of the original
/// except labels and annotations (`validateConvertedObject`, `restoreObjectMeta`).
fn accept(original: &Value, object: &mut Value, to: &str) -> Result<(), String> {
    let version = text(&object["apiVersion"]);
    if version != to {
        return Err(format!(
            "returned invalid object at index 0: invalid groupVersion (expected {to}, \
             received {version})"
        ));
    }
    let (expected, received) = (text(&original["kind"]), text(&object["kind"]));
    if expected != received {
        return Err(format!(
            "returned invalid object at index 0: invalid kind (expected {expected}, \
             received {received})"
        ));
    }
    for (field, name) in [("name", "name"), ("namespace", "namespace"), ("uid", "UID")] {
        let (expected, received) = (
            text(&original["metadata"][field]),
            text(&object["metadata"][field]),
        );
        if expected != received {
            return Err(format!(
                "returned invalid object: must have the same {name}: {expected} != {received}"
            ));
        }
    }
    let metadata = restored(&original["metadata"], object.get("metadata"))
        .map_err(|why| format!("returned invalid metadata: {why}"))?;
    object["metadata"] = Value::Object(metadata);
    Ok(())
}

fn restored(original: &Value, converted: Option<&Value>) -> Result<Map<String, Value>, String> {
    let converted = converted.ok_or("missing metadata in converted object")?;
    let mut metadata = original.as_object().cloned().unwrap_or_default();
    for field in ["labels", "annotations"] {
        let value = converted.get(field).filter(|value| !value.is_null());
        let Some(value) = value else {
            metadata.remove(field);
            continue;
        };
        let members = value.as_object().ok_or_else(|| {
            let kind = decoded_go_type(value);
            format!("invalid metadata.{field} of type {kind} in converted object")
        })?;
        if let Some((key, value)) = members.iter().find(|(_, value)| !value.is_string()) {
            let kind = decoded_go_type(value);
            return Err(format!(
                "metadata.{field}[{key}] must be a string, but is {kind} in converted object"
            ));
        }
        metadata.insert(field.to_owned(), value.clone());
    }
    Ok(metadata)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::accept;

    #[test]
    fn conversion_changes_only_labels_and_annotations_of_the_metadata() {
        let original = json!({
            "apiVersion": "ex.io/v1", "kind": "Site",
            "metadata": {"name": "s", "uid": "u", "finalizers": ["a.b/c"], "labels": {"a": "b"}},
        });
        let mut converted = json!({
            "apiVersion": "ex.io/v2", "kind": "Site",
            "metadata": {"name": "s", "uid": "u", "annotations": {"n": "new"}, "ownerReferences": []},
        });
        accept(&original, &mut converted, "ex.io/v2").unwrap();
        assert_eq!(
            converted["metadata"],
            json!({"name": "s", "uid": "u", "finalizers": ["a.b/c"], "annotations": {"n": "new"}})
        );
        converted["metadata"]["name"] = json!("other");
        assert_eq!(
            accept(&original, &mut converted, "ex.io/v2").unwrap_err(),
            "returned invalid object: must have the same name: s != other"
        );
    }
}
