//! `metadata.managedFields`: the entries of an object, read and written.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::fields::FieldSet;
use crate::schema::whole_seconds;

/// The `metadata.managedFields` of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Managed {
    pub(super) entries: BTreeMap<ManagerId, Entry>,
}

/// The key of an entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ManagerId {
    pub(super) manager: String,
    pub(super) operation: Operation,
    /// Empty for applies: a manager that applies another version has the same entry.
    pub(super) api_version: String,
    pub(super) subresource: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    Apply,
    Update,
}

/// The fields that one manager owns.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) fields: FieldSet,
    pub(super) api_version: String,
    pub(super) time: Option<Timestamp>,
}

impl ManagerId {
    pub(super) fn new(
        manager: &str,
        operation: Operation,
        api_version: &str,
        subresource: &str,
    ) -> Self {
        Self {
            manager: manager.to_owned(),
            operation,
            api_version: match operation {
                Operation::Apply => String::new(),
                Operation::Update => api_version.to_owned(),
            },
            subresource: subresource.to_owned(),
        }
    }
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

impl Managed {
    /// Reads the entries of an object.
    pub(super) fn read(object: &Value) -> Result<Self, String> {
        let values = field(object).and_then(Value::as_array);
        let mut managed = Self::default();
        for (index, value) in values.into_iter().flatten().enumerate() {
            let (id, entry) = read_entry(value, index)?;
            managed.entries.insert(id, entry);
        }
        Ok(managed)
    }

    /// Whether the request removes all entries: with an empty list, or with one empty entry.
    pub(super) fn is_reset(object: &Value) -> bool {
        match field(object).and_then(Value::as_array).map(Vec::as_slice) {
            Some([]) => true,
            Some([only]) => only.as_object().is_some_and(Map::is_empty),
            _ => false,
        }
    }

    /// Writes the entries into the object, sorted as Kubernetes does. Without entries, there is no
    /// field.
    pub(super) fn write(&self, object: &mut Value) {
        remove_field(object);
        if self.entries.is_empty() {
            return;
        }
        let mut sorted: Vec<(&ManagerId, &Entry)> = self.entries.iter().collect();
        sorted.sort_by(|(a, x), (b, y)| {
            let seconds = |entry: &Entry| entry.time.map_or(0, |time| time.as_second());
            (a.operation.cmp(&b.operation))
                .then_with(|| seconds(x).cmp(&seconds(y)))
                .then_with(|| a.manager.cmp(&b.manager))
                .then_with(|| x.api_version.cmp(&y.api_version))
                .then_with(|| a.subresource.cmp(&b.subresource))
        });
        let entries: Vec<Value> = sorted
            .into_iter()
            .map(|(id, entry)| print(id, entry))
            .collect();
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("managedFields".to_owned(), Value::Array(entries));
        }
    }
}

/// Whether two objects differ at most in the times of their `managedFields`; such an update does not
/// store a new revision.
pub fn equal_ignoring_times(a: &Value, b: &Value) -> bool {
    timeless(a) == timeless(b)
}

pub(super) fn field(object: &Value) -> Option<&Value> {
    object.get("metadata")?.get("managedFields")
}

pub(super) fn remove_field(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

fn timeless(object: &Value) -> Value {
    let mut copy = object.clone();
    let entries = copy
        .get_mut("metadata")
        .and_then(|metadata| metadata.get_mut("managedFields"))
        .and_then(Value::as_array_mut);
    if let Some(entries) = entries {
        for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
            entry.remove("time");
        }
        // The order of entries depends on their times.
        entries.sort_by_cached_key(Value::to_string);
    }
    copy
}

fn read_entry(value: &Value, index: usize) -> Result<(ManagerId, Entry), String> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    let operation = match text("operation") {
        "Apply" => Operation::Apply,
        "Update" => Operation::Update,
        _ => return Err("operation must be `Apply` or `Update`".to_owned()),
    };
    let api_version = text("apiVersion");
    if api_version.is_empty() {
        return Err("apiVersion must not be empty".to_owned());
    }
    match text("fieldsType") {
        "FieldsV1" => {}
        "" => {
            return Err(format!(
                "missing fieldsType in managed fields entry {index}"
            ));
        }
        other => {
            return Err(format!(
                "invalid fieldsType {other:?} in managed fields entry {index}"
            ));
        }
    }
    let fields = match value.get("fieldsV1") {
        None | Some(Value::Null) => FieldSet::new(),
        Some(fields) => FieldSet::from_value(fields).map_err(|error| error.to_string())?,
    };
    let time = match text("time") {
        "" => None,
        time => Some(
            time.parse()
                .map_err(|_| format!("{time:?} is not a valid time"))?,
        ),
    };
    let entry = Entry {
        fields,
        api_version: api_version.to_owned(),
        time,
    };
    let id = ManagerId::new(text("manager"), operation, api_version, text("subresource"));
    Ok((id, entry))
}

fn print(id: &ManagerId, entry: &Entry) -> Value {
    let mut value = json!({
        "operation": id.operation.name(),
        "apiVersion": entry.api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": entry.fields.to_value(),
    });
    let optional = [
        ("manager", id.manager.clone()),
        ("subresource", id.subresource.clone()),
        ("time", entry.time.map(whole_seconds).unwrap_or_default()),
    ];
    if let Some(fields) = value.as_object_mut() {
        for (name, text) in optional.into_iter().filter(|(_, text)| !text.is_empty()) {
            fields.insert(name.to_owned(), Value::String(text));
        }
    }
    value
}
