//! DeviceClass: a category of devices.

use crate::columns::NAME_AND_AGE;
use crate::groups;
use crate::kind::{BuiltinKind, DeleteResponse, Generation};

/// A category of devices.
pub static DEVICE_CLASS: BuiltinKind = BuiltinKind {
    generation: Generation::Content,
    delete_response: DeleteResponse::Object,
    declared_columns: NAME_AND_AGE,
    ..BuiltinKind::new(groups::RESOURCE, "DeviceClass", "deviceclasses")
};
