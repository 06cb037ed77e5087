//! ServiceCIDR: a range of addresses for Services.

use crate::columns::{AGE, Cell, Column, NAME};
use crate::groups;
use crate::kind::{BuiltinKind, StatusStrategy};

/// A range of addresses for Services.
pub static SERVICE_CIDR: BuiltinKind = BuiltinKind {
    declared_columns: COLUMNS,
    status: StatusStrategy::RESETS_METADATA,
    ..BuiltinKind::new(groups::NETWORKING, "ServiceCIDR", "servicecidrs")
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("CIDRs", Cell::Joined("/spec/cidrs")),
    AGE,
];
