//! Conversions by webhook while field ownership is computed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use kubewright_wire::apply::{ServedVersions, Versions};
use kubewright_wire::schema::SchemaType;
use kubewright_wire::status::Status;
use parking_lot::Mutex;
use serde_json::Value;

use crate::request::target::Target;
use crate::resources::Conversion;
use crate::webhook_client::WebhookClient;

/// The conversions by webhook that one write needs.
///
/// Field ownership is computed synchronously and cannot wait for a webhook. The first conversion
/// that is missing is recorded and then requested from the webhook, and ownership is computed
/// again. Only the first: what is computed after it is based on an object that was not converted,
/// and a webhook can reject such an object. `docs/design/why-is-a-merge-repeated.md` has the
/// reasons.
#[derive(Debug, Default)]
pub(super) struct KnownVersions {
    known: Mutex<BTreeMap<(String, String), Value>>,
    missing: Mutex<Option<(Value, String)>>,
}

impl KnownVersions {
    /// Requests the conversion that was missing. Returns whether there was one.
    pub(super) async fn learn(
        &self,
        webhooks: &WebhookClient,
        target: &Target,
    ) -> Result<bool, Status> {
        let missing = self.missing.lock().take();
        let (Some((object, version)), Some(custom)) = (missing, target.resource.custom()) else {
            return Ok(false);
        };
        let key = (object.to_string(), version.clone());
        let conversion = &custom.conversion;
        let converted = conversion
            .convert_one(webhooks, target.kind(), object, &version)
            .await?;
        self.known.lock().insert(key, converted);
        Ok(true)
    }

    fn convert(&self, object: &Value, version: &str) -> Option<Value> {
        let key = (object.to_string(), version.to_owned());
        let known = self.known.lock().get(&key).cloned();
        if known.is_none() {
            let mut missing = self.missing.lock();
            missing.get_or_insert_with(|| (object.clone(), key.1));
        }
        known
    }
}

/// The versions of a kind, with the known conversions of its objects.
#[derive(Debug)]
pub(super) struct TargetVersions<'a> {
    pub(super) served: ServedVersions<'a>,
    /// None where only `apiVersion` differs.
    pub(super) known: Option<&'a KnownVersions>,
}

impl<'a> TargetVersions<'a> {
    pub(super) fn new(
        target: &Target,
        served: ServedVersions<'a>,
        known: &'a KnownVersions,
    ) -> Self {
        let custom = target.resource.custom();
        let by_webhook =
            custom.is_some_and(|custom| matches!(custom.conversion, Conversion::Webhook(_)));
        Self {
            served,
            known: by_webhook.then_some(known),
        }
    }
}

impl Versions for TargetVersions<'_> {
    fn schema(&self, api_version: &str) -> Option<SchemaType<'_>> {
        self.served.schema(api_version)
    }

    fn convert<'v>(&self, object: &'v Value, api_version: &str) -> Option<Cow<'v, Value>> {
        let present = object.get("apiVersion").and_then(Value::as_str);
        match self.known.filter(|_| present != Some(api_version)) {
            None => self.served.convert(object, api_version),
            Some(known) => {
                self.schema(api_version)?;
                known.convert(object, api_version).map(Cow::Owned)
            }
        }
    }
}
