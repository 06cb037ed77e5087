//! Columns of workloads.

use serde_json::{Value, json};

use crate::columns::{Cell, Column, Row};

const TEMPLATE: &str = "/spec/template/spec/containers";

pub(crate) const CONTAINERS: Column = Column::text("Containers", Cell::Names(TEMPLATE)).wide();

pub(crate) const IMAGES: Column = Column::text("Images", Cell::Images(TEMPLATE)).wide();

pub(crate) const SELECTOR: Column =
    Column::text("Selector", Cell::Selector("/spec/selector")).wide();

pub(crate) const READY_OF_DESIRED: Column = Column::text("Ready", Cell::Computed(ready_of_desired));

fn ready_of_desired(row: &Row<'_>) -> Value {
    let ready = row.number("/status/readyReplicas");
    json!(format!("{ready}/{}", row.number("/spec/replicas")))
}
