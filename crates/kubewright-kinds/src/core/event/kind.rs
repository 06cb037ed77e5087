//! Event: what happened to an object.

use super::columns::COLUMNS;
use super::validation::validate_stored;
use crate::groups;
use crate::kind::{BuiltinKind, Permission, Propagation, SelectableField, Validation};

/// What happened to an object.
pub static EVENT: BuiltinKind = BuiltinKind {
    create_on_update: Permission::Allowed,
    propagation: Propagation::Unsupported,
    selectable_fields: &[
        SelectableField::new("involvedObject.kind"),
        SelectableField::new("involvedObject.namespace"),
        SelectableField::new("involvedObject.name"),
        SelectableField::new("involvedObject.uid"),
        SelectableField::new("involvedObject.apiVersion"),
        SelectableField::new("involvedObject.resourceVersion"),
        SelectableField::new("involvedObject.fieldPath"),
        SelectableField::new("reason"),
        SelectableField::new("reportingComponent"),
        SelectableField::new("source").at("source.component"),
        SelectableField::new("type"),
    ],
    declared_columns: COLUMNS,
    validation: Validation::Rules(|event, _, errors| {
        validate_stored(event, "reportingComponent", errors);
    }),
    ..BuiltinKind::new(groups::CORE, "Event", "events")
};
