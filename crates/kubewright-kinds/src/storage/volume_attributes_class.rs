//! VolumeAttributesClass: attributes of volumes that can change.

use crate::columns::{AGE, Cell, Column, NAME};
use crate::groups;
use crate::kind::{BuiltinKind, DeleteResponse};

/// Attributes of volumes that can change.
pub static VOLUME_ATTRIBUTES_CLASS: BuiltinKind = BuiltinKind {
    delete_response: DeleteResponse::Object,
    declared_columns: COLUMNS,
    ..BuiltinKind::new(
        groups::STORAGE,
        "VolumeAttributesClass",
        "volumeattributesclasses",
    )
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("DriverName", Cell::Text("/driverName")),
    AGE,
];
