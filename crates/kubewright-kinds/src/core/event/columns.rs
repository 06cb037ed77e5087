//! The table of Events, in their stored form.

use serde_json::{Value, json};

use crate::columns::{Cell, Column, Row};

pub(crate) const COLUMNS: &[Column] = &[
    Column::text("Last Seen", Cell::Computed(last_seen)),
    Column::text("Type", Cell::Text("/type")),
    Column::text("Reason", Cell::Text("/reason")),
    Column::text("Object", Cell::Computed(involved)),
    Column::text("Subobject", Cell::Text("/involvedObject/fieldPath")).wide(),
    Column::text("Source", Cell::Computed(source)).wide(),
    Column::text(
        "Message",
        Cell::Computed(|row| json!(row.text("/message").trim())),
    ),
    Column::text("First Seen", Cell::Computed(|row| json!(first_seen(row)))).wide(),
    Column::text("Count", Cell::Computed(count)).wide(),
    Column::text("Name", Cell::Text("/metadata/name"))
        .named()
        .wide(),
];

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
        // An Event of events.k8s.io that happened once has no count.
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
