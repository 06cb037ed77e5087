//! Definitions of kinds, and the objects of such a kind.

use kube::Api;
use kube::api::{ApiResource, DynamicObject, ListParams};
use serde_json::Value;

use crate::error::Error;
use crate::objects::text;

/// Whether the object defines a kind.
pub(super) fn is_definition(object: &Value) -> bool {
    object["kind"] == "CustomResourceDefinition"
}

/// Returns the version of a definition with this name.
pub(super) fn version_of<'a>(definition: &'a Value, name: &str) -> Option<&'a Value> {
    let versions = definition["spec"]["versions"].as_array()?;
    versions.iter().find(|version| version["name"] == name)
}

/// Returns the resource of a definition in a version.
pub(super) fn resource_in(definition: &Value, version: &str) -> ApiResource {
    let spec = &definition["spec"];
    let group = text(&spec["group"]);
    ApiResource {
        api_version: format!("{group}/{version}"),
        group: group.to_owned(),
        version: version.to_owned(),
        kind: text(&spec["names"]["kind"]).to_owned(),
        plural: text(&spec["names"]["plural"]).to_owned(),
    }
}

/// Returns the number of objects of the defined kind. Beyond the first page it is an estimate of the
/// server.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn count_instances(
    client: &kube::Client,
    definition: &Value,
) -> Result<i64, Error> {
    let resource = resource_in(definition, first_served_version(definition));
    let instances: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    match instances.list(&ListParams::default().limit(100)).await {
        Ok(list) => {
            let first = i64::try_from(list.items.len()).unwrap_or(i64::MAX);
            Ok(first + list.metadata.remaining_item_count.unwrap_or_default())
        }
        // The kind is defined and not served, so it cannot have objects.
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(0),
        Err(source) => Err(Error::Request {
            action: format!("list the objects of {}", definition["metadata"]["name"]),
            source: Box::new(source),
        }),
    }
}

fn first_served_version(definition: &Value) -> &str {
    let versions = definition["spec"]["versions"].as_array();
    let is_served = |version: &&Value| version["served"] == true;
    let served = versions.and_then(|versions| versions.iter().find(is_served));
    served.map_or("", |version| text(&version["name"]))
}
