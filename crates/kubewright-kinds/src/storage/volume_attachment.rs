//! VolumeAttachment: a volume that is attached to a node.

use crate::columns::{AGE, Cell, Column, NAME};
use crate::groups;
use crate::kind::{BuiltinKind, ControllerSupport, DeleteResponse, Permission, StatusStrategy};

/// A volume that is attached to a node.
pub static VOLUME_ATTACHMENT: BuiltinKind = BuiltinKind {
    unconditional_update: Permission::Denied,
    delete_response: DeleteResponse::Object,
    declared_columns: COLUMNS,
    controller: ControllerSupport::Missing,
    status: StatusStrategy::RESETS_METADATA,
    ..BuiltinKind::new(groups::STORAGE, "VolumeAttachment", "volumeattachments")
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("Attacher", Cell::Text("/spec/attacher")).named(),
    Column::text("PV", Cell::Text("/spec/source/persistentVolumeName")),
    Column::text("Node", Cell::Text("/spec/nodeName")),
    Column::boolean("Attached", Cell::Flag("/status/attached", false)),
    AGE,
];
