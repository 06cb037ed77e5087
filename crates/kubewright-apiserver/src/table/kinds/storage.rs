use serde_json::{Value, json};

use crate::table::cell::{Cell, Row};
use crate::table::column::{AGE, Column, NAME};

const ATTRIBUTES: Column = Column::text(
    "VolumeAttributesClass",
    Cell::TextOr("/spec/volumeAttributesClassName", "<unset>"),
);
const MODE: Column = Column::text("VolumeMode", Cell::TextOr("/spec/volumeMode", "<unset>")).wide();
const STATUS: Column = Column::text("Status", Cell::Made(phase));

pub(super) const VOLUME: &[Column] = &[
    NAME,
    Column::text("Capacity", Cell::TextOr("/spec/capacity/storage", "0")),
    Column::text(
        "Access Modes",
        Cell::Made(|row| json!(access_modes(row, "/spec/accessModes"))),
    ),
    Column::text(
        "Reclaim Policy",
        Cell::Text("/spec/persistentVolumeReclaimPolicy"),
    ),
    STATUS,
    Column::text("Claim", Cell::Made(claim)),
    Column::text("StorageClass", Cell::Made(class)),
    ATTRIBUTES,
    Column::text("Reason", Cell::Text("/status/reason")),
    AGE,
    MODE,
];

pub(super) const CLAIM: &[Column] = &[
    NAME,
    STATUS,
    Column::text("Volume", Cell::Text("/spec/volumeName")),
    Column::text("Capacity", Cell::Made(claimed_capacity)),
    Column::text("Access Modes", Cell::Made(claimed_modes)),
    Column::text("StorageClass", Cell::Made(class)),
    ATTRIBUTES,
    AGE,
    MODE,
];

pub(super) const STORAGE_CLASS: &[Column] = &[
    Column::text("Name", Cell::Made(class_name)).named(),
    Column::text("Provisioner", Cell::Text("/provisioner")),
    Column::text("ReclaimPolicy", Cell::TextOr("/reclaimPolicy", "Delete")),
    Column::text(
        "VolumeBindingMode",
        Cell::TextOr("/volumeBindingMode", "Immediate"),
    ),
    Column::text(
        "AllowVolumeExpansion",
        Cell::Flag("/allowVolumeExpansion", false),
    ),
    AGE,
];

pub(super) const ATTACHMENT: &[Column] = &[
    NAME,
    Column::text("Attacher", Cell::Text("/spec/attacher")).named(),
    Column::text("PV", Cell::Text("/spec/source/persistentVolumeName")),
    Column::text("Node", Cell::Text("/spec/nodeName")),
    Column::boolean("Attached", Cell::Flag("/status/attached", false)),
    AGE,
];

pub(super) const ATTRIBUTES_CLASS: &[Column] = &[
    NAME,
    Column::text("DriverName", Cell::Text("/driverName")),
    AGE,
];

pub(super) const CSI_DRIVER: &[Column] = &[
    NAME,
    Column::boolean("AttachRequired", Cell::Flag("/spec/attachRequired", true)),
    Column::boolean("PodInfoOnMount", Cell::Flag("/spec/podInfoOnMount", false)),
    Column::boolean(
        "StorageCapacity",
        Cell::Flag("/spec/storageCapacity", false),
    ),
    Column::text("TokenRequests", Cell::Made(audiences)),
    Column::boolean(
        "RequiresRepublish",
        Cell::Flag("/spec/requiresRepublish", false),
    ),
    Column::text("Modes", Cell::Made(lifecycle_modes)),
    AGE,
];

pub(super) const CSI_NODE: &[Column] = &[
    NAME,
    Column::integer("Drivers", Cell::Count("/spec/drivers")),
    AGE,
];

pub(super) const CSI_CAPACITY: &[Column] = &[
    NAME,
    Column::text("StorageClassName", Cell::Text("/storageClassName")),
    Column::text("Capacity", Cell::TextOr("/capacity", "<unset>")),
];

fn phase(row: &Row<'_>) -> Value {
    match row.is_terminating() {
        true => json!("Terminating"),
        false => json!(row.text("/status/phase")),
    }
}

/// The modes in short, in the order that Kubernetes lists them.
fn access_modes(row: &Row<'_>, path: &str) -> String {
    let modes = row.texts(path);
    let short = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let shown: Vec<&str> = short
        .into_iter()
        .filter(|(mode, _)| modes.contains(mode))
        .map(|(_, short)| short)
        .collect();
    shown.join(",")
}

fn claim(row: &Row<'_>) -> Value {
    match row.at("/spec/claimRef") {
        None => json!(""),
        Some(_) => json!(format!(
            "{}/{}",
            row.text("/spec/claimRef/namespace"),
            row.text("/spec/claimRef/name")
        )),
    }
}

/// The class, also where it stands in the annotation of old.
fn class(row: &Row<'_>) -> Value {
    let annotations = row.map("/metadata/annotations");
    let old = annotations.and_then(|all| all.get("volume.beta.kubernetes.io/storage-class"));
    let old = old.and_then(Value::as_str);
    json!(old.unwrap_or_else(|| row.text("/spec/storageClassName")))
}

fn claimed_capacity(row: &Row<'_>) -> Value {
    match row.text("/spec/volumeName") {
        "" => json!(""),
        _ => json!(row.text_or("/status/capacity/storage", "0")),
    }
}

fn claimed_modes(row: &Row<'_>) -> Value {
    match row.text("/spec/volumeName") {
        "" => json!(""),
        _ => json!(access_modes(row, "/status/accessModes")),
    }
}

fn class_name(row: &Row<'_>) -> Value {
    let annotations = row.map("/metadata/annotations");
    let is_default = annotations.is_some_and(|all| {
        [
            "storageclass.kubernetes.io/",
            "storageclass.beta.kubernetes.io/",
        ]
        .iter()
        .any(|group| all.get(&format!("{group}is-default-class")) == Some(&json!("true")))
    });
    let name = row.text("/metadata/name");
    json!(match is_default {
        true => format!("{name} (default)"),
        false => name.to_owned(),
    })
}

fn audiences(row: &Row<'_>) -> Value {
    match row.at("/spec/tokenRequests") {
        None => json!("<unset>"),
        Some(_) => json!(row.each("/spec/tokenRequests", "audience").join(",")),
    }
}

fn lifecycle_modes(row: &Row<'_>) -> Value {
    let modes = row.texts("/spec/volumeLifecycleModes").join(",");
    json!(crate::table::cell::or_none(modes))
}
