//! The address and the node ports of a new Service.

use kubewright_kinds::allocate_address;
use kubewright_kinds::core::SERVICE;
use kubewright_kinds::json::text;
use kubewright_wire::status::Status;
use serde_json::Value;

use crate::request::api::Api;
use crate::request::target::Target;

/// Allocates the address and the node ports of a Service. Other kinds have none.
pub(super) fn allocate_service_address(
    api: &Api,
    target: &Target,
    value: &mut Value,
) -> Result<(), Status> {
    if !target.resource.is(&SERVICE) {
        return Ok(());
    }
    let services = api.store.list(SERVICE.resource_id(), None);
    let others: Vec<&Value> = services.iter().map(|other| other.value()).collect();
    let allocated = allocate_address(value, &others, api.random.next());
    let name = text(&value["metadata"]["name"]);
    allocated.map_err(|causes| Status::invalid(target.kind(), name, causes))
}
