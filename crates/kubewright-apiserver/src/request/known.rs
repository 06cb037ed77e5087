use std::borrow::Cow;
use std::collections::BTreeMap;

use kubewright_wire::apply::{ServedVersions, Versions};
use kubewright_wire::schema::SchemaType;
use kubewright_wire::status::Status;
use parking_lot::Mutex;
use serde_json::Value;

use super::target::Target;
use crate::crd::Conversion;
use crate::server::Server;

/// Objects in versions that only a webhook can write them in, for one write.
///
/// Ownership is computed at once and cannot wait for a webhook. The first conversion that it needs
/// and that is not known yet is noted and looked up, and then ownership is computed again. Only the
/// first: what was computed after it may be based on an object that never exists, and a webhook may
/// reject such an object.
#[derive(Debug, Default)]
pub(super) struct KnownVersions {
    known: Mutex<BTreeMap<(String, String), Value>>,
    missing: Mutex<Option<(Value, String)>>,
}

impl KnownVersions {
    /// Looks up the conversion that was missing; returns whether there was one.
    pub(super) async fn learn(&self, server: &Server, target: &Target) -> Result<bool, Status> {
        let missing = self.missing.lock().take();
        let (Some((object, version)), Some(custom)) = (missing, target.served.custom()) else {
            return Ok(false);
        };
        let key = (object.to_string(), version.clone());
        let conversion = &custom.conversion;
        let converted = conversion.convert(server, target.kind(), vec![object], &version);
        let converted = converted.await?.pop().unwrap_or_default();
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

/// The versions of a kind, and what is known of its objects in them.
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
        let custom = target.served.custom();
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
