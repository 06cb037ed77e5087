use serde_json::{Value, json};

use crate::table::cell::{Cell, Row};
use crate::table::column::{AGE, Column, NAME};

pub(super) const NAMESPACE: &[Column] = &[
    NAME,
    Column::text("Status", Cell::Text("/status/phase")),
    AGE,
];

pub(super) const CONFIG_MAP: &[Column] = &[
    NAME,
    Column::text(
        "Data",
        Cell::Made(|row| json!(row.count("/data") + row.count("/binaryData"))),
    ),
    AGE,
];

pub(super) const SECRET: &[Column] = &[
    NAME,
    Column::text("Type", Cell::Text("/type")),
    Column::text("Data", Cell::Count("/data")),
    AGE,
];

pub(super) const LEASE: &[Column] = &[
    NAME,
    Column::text("Holder", Cell::Text("/spec/holderIdentity")),
    AGE,
];

pub(super) const RESOURCE_QUOTA: &[Column] = &[
    NAME,
    Column::text("Request", Cell::Made(|row| quota(row, Side::Requests))),
    Column::text("Limit", Cell::Made(|row| quota(row, Side::Limits))),
    AGE,
];

pub(super) const EVENT: &[Column] = &[
    Column::text("Last Seen", Cell::Made(last_seen)),
    Column::text("Type", Cell::Text("/type")),
    Column::text("Reason", Cell::Text("/reason")),
    Column::text("Object", Cell::Made(involved)),
    Column::text("Subobject", Cell::Text("/involvedObject/fieldPath")).wide(),
    Column::text("Source", Cell::Made(source)).wide(),
    Column::text(
        "Message",
        Cell::Made(|row| json!(row.text("/message").trim())),
    ),
    Column::text("First Seen", Cell::Made(|row| json!(first_seen(row)))).wide(),
    Column::text("Count", Cell::Made(count)).wide(),
    Column::text("Name", Cell::Text("/metadata/name"))
        .named()
        .wide(),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Requests,
    Limits,
}

fn quota(row: &Row<'_>, side: Side) -> Value {
    let hard = row.map("/status/hard").into_iter().flatten();
    let parts = hard.filter_map(|(name, hard)| {
        let found = match name.starts_with("limits.") {
            true => Side::Limits,
            false => Side::Requests,
        };
        let used = row.map("/status/used").and_then(|used| used.get(name));
        let used = used.and_then(Value::as_str).unwrap_or("0");
        let hard = hard.as_str().unwrap_or_default();
        (found == side).then(|| format!("{name}: {used}/{hard}"))
    });
    json!(parts.collect::<Vec<_>>().join(", "))
}

fn first_seen(row: &Row<'_>) -> String {
    match row.at("/firstTimestamp") {
        Some(_) => row.since("/firstTimestamp"),
        None => row.since("/eventTime"),
    }
}

fn last_seen(row: &Row<'_>) -> Value {
    json!(if row.at("/series").is_some() {
        row.since("/series/lastObservedTime")
    } else if row.at("/lastTimestamp").is_some() {
        row.since("/lastTimestamp")
    } else {
        first_seen(row)
    })
}

fn count(row: &Row<'_>) -> Value {
    json!(match row.at("/series") {
        Some(_) => row.number("/series/count"),
        // An event of the newer API that happened once has no count.
        None => row.number("/count").max(1),
    })
}

fn involved(row: &Row<'_>) -> Value {
    let kind = row.text("/involvedObject/kind").to_lowercase();
    json!(match row.text("/involvedObject/name") {
        "" => kind,
        name => format!("{kind}/{name}"),
    })
}

fn source(row: &Row<'_>) -> Value {
    let component = row.text_or("/source/component", row.text("/reportingComponent"));
    let instance = row.text_or("/source/host", row.text("/reportingInstance"));
    json!(match instance {
        "" => component.to_owned(),
        instance => format!("{component}, {instance}"),
    })
}
