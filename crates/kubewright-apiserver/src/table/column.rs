use serde_json::{Value, json};

use super::cell::Cell;

/// A column of a table and what stands in its cells. Kubernetes' descriptions are left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    name: &'static str,
    kind: &'static str,
    format: &'static str,
    priority: u8,
    pub(super) cell: Cell,
}

/// The name of the object, which most tables begin with.
pub(super) const NAME: Column = Column {
    name: "Name",
    kind: "string",
    format: "name",
    priority: 0,
    cell: Cell::Text("/metadata/name"),
};

/// How long ago the object was made.
pub(super) const AGE: Column = Column::text("Age", Cell::Since("/metadata/creationTimestamp"));

impl Column {
    pub(super) const fn text(name: &'static str, cell: Cell) -> Self {
        Self {
            name,
            kind: "string",
            format: "",
            priority: 0,
            cell,
        }
    }

    pub(super) const fn integer(name: &'static str, cell: Cell) -> Self {
        Self {
            kind: "integer",
            ..Self::text(name, cell)
        }
    }

    pub(super) const fn boolean(name: &'static str, cell: Cell) -> Self {
        Self {
            kind: "boolean",
            ..Self::text(name, cell)
        }
    }

    pub(super) const fn date(name: &'static str, cell: Cell) -> Self {
        Self {
            kind: "date",
            ..Self::text(name, cell)
        }
    }

    /// Holds names, as `NAME` does.
    pub(super) const fn named(mut self) -> Self {
        self.format = "name";
        self
    }

    /// Shown only when more than the usual is asked for.
    pub(super) const fn wide(mut self) -> Self {
        self.priority = 1;
        self
    }

    pub(super) fn definition(&self) -> Value {
        definition(
            self.name,
            self.kind,
            self.format,
            ("", self.priority.into()),
        )
    }
}

/// A column as a table lists it.
pub(super) fn definition(
    name: &str,
    kind: &str,
    format: &str,
    (description, priority): (&str, i64),
) -> Value {
    json!({
        "name": name, "type": kind, "format": format,
        "description": description, "priority": priority,
    })
}
