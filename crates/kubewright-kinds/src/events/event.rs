//! Event: what happened to an object, in the newer form.

use super::conversion::{from_stored, to_stored};
use super::validation::validate;
use crate::core::COLUMNS;
use crate::kind::{BuiltinKind, Permission, Propagation, SelectableField, StoredAs, Validation};
use crate::{core, groups};

/// What happened to an object, in the newer form.
pub static EVENT: BuiltinKind = BuiltinKind {
    create_on_update: Permission::Allowed,
    stored_as: Some(StoredAs {
        kind: &core::EVENT,
        version: "v1",
        encode: to_stored,
        decode: from_stored,
    }),
    propagation: Propagation::Unsupported,
    selectable_fields: &[
        SelectableField::new("regarding.kind"),
        SelectableField::new("regarding.namespace"),
        SelectableField::new("regarding.name"),
        SelectableField::new("regarding.uid"),
        SelectableField::new("regarding.apiVersion"),
        SelectableField::new("regarding.resourceVersion"),
        SelectableField::new("regarding.fieldPath"),
        SelectableField::new("reason"),
        SelectableField::new("reportingController"),
        SelectableField::new("type"),
    ],
    declared_columns: COLUMNS,
    validation: Validation::Rules(validate),
    ..BuiltinKind::new(groups::EVENTS, "Event", "events")
};
