//! The declaration of a column.

use serde_json::{Value, json};

use super::cell::{Cell, Row};

/// A column of a table, and the value of its cells. The descriptions of Kubernetes are omitted.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    name: &'static str,
    kind: &'static str,
    format: &'static str,
    priority: u8,
    pub(crate) cell: Cell,
}

/// The name of the object; the first column of most tables.
pub const NAME: Column = Column {
    name: "Name",
    kind: "string",
    format: "name",
    priority: 0,
    cell: Cell::Text("/metadata/name"),
};

/// The time since the object was created.
pub(crate) const AGE: Column = Column::text("Age", Cell::Since("/metadata/creationTimestamp"));

/// The columns of kinds that declare none.
pub(crate) const DEFAULT_COLUMNS: &[Column] = &[
    NAME,
    Column::date("Created At", Cell::Text("/metadata/creationTimestamp")),
];

/// The columns that several kinds have.
pub(crate) const NAME_AND_AGE: &[Column] = &[NAME, AGE];

impl Column {
    pub(crate) const fn text(name: &'static str, cell: Cell) -> Self {
        Self {
            name,
            kind: "string",
            format: "",
            priority: 0,
            cell,
        }
    }

    pub(crate) const fn integer(name: &'static str, cell: Cell) -> Self {
        Self {
            kind: "integer",
            ..Self::text(name, cell)
        }
    }

    pub(crate) const fn boolean(name: &'static str, cell: Cell) -> Self {
        Self {
            kind: "boolean",
            ..Self::text(name, cell)
        }
    }

    pub(crate) const fn date(name: &'static str, cell: Cell) -> Self {
        Self {
            kind: "date",
            ..Self::text(name, cell)
        }
    }

    /// Holds names, as `NAME` does.
    pub(crate) const fn named(mut self) -> Self {
        self.format = "name";
        self
    }

    /// Shown only with `kubectl get --output=wide`.
    pub(crate) const fn wide(mut self) -> Self {
        self.priority = 1;
        self
    }

    /// The cell of an object.
    pub fn cell(&self, row: &Row<'_>) -> Value {
        self.cell.value(row)
    }

    /// The column as a table lists it.
    pub fn definition(&self) -> Value {
        definition(&ColumnDefinition {
            name: self.name,
            kind: self.kind,
            format: self.format,
            description: "",
            priority: self.priority.into(),
        })
    }
}

/// The fields of a `TableColumnDefinition`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColumnDefinition<'a> {
    pub(super) name: &'a str,
    pub(super) kind: &'a str,
    pub(super) format: &'a str,
    pub(super) description: &'a str,
    pub(super) priority: i64,
}

/// A column as a table lists it.
pub(super) fn definition(column: &ColumnDefinition<'_>) -> Value {
    json!({
        "name": column.name, "type": column.kind, "format": column.format,
        "description": column.description, "priority": column.priority,
    })
}
