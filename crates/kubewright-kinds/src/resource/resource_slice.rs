//! ResourceSlice: the devices of a node or pool.

use serde_json::Value;

use crate::columns::{AGE, Cell, Column, NAME};
use crate::field_path::FieldPath;
use crate::groups;
use crate::kind::{BuiltinKind, DeleteResponse, Generation, SelectableField};
use crate::warning_list::Warnings;

/// The devices of a node or pool.
pub static RESOURCE_SLICE: BuiltinKind = BuiltinKind {
    generation: Generation::Content,
    delete_response: DeleteResponse::Object,
    selectable_fields: &[
        SelectableField::new("spec.nodeName"),
        SelectableField::new("spec.driver"),
    ],
    declared_columns: COLUMNS,
    warnings: warn,
    ..BuiltinKind::new(groups::RESOURCE, "ResourceSlice", "resourceslices")
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("Node", Cell::Text("/spec/nodeName")),
    Column::text("Driver", Cell::Text("/spec/driver")),
    Column::text("Pool", Cell::Text("/spec/pool/name")),
    AGE,
];

fn warn(object: &Value, _old: Option<&Value>, warnings: &mut Warnings) {
    let spec = FieldPath::new(object, "spec");
    let driver = spec.field("driver");
    let name = driver.text();
    if name != name.to_lowercase() {
        let detail =
            format!("driver names should be lowercase; {name:?} contains uppercase characters");
        warnings.add_at(driver, &detail);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::RESOURCE_SLICE;

    #[test]
    fn uppercase_driver_name_is_warned_about() {
        let slice = json!({"spec": {"driver": "Gpu.example.com"}});
        assert_eq!(
            RESOURCE_SLICE.warnings(&slice, None),
            [
                "spec.driver: driver names should be lowercase; \"Gpu.example.com\" contains \
                 uppercase characters"
            ]
        );
    }
}
