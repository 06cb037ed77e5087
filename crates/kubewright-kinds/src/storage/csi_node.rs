//! CSINode: the storage drivers of a node.

use crate::columns::{AGE, Cell, Column, NAME};
use crate::groups;
use crate::kind::{BuiltinKind, DeleteResponse, Permission};

/// The storage drivers of a node.
pub static CSI_NODE: BuiltinKind = BuiltinKind {
    unconditional_update: Permission::Denied,
    delete_response: DeleteResponse::Object,
    declared_columns: COLUMNS,
    ..BuiltinKind::new(groups::STORAGE, "CSINode", "csinodes")
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::integer("Drivers", Cell::Count("/spec/drivers")),
    AGE,
];
